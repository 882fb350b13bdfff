// SPDX-License-Identifier: Apache-2.0
//
// Also the library's seam for counters (statistics.hpp): where a thread's rows come from. The
// library's own makes them with the allocator and std::mutex, which may be what is being counted
// here.
#include "src/preload/run/counters.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "src/preload/run/places.hpp"

namespace unlatch::detail {
constinit thread_local thread_row* thread_rows = nullptr;
}  // namespace unlatch::detail

namespace unlatch::preload {

using probe::lock_run_area;

namespace {

constinit lock_run_area* shared = nullptr;
constinit pthread_key_t at_thread_end = 0;
constinit bool has_key = false;

constexpr std::uint32_t last_block = lock_run_area::most_threads - 1;
/// So many rows are for one lock each.
constexpr std::uint32_t own_rows = detail::max_rows * 3 / 4;

void give_back_block(void* taken) noexcept {
  static_cast<std::atomic<std::uint32_t>*>(taken)->store(0, std::memory_order_release);
  detail::thread_rows = nullptr;
}

/// Held while a row is described: by one thread of one process at a time.
class description_turn {
 public:
  description_turn() noexcept : mine_(!busy_.exchange(true, std::memory_order_acquire)) {}
  description_turn(const description_turn&) = delete;
  description_turn& operator=(const description_turn&) = delete;
  ~description_turn() {
    if (mine_) busy_.store(false, std::memory_order_release);
  }
  explicit operator bool() const noexcept { return mine_; }
  static void end_in_child() noexcept { busy_.store(false, std::memory_order_relaxed); }

 private:
  static inline std::atomic<bool> busy_{false};
  bool mine_;
};

/// The next row nobody has; row_of_more if there is none.
detail::row_id take_row() noexcept {
  std::uint32_t rows = shared->rows.load(std::memory_order_relaxed);
  while (rows < lock_run_area::row_of_more &&
         !shared->rows.compare_exchange_weak(rows, rows + 1, std::memory_order_relaxed)) {
  }
  return rows < lock_run_area::row_of_more ? static_cast<detail::row_id>(rows)
                                           : lock_run_area::row_of_more;
}

/// The row for locks that were first counted at `site` of this process; row_of_few: none yet.
detail::row_id row_of_site(const void* site, std::uint32_t process) noexcept {
  for (detail::row_id row = own_rows; row < lock_run_area::row_of_more; ++row) {
    const auto& each = shared->descriptions[row];
    if (each.ready.load(std::memory_order_acquire) == 0) continue;
    if (each.is_shared && each.process == process &&
        each.site.address == reinterpret_cast<std::uint64_t>(site))
      return row;
  }
  return lock_run_area::row_of_few;
}

bool is_gone(std::uint32_t process) noexcept {
  return kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

/// A block for the calling thread, the first that is free, so that few are ever used; last_block if
/// there is none. A process takes those of its living threads with it when it ends.
std::uint32_t take_block() noexcept {
  if (!has_key) return last_block;
  const int error = errno;
  const auto process = static_cast<std::uint32_t>(getpid());
  std::uint32_t found = last_block;
  for (std::uint32_t i = 0; i < 2 * last_block && found == last_block; ++i) {
    auto& taken = shared->taken[i % last_block];
    std::uint32_t holder = taken.load(std::memory_order_relaxed);
    const bool may_take = holder == 0 || (i >= last_block && is_gone(holder));
    if (may_take && taken.compare_exchange_strong(holder, process, std::memory_order_acquire))
      found = i % last_block;
  }
  errno = error;
  return found;
}

/// Notes that blocks up to this one have been used.
void note_use(std::uint32_t block) noexcept {
  std::uint32_t used = shared->blocks_used.load(std::memory_order_relaxed);
  while (used <= block && !shared->blocks_used.compare_exchange_weak(used, block + 1)) {
  }
}

}  // namespace

void set_area(lock_run_area& to) noexcept {
  shared = &to;
  has_key = pthread_key_create(&at_thread_end, give_back_block) == 0;
}

lock_run_area& area() noexcept { return *shared; }

detail::row_id give_row(const void* lock, const void* site) noexcept {
  const int error = errno;
  const description_turn turn;
  if (!turn) return lock_run_area::row_of_few;
  const auto process = static_cast<std::uint32_t>(getpid());
  const bool alone = shared->rows.load(std::memory_order_relaxed) < own_rows;
  if (!alone) {
    const detail::row_id known = row_of_site(site, process);
    if (known != lock_run_area::row_of_few) return known;
  }
  const detail::row_id row = take_row();
  if (row == lock_run_area::row_of_more) return row;
  auto& description = shared->descriptions[row];
  description.process = process;
  description.is_shared = !alone;
  description.lock.address = reinterpret_cast<std::uint64_t>(lock);
  description.site.address = reinterpret_cast<std::uint64_t>(site);
  find_places(description.lock, description.site);
  description.ready.store(1, std::memory_order_release);
  errno = error;
  return row;
}

void counters_after_fork() noexcept {
  detail::thread_rows = nullptr;
  description_turn::end_in_child();
}

void count_refused_section(probe::not_served because) noexcept {
  detail::this_thread_row(lock_run_area::row_of_refused(because))
      .add(statistics::counter::sections);
}

void count_refused_lock(probe::not_served because) noexcept {
  shared->refused_locks[static_cast<std::uint32_t>(because)].fetch_add(1,
                                                                       std::memory_order_relaxed);
}

}  // namespace unlatch::preload

namespace unlatch::detail {

thread_row* make_thread_rows() {
  const std::uint32_t block = preload::take_block();
  preload::note_use(block);
  if (block != preload::last_block)
    pthread_setspecific(preload::at_thread_end, &preload::shared->taken[block]);
  return thread_rows = preload::shared->counters[block];
}

}  // namespace unlatch::detail
