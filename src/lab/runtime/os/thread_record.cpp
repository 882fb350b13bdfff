// SPDX-License-Identifier: Apache-2.0
#include "lab/runtime/os/thread_record.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "lab/runtime/host_memory.hpp"
#include "lab/runtime/os/complain.hpp"
#include "lab/runtime/os/interpose.hpp"
#include "lab/runtime/os/os.hpp"

// The linker's names for the ends of the section that interpose.hpp puts code into.
extern "C" const char __start_unlatch_lab_os[];
extern "C" const char __stop_unlatch_lab_os[];

namespace unlatch::lab::os {
namespace {

// A pthread_t is an offset from this, so that a thread's name is small, not 0, and easy to tell
// from an address.
constexpr pthread_t first_name = 1;
constexpr unsigned most_threads = 1u << 20;

thread_record* detached;  // a list
thread_record* table;     // by scheduler::id
unsigned used;            // records before this one may have been used in this run

thread_record& record_at(unsigned number) noexcept {
  if (number >= most_threads) stop("more than %u threads in one run", most_threads);
  if (table == nullptr) {
    table = static_cast<thread_record*>(reserve(sizeof(thread_record) * most_threads));
  }
  if (number >= used) used = number + 1;
  return table[number];
}

const char* sentence(reason why) noexcept {
  switch (why) {
    case reason::nothing:
      return "nothing that the operating system knows of";
    case reason::futex:
      return "a wake of the futex at %p";
    case reason::mutex:
      return "the mutex at %p";
    case reason::condition:
      return "a signal of the condition variable at %p";
    case reason::lock_to_read:
      return "the reader-writer lock at %p, to read";
    case reason::lock_to_write:
      return "the reader-writer lock at %p, to write";
    case reason::semaphore:
      return "the semaphore at %p";
    case reason::barrier:
      return "the other threads at the barrier at %p";
    case reason::join:
      return "the end of another thread";
    case reason::once:
      return "another thread's initialization under the flag at %p";
    case reason::sleep:
      return "its time to pass";
    case reason::grace_period:
      return "readers to leave, for a grace period";
    case reason::retired_objects:
      return "objects to be retired (liburcu's worker)";
  }
  return "";
}

}  // namespace

thread_record& record_of(thread* which) noexcept {
  void*& data = scheduler::os_data(which);
  if (data == nullptr) {
    const unsigned number = scheduler::id(which);
    thread_record& record = record_at(number);
    std::memset(&record, 0, sizeof record);
    record.scheduled = which;
    record.number = number;
    data = &record;
  }
  return *static_cast<thread_record*>(data);
}

void remember_caller(const void* code) noexcept {
  // A call from here (a worker's, or one function's by another) is its own caller's.
  const auto address = static_cast<const char*>(code);
  if (address < __start_unlatch_lab_os || address >= __stop_unlatch_lab_os) {
    current_thread().caller = code;
  }
}

std::uintptr_t program_code(std::uintptr_t code) noexcept {
  const auto start = reinterpret_cast<std::uintptr_t>(__start_unlatch_lab_os);
  const auto stop = reinterpret_cast<std::uintptr_t>(__stop_unlatch_lab_os);
  if (code - start >= stop - start) return code;
  return reinterpret_cast<std::uintptr_t>(current_thread().caller);
}

thread_record& current_thread() noexcept { return record_of(scheduler::self()); }

thread_record* find_thread(pthread_t name) noexcept {
  if (name < first_name || name - first_name >= used) return nullptr;
  thread_record& record = table[name - first_name];
  return record.scheduled == nullptr ? nullptr : &record;
}

pthread_t name_of(const thread_record& which) noexcept { return first_name + which.number; }

thread_record* detached_threads() noexcept { return detached; }

void add_detached(thread_record& which) noexcept {
  which.detached = true;
  which.next_detached = detached;
  detached = &which;
}

void remove_detached(thread_record& which) noexcept {
  thread_record** link = &detached;
  while (*link != &which) link = &(*link)->next_detached;
  *link = which.next_detached;
}

void forget_threads() noexcept {
  for (unsigned i = 0; i < used; ++i) table[i].scheduled = nullptr;
  used = 0;
  detached = nullptr;
}

std::size_t describe(const thread* which, char* text, std::size_t size) noexcept {
  const thread_record& record = record_of(const_cast<thread*>(which));
  if (size == 0) return 0;
  text[0] = 0;
  int length = 0;
  const auto append = [&](const char* format, auto... values) {
    if (length < 0 || static_cast<std::size_t>(length) >= size) return;
    const auto start = static_cast<std::size_t>(length);
    length += std::snprintf(text + start, size - start, format, values...);
  };
  append(sentence(record.why), record.object);
  if (record.why == reason::mutex) {
    const auto* const mutex = static_cast<const pthread_mutex_t*>(record.object);
    if (mutex->__data.__owner > 0) append(", held by thread %d", mutex->__data.__owner - 1);
  }
  if (record.why == reason::join) {
    append(", thread %u", static_cast<const thread_record*>(record.object)->number);
  }
  if (length < 0) return 0;
  return static_cast<std::size_t>(length) < size ? static_cast<std::size_t>(length) : size - 1;
}

}  // namespace unlatch::lab::os
