// SPDX-License-Identifier: Apache-2.0
//
// Simulated threads and the simulated CPUs that run them, as the layer of the operating system sees
// them: creating, blocking, waking, yielding and the clock.
//
// A simulated thread is a stack at a fixed address in the one thread of the host, with thread-local
// storage of its own. It runs on one simulated CPU at a time; a CPU has a clock and a queue of
// threads that are ready. Among the CPUs that have a thread, the one with the smallest clock runs;
// ties go to the lower number.
//
// Invariants:
//   1. Outside lab::run() ("host mode") self() is null and no other function may be called, except
//      now(), which is 0, and charge() and enter_kernel(), which do nothing.
//   2. Any function here except self(), now() and charge() may switch to another simulated thread,
//      so its caller holds nothing of the host's that another simulated thread could wait for.
//   3. A running transaction never survives enter_kernel(), block(), block_until(), yield() or
//      exit(): these abort it, and then do not return to their caller but to where it began. State
//      of the host (lists of waiters, files) is thus changed only after enter_kernel() has
//      returned.
//   4. Between the return of enter_kernel() and the next call of a function that may switch, the
//      caller runs alone: a test of a futex's word and block() need no lock around them.
#pragma once

#include <cstdint>

namespace unlatch::lab {

using cycles = std::uint64_t;

/// A simulated thread; what is in it is the runtime's own affair.
struct thread;

namespace scheduler {

/// The simulated thread that runs, or null in host mode.
thread* self() noexcept;

/// A small number, unique within a run: the first thread is 0.
unsigned id(const thread* which) noexcept;

/// A pointer that belongs to the layer of the operating system; null in a new thread. It may be
/// changed at any time, also for threads that do not run.
void*& os_data(thread* which) noexcept;

/// Makes a thread that will call `entry(argument)` and then exit(); it is ready at once, but the
/// caller goes on. `delay` is how long starting it takes before it can run. Its thread-local
/// variables have their initial values. Null if no more threads fit.
thread* create(void* (*entry)(void*), void* argument, cycles delay = 0) noexcept;

/// What `entry` returned or exit() was given. Valid after the thread has exited, until release().
void* result(const thread* which) noexcept;
bool has_exited(const thread* which) noexcept;

/// Gives the thread's stack and thread-local storage back. REQUIRES: it has exited.
void release(thread* which) noexcept;

/// Runs something else until wake() is called for this thread. A wake() that came since the thread
/// last returned from block() is remembered: then block() returns at once.
void block() noexcept;

/// As block(), but no longer than until `deadline` (on now()'s clock). Whether it was woken.
bool block_until(cycles deadline) noexcept;

/// Makes `which` ready in `delay` cycles of the caller's clock (at once if it is not blocked: it
/// will not block next time). It keeps its CPU where that is free, else takes an idle one.
void wake(thread* which, cycles delay) noexcept;

/// Lets the other ready threads of this CPU run first.
void yield() noexcept;

/// Ends this thread.
[[noreturn]] void exit(void* value = nullptr) noexcept;

/// Virtual time of the CPU that runs, in cycles since the run began. Never goes back for a thread.
cycles now() noexcept;

/// Virtual cycles to nanoseconds and back, at the model's frequency.
std::uint64_t nanoseconds(cycles time) noexcept;
cycles from_nanoseconds(std::uint64_t time) noexcept;

/// Lets the CPU's clock advance.
void charge(cycles time) noexcept;

/// Enters the kernel: aborts a running transaction with status 0, charges a system call, and lets
/// the CPUs that are behind catch up, so that what follows happens at this moment.
void enter_kernel() noexcept;

/// The simulated CPU on which this thread runs, and how many there are.
unsigned cpu() noexcept;
unsigned cpus() noexcept;

/// Restricts a thread to the CPUs whose bits are set (bit n of word n / 64); two words. It moves at
/// the next call that may switch, if it has to.
void set_affinity(thread* which, const std::uint64_t (&mask)[2]) noexcept;
void affinity(const thread* which, std::uint64_t (&mask)[2]) noexcept;

/// Interrupts every other CPU that has a thread: aborts its transaction, charges an interrupt.
void interrupt_all() noexcept;

}  // namespace scheduler
}  // namespace unlatch::lab
