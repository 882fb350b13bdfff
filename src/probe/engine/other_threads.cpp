// SPDX-License-Identifier: Apache-2.0
#include "src/probe/engine/other_threads.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

#include <atomic>
#include <cstddef>

#include "src/probe/engine/system_calls.hpp"
#include "src/probe/engine/turn.hpp"

namespace unlatch::probe::engine {
namespace {

// A stop has a number, odd while it lasts. A handler answers for the stop that it finds, and waits
// until the number changes. Signals that arrive late find no stop, or the next one.
std::uint32_t stop_number;
int stopper;  ///< the thread that stops the others; its own signal may have come late

struct other_thread {
  int id;
  std::uint32_t signalled;  ///< the stop in which it was
  std::uint32_t answered;   ///< the stop in which it did
  std::uint32_t listed;     ///< the listing that last showed it
  bool is_kernels;          ///< runs nothing of the program's and takes no signals
};
constexpr unsigned most_threads = 4096;
other_thread others[most_threads];
std::uint32_t other_count;
std::uint32_t answers;  ///< changes with each; the owner sleeps on it
std::uint32_t listing;
bool one_did_not_stop;

// Threads that wait for the engine, by their ids; 0: a free place.
int waiting[most_threads];
std::uint32_t waiting_places;  ///< none beyond these has been used

template <class T>
T load(const T& of) noexcept {
  return __atomic_load_n(&of, __ATOMIC_ACQUIRE);
}
template <class T>
void store(T& to, T value) noexcept {
  __atomic_store_n(&to, value, __ATOMIC_RELEASE);
}

bool is_waiting(int id) noexcept {
  const std::uint32_t count = load(waiting_places);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (load(waiting[i]) == id) return true;
  }
  return false;
}

other_thread* find(int id) noexcept {
  const std::uint32_t count = load(other_count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (load(others[i].id) == id) return &others[i];
  }
  return nullptr;
}

int number_in(const char* text) noexcept {
  int number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) number = 10 * number + (*text - '0');
  return number;
}

/// Whether the thread is one that the kernel made for io_uring: it is listed with the process's own
/// and shares its memory, but never leaves the kernel.
bool is_kernels_thread(int id) noexcept {
  char name[32] = "/proc/self/task/";
  unsigned length = 16;
  unsigned power = 1;
  for (int rest = id; rest >= 10; rest /= 10) power *= 10;
  for (; power > 0; power /= 10) name[length++] = static_cast<char>('0' + id / power % 10);
  for (const char* rest = "/stat"; *rest != 0;) name[length++] = *rest++;
  name[length] = 0;
  const long file = system_call(SYS_open, name, long{O_RDONLY | O_CLOEXEC}, 0L);
  if (file < 0) return false;
  char text[256];
  const long count = system_call(SYS_read, file, text, sizeof text - 1);
  system_call(SYS_close, file);
  if (count <= 0) return false;
  text[count] = 0;
  // "ID (NAME) STATE PARENT GROUP SESSION TTY TTY-GROUP FLAGS"; the name may hold anything.
  const char* at = text + count;
  while (at > text && *at != ')') --at;
  for (unsigned blanks = 0; blanks < 7 && *at != 0; ++at) blanks += *at == ' ';
  constexpr unsigned io_worker = 0x10;  // PF_IO_WORKER of the kernel's sched.h
  return number_in(at) & io_worker;
}

/// Entries of threads that the last listing did not show are used again.
other_thread* enter(int id) noexcept {
  if (other_thread* const known = find(id)) return known;
  other_thread* place = nullptr;
  for (std::uint32_t i = 0; i < other_count && place == nullptr; ++i) {
    if (others[i].listed + 1 < listing) place = &others[i];
  }
  if (place == nullptr) {
    if (other_count == most_threads) return nullptr;
    place = &others[other_count];
  }
  store(place->answered, 0u);
  place->signalled = 0;
  place->is_kernels = is_kernels_thread(id);
  store(place->id, id);
  if (place == &others[other_count]) store(other_count, other_count + 1);
  return place;
}

struct directory_entry {  // linux_dirent64
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
  char name[1];  ///< and what follows it
};

enum class listed : std::uint8_t { nobody_new, somebody_new, failed };

