// SPDX-License-Identifier: Apache-2.0
//
// The simulated operating system, as the simulated machine sees it.
//
// Simulated programs meet it by the C library's names: this folder defines pthread_create,
// pthread_mutex_lock, syscall, clock_gettime, open and so on anew. Defined in the executable, they
// come before glibc's for instrumented objects, for the prebuilt archives of libc++ and for shared
// libraries alike. In a simulated thread they act on the simulated machine; in host mode they call
// glibc's own definitions.
//
// The layer needs no lock: all simulated threads share one thread of the host, and its lists change
// only where scheduler.hpp says that nothing else runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lab/model.hpp"
#include "lab/runtime/scheduler.hpp"

namespace unlatch::lab::os {

/// Before the first simulated thread is made. `machine` must outlive the run.
void begin_run(const model& machine, std::uint64_t seed) noexcept;

/// In the first thread, when its body has returned: runs the destructors of its thread-local
/// variables. After that the run may end, whether or not other threads still wait for something.
void main_ends() noexcept;

/// In host mode, when no simulated thread will run any more. Threads that were still blocked have
/// vanished, as when a process exits; what was retired through liburcu is freed.
void end_run() noexcept;

/// Writes what a blocked thread waits for ("the mutex at 0x…, held by thread 3"), in at most `size`
/// characters with the terminator. Returns the length.
std::size_t describe(const thread* which, char* text, std::size_t size) noexcept;

/// Where in the program an access was made: `code`, unless that lies in this folder's functions;
/// then where the running thread called the outermost of them (the line with pthread_mutex_lock()).
std::uintptr_t program_code(std::uintptr_t code) noexcept;

}  // namespace unlatch::lab::os
