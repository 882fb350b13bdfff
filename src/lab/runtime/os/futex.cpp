// SPDX-License-Identifier: Apache-2.0
#include "lab/runtime/os/futex.hpp"

#include <cerrno>

#include "lab/runtime/os/memory_access.hpp"
#include "lab/runtime/os/run_state.hpp"

namespace unlatch::lab::os::futex {
namespace {

struct list {
  thread_record* first;
  thread_record* last;
};

constexpr unsigned buckets = 256;
list waiters[buckets];
std::uint64_t arrivals;

list& list_of(const void* key) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(key);
  return waiters[(address >> 2 ^ address >> 10) % buckets];
}

void append(thread_record& record, const void* key) noexcept {
  list& into = list_of(key);
  record.key = key;
  record.queued = true;
  record.arrival = ++arrivals;
  record.next = nullptr;
  record.previous = into.last;
  (into.last != nullptr ? into.last->next : into.first) = &record;
  into.last = &record;
}

void remove(thread_record& record) noexcept {
  list& from = list_of(record.key);
  (record.previous != nullptr ? record.previous->next : from.first) = record.next;
  (record.next != nullptr ? record.next->previous : from.last) = record.previous;
  record.queued = false;
}

void let_run(thread_record& record) noexcept {
  scheduler::wake(record.scheduled, scheduler::from_nanoseconds(machine().system.futex_wake_ns));
}

}  // namespace

int wait(std::uint32_t* word, std::uint32_t expected, cycles deadline,
         std::uint32_t bits) noexcept {
  scheduler::enter_kernel();
  if (futex_word(word).load() != expected) return EAGAIN;
  return sleep_on(word, deadline, bits);
}

int sleep_on(const void* key, cycles deadline, std::uint32_t bits) noexcept {
  arrive(key, bits);
  return sleep(deadline);
}

void arrive(const void* key, std::uint32_t bits) noexcept {
  thread_record& me = current_thread();
  me.bits = bits;
  append(me, key);
}

int sleep(cycles deadline) noexcept {
  thread_record& me = current_thread();
  // A wake that was meant for an earlier sleep may be remembered: only the queue tells.
  while (me.queued) {
    if (deadline == never) {
      scheduler::block();
    } else if (!scheduler::block_until(deadline) && me.queued) {
      remove(me);
      return ETIMEDOUT;
    }
  }
  return 0;
}

void leave() noexcept {
  if (thread_record& me = current_thread(); me.queued) remove(me);
}

unsigned wake(const void* key, unsigned count, std::uint32_t bits) noexcept {
  scheduler::enter_kernel();
  return wake_from_kernel(key, count, bits);
}

unsigned wake_from_kernel(const void* key, unsigned count, std::uint32_t bits) noexcept {
  // Letting one run may switch, and others then change the list: begin anew each time, and pass
  // over those that came after this call.
  const std::uint64_t until = arrivals;
  unsigned woken = 0;
  while (woken < count) {
    thread_record* record = list_of(key).first;
    while (record != nullptr && (record->key != key || (record->bits & bits) == 0)) {
      record = record->next;
    }
    if (record == nullptr || record->arrival > until) break;
    remove(*record);
    ++woken;
    let_run(*record);
  }
  return woken;
}

unsigned requeue(const void* from, unsigned count, const void* to, unsigned move) noexcept {
  unsigned moved = 0;
  unsigned passed = 0;
  for (thread_record* at = list_of(from).first; at != nullptr && moved < move;) {
    thread_record* const record = at;
    at = at->next;
    if (record->key != from || passed++ < count) continue;
    remove(*record);
    append(*record, to);
    ++moved;
  }
  return moved + wake_from_kernel(from, count);
}

bool anybody_waits(const void* key) noexcept {
  const thread_record* record = list_of(key).first;
  while (record != nullptr && record->key != key) record = record->next;
  return record != nullptr;
}

void forget_waiters() noexcept {
  for (list& each : waiters) each = {};
  arrivals = 0;
}

}  // namespace unlatch::lab::os::futex