/// Signals every other thread that has not been signalled in this stop.
listed signal_others(int process, int me) noexcept {
  const long directory =
      system_call(SYS_open, "/proc/self/task", long{O_RDONLY | O_DIRECTORY | O_CLOEXEC}, 0L);
  if (directory < 0) return listed::failed;
  ++listing;
  auto result = listed::nobody_new;
  alignas(8) static char entries[1 << 14];
  long bytes;
  while ((bytes = system_call(SYS_getdents64, directory, entries, sizeof entries)) > 0) {
    for (long at = 0; at < bytes;) {
      const auto* const entry = reinterpret_cast<const directory_entry*>(entries + at);
      at += entry->length;
      const int id = number_in(entry->name);
      if (id == 0 || id == me || is_waiting(id)) continue;
      other_thread* const other = enter(id);
      if (other == nullptr) {
        result = listed::failed;
        continue;
      }
      other->listed = listing;
      if (other->is_kernels || other->signalled == stop_number) continue;
      if (system_call(SYS_tgkill, long{process}, long{id}, long{stop_signal}) == 0) {
        other->signalled = stop_number;
        if (result == listed::nobody_new) result = listed::somebody_new;
      } else {
        other->listed = 0;  // it has ended
      }
    }
  }
  system_call(SYS_close, directory);
  return bytes < 0 ? listed::failed : result;
}

/// Whether a thread that the last listing showed has yet to answer.
bool somebody_runs() noexcept {
  for (std::uint32_t i = 0; i < other_count; ++i) {
    const other_thread& each = others[i];
    if (each.listed == listing && each.signalled == stop_number &&
        load(each.answered) != stop_number) {
      return true;
    }
  }
  return false;
}

/// Spins, yields, then sleeps. False after a millisecond of sleep without an answer.
bool wait_for_answers() noexcept {
  for (unsigned round = 0;; ++round) {
    const std::uint32_t seen = load(answers);
    if (!somebody_runs()) return true;
    if (round < 64) {
      asm volatile("pause");
    } else if (round < 128) {
      system_call(SYS_sched_yield);
    } else {
      futex_wait(&answers, seen, 1);
      if (load(answers) == seen && somebody_runs()) return false;
    }
  }
}

bool has_other_threads() noexcept {
  // A directory in /proc/self/task counts as a link of it: 2 and one for each thread.
  struct {
    std::uint64_t device, inode, links, rest[15];
  } status{};
  return system_call(SYS_stat, "/proc/self/task", &status) != 0 || status.links != 3;
}

}  // namespace

bool stop_other_threads(int me) noexcept {
  if (!has_other_threads()) return true;
  const int process = process_id();
  store(stopper, me);
  store(stop_number, stop_number + 1);
  // Two seconds for the first that does not stop; after that, programs should not wait so long.
  unsigned patience = one_did_not_stop ? 20 : 2000;
  for (;;) {
    const auto found = signal_others(process, me);
    const bool all_wait = found != listed::failed && wait_for_answers();
    if (all_wait && found == listed::nobody_new) {
      one_did_not_stop = false;
      return true;
    }
    if (found == listed::failed || (!all_wait && --patience == 0)) break;
  }
  one_did_not_stop = true;
  resume_other_threads();
  return false;
}

waiting_thread::waiting_thread(int me) noexcept : place_(nullptr) {
  for (std::uint32_t i = 0; i < most_threads && place_ == nullptr; ++i) {
    int nobody = 0;
    if (!__atomic_compare_exchange_n(&waiting[i], &nobody, me, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_RELAXED)) {
      continue;
    }
    place_ = &waiting[i];
    std::uint32_t used = load(waiting_places);
    while (used <= i && !__atomic_compare_exchange_n(&waiting_places, &used, i + 1, false,
                                                     __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
  }
}

waiting_thread::~waiting_thread() {
  if (place_ != nullptr) store(*place_, 0);
}

void resume_other_threads() noexcept {
  if (stop_number % 2 == 0) return;
  store(stop_number, stop_number + 1);
  futex_wake(&stop_number);
}

void forget_other_threads() noexcept {
  store(other_count, 0u);
  for (int& each : waiting) store(each, 0);
  if (stop_number % 2 == 1) store(stop_number, stop_number + 1);
}

void on_stop_signal(bool in_system_call) noexcept {
  const std::uint32_t stop = load(stop_number);
  if (stop % 2 == 0) return;
  const int id = thread_id();
  other_thread* const me = find(id);
  if (me == nullptr || load(stopper) == id) return;
  const auto answer = [&] {
    store(me->answered, stop);
    __atomic_fetch_add(&answers, 1, __ATOMIC_ACQ_REL);
    futex_wake(&answers);
  };
  if (!in_system_call) {
    answer();
    // Who sleeps may be woken on the CPU of the thread that stopped it, and then both share it;
    // most transactions are shorter than this.
    constexpr unsigned some_50_us = 1000;
    for (unsigned i = 0; i < some_50_us && load(stop_number) == stop; ++i) asm volatile("pause");
    while (load(stop_number) == stop) futex_wait(&stop_number, stop, 0);
    return;
  }
  // From the answer on it counts as waiting, and only who owns the engine may stop to.
  {
    const waiting_thread lingers(id);
    answer();
    std::uint32_t nobody_wakes = 0;
    futex_wait(&nobody_wakes, 0, 1);
    take_turn();
  }
  give_turn();
}

}  // namespace unlatch::probe::engine
