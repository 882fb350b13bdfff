// SPDX-License-Identifier: Apache-2.0
//
// Waiting for a word of memory: the kernel's futex, on which everything here that blocks rests.
//
// Waiters of a word are woken first come, first served. None wakes without a reason.
#pragma once

#include <cstdint>

#include "lab/runtime/os/thread_record.hpp"
#include "lab/runtime/scheduler.hpp"

namespace unlatch::lab::os::futex {

inline constexpr cycles never = ~cycles{0};
inline constexpr std::uint32_t any_bits = ~std::uint32_t{0};
inline constexpr unsigned everybody = ~0u;

/// The system call: sleeps if the word still holds `expected`. 0 when woken, EAGAIN if it holds
/// something else, ETIMEDOUT when the deadline has passed. Aborts a running transaction.
int wait(std::uint32_t* word, std::uint32_t expected, cycles deadline = never,
         std::uint32_t bits = any_bits) noexcept;

/// Sleeps until a wake of `key`, at once. 0 or ETIMEDOUT. REQUIRES: enter_kernel() has returned,
/// and nothing that may switch happened since the test that made the caller sleep.
int sleep_on(const void* key, cycles deadline = never, std::uint32_t bits = any_bits) noexcept;

/// sleep_on() in two steps, for a caller that has something to do as a waiter before it sleeps: a
/// wake in between lets it go on at once. leave() instead of sleep(): it waits no longer. Between
/// the two it must not wait for anything else.
void arrive(const void* key, std::uint32_t bits = any_bits) noexcept;
int sleep(cycles deadline = never) noexcept;
void leave() noexcept;

/// The system call: wakes at most `count` waiters of the word; returns how many. Aborts a running
/// transaction.
unsigned wake(const void* key, unsigned count, std::uint32_t bits = any_bits) noexcept;

/// The same for a caller that is in the kernel already.
unsigned wake_from_kernel(const void* key, unsigned count, std::uint32_t bits = any_bits) noexcept;

/// Wakes `count` waiters of `from` and lets at most `move` others wait for `to` instead. Returns
/// how many it woke or moved. REQUIRES: enter_kernel() has returned.
unsigned requeue(const void* from, unsigned count, const void* to, unsigned move) noexcept;

/// Whether somebody waits for the key. Takes no time.
bool anybody_waits(const void* key) noexcept;

/// Nobody waits any more (a run has ended).
void forget_waiters() noexcept;

}  // namespace unlatch::lab::os::futex
