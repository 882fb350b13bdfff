// SPDX-License-Identifier: Apache-2.0
//
// What the operating system knows of a simulated thread: its name for programs (pthread_t), how it
// ends, and what it waits for.
//
// Records lie in the host's memory and change only after enter_kernel(). A thread that has been
// joined leaves its record, and so its name, to a later thread, as with glibc.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "lab/runtime/scheduler.hpp"

namespace unlatch::lab::os {

/// What a blocked thread says it waits for, in an error message.
enum class reason : std::uint8_t {
  nothing,
  futex,
  mutex,
  condition,
  lock_to_read,
  lock_to_write,
  semaphore,
  barrier,
  join,
  once,
  sleep,
  grace_period,
  retired_objects
};

struct thread_record {
  thread* scheduled;
  unsigned number;  ///< its scheduler::id
  void* (*entry)(void*);
  void* argument;
  bool detached;
  bool ended;
  void* result;
  thread_record* next_detached;

  const void* caller;  ///< where it last called the operating system

  // While it waits (futex.hpp): a link of the list of those that wait for the same word.
  const void* key;
  std::uint32_t bits;
  bool queued;
  std::uint64_t arrival;  ///< the how-many-eth wait of the run
  thread_record* next;
  thread_record* previous;

  reason why;
  const void* object;  ///< the mutex, condition variable, ... that `why` speaks of
};

/// The record of the thread that runs. REQUIRES: not in host mode.
thread_record& current_thread() noexcept;
thread_record& record_of(thread* which) noexcept;

/// The thread that a pthread_t names, or null.
thread_record* find_thread(pthread_t name) noexcept;
pthread_t name_of(const thread_record& which) noexcept;

/// Threads that nobody will join any more, the newest first.
thread_record* detached_threads() noexcept;
void add_detached(thread_record& which) noexcept;
void remove_detached(thread_record& which) noexcept;

/// Forgets all threads.
void forget_threads() noexcept;

/// While it lives, the thread says that it waits for `object`.
class waiting_for {
 public:
  waiting_for(reason why, const void* object) noexcept : record_(current_thread()) {
    record_.why = why;
    record_.object = object;
  }
  ~waiting_for() { record_.why = reason::nothing; }
  waiting_for(const waiting_for&) = delete;
  waiting_for& operator=(const waiting_for&) = delete;

 private:
  thread_record& record_;
};

}  // namespace unlatch::lab::os
