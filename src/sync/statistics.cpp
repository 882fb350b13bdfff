// SPDX-License-Identifier: Apache-2.0
#include "unlatch/statistics.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace unlatch::detail {

constinit thread_local thread_row* thread_rows = nullptr;

namespace {

constexpr row_id last_row = max_rows - 1;
constexpr std::size_t rows_bytes = max_rows * sizeof(thread_row);

/// Zeroed rows whose pages cost nothing until a row in them is used.
thread_row* map_rows() {
  void* memory =
      mmap(nullptr, rows_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<thread_row*>(memory);
}

/// All rows of the process. A std::mutex on purpose: the counters of our locks must not need our
/// locks. Never destroyed, because threads may outlive static destruction.
class registry {
 public:
  static registry& get() {
    static registry* const instance = new registry;
    return *instance;
  }

  row_id find_or_make(std::string_view lock, std::string_view site) {
    const std::lock_guard guard(mutex_);
    const auto [place, is_new] =
        ids_.try_emplace({std::string(lock), std::string(site)}, static_cast<row_id>(ids_.size()));
    if (!is_new) return place->second;
    if (names_.size() == last_row) {
      place->second = last_row;
      return last_row;
    }
    names_.push_back(&place->first);
    return place->second;
  }

  std::string_view lock_name(row_id id) {
    const std::lock_guard guard(mutex_);
    return id < names_.size() ? std::string_view(names_[id]->first) : "(more)";
  }

  thread_row* add_thread() {
    thread_row* const rows = map_rows();
    const std::lock_guard guard(mutex_);
    living_.push_back(rows);
    return rows;
  }

  void remove_thread(thread_row* rows) {
    const std::lock_guard guard(mutex_);
    for (std::size_t r = 0; r < rows_used(); ++r)
      for (std::size_t c = 0; c < statistics::counter_count; ++c)
        gone_[r][c] += rows[r].values[c].load(std::memory_order_relaxed);
    std::erase(living_, rows);
    munmap(rows, rows_bytes);
  }

  thread_row* rows_of_ended_threads() {
    const std::lock_guard guard(mutex_);
    if (late_ == nullptr) living_.push_back(late_ = map_rows());
    return late_;
  }

  statistics::snapshot_type snapshot() {
    const std::lock_guard guard(mutex_);
    statistics::snapshot_type result;
    for (std::size_t r = 0; r < rows_used(); ++r) {
      statistics::row row;
      row.values = sum(r);
      for (std::size_t c = 0; c < statistics::counter_count; ++c) row.values[c] -= start_[r][c];
      if (std::ranges::all_of(row.values, [](std::uint64_t v) { return v == 0; })) continue;
      if (r < names_.size())
        std::tie(row.lock, row.site) = *names_[r];
      else
        row.lock = "(more)";
      result.rows.push_back(std::move(row));
    }
    return result;
  }

  /// Threads' own counters go on: only they write them, and what they learn goes by them.
  void reset() {
    const std::lock_guard guard(mutex_);
    for (std::size_t r = 0; r < rows_used(); ++r) start_[r] = sum(r);
  }

 private:
  /// Row 0 is that of locks without a name, so that such a lock needs no look-up.
  registry() { find_or_make("(unnamed)", ""); }

  using name_and_site = std::pair<std::string, std::string>;

  /// Rows behind these have never been counted in, and their pages not touched.
  std::size_t rows_used() const { return names_.size() == last_row ? max_rows : names_.size(); }

  using counts = std::array<std::uint64_t, statistics::counter_count>;

  /// All that has been counted in row `r`. The caller holds mutex_.
  counts sum(std::size_t r) const {
    counts total = gone_[r];
    for (const thread_row* rows : living_)
      for (std::size_t c = 0; c < statistics::counter_count; ++c)
        total[c] += rows[r].values[c].load(std::memory_order_relaxed);
    return total;
  }

  std::mutex mutex_;
  std::map<name_and_site, row_id> ids_;
  std::vector<const name_and_site*> names_;  ///< by row; points into ids_, whose nodes stay
  std::vector<thread_row*> living_;
  std::array<counts, max_rows> gone_{};   ///< by threads that have ended
  std::array<counts, max_rows> start_{};  ///< counted before the last reset()
  thread_row* late_ = nullptr;
};

/// Hands a thread's counts over when it ends.
struct thread_exit {
  thread_row* rows = nullptr;
  ~thread_exit() {
    thread_rows = registry::get().rows_of_ended_threads();
    registry::get().remove_thread(rows);
  }
};

}  // namespace

row_id register_row(std::string_view lock, std::string_view site) {
  return registry::get().find_or_make(lock, site);
}

std::string_view lock_name(row_id id) noexcept { return registry::get().lock_name(id); }

thread_row* make_thread_rows() {
  static thread_local thread_exit at_exit;
  at_exit.rows = registry::get().add_thread();
  return thread_rows = at_exit.rows;
}

thread_row& row_of(call_site& site, row_id lock_row, const source_place where) {
  return this_thread_row(site.row_for(lock_row, where));
}

row_id call_site::look_up(row_id lock_row, const source_place where) {
  const std::string site = std::string(where.file) + ":" + std::to_string(where.line);
  const row_id own = register_row(lock_name(lock_row), site);
  cached_.store(std::uint32_t{lock_row} << 16 | own, std::memory_order_relaxed);
  return own;
}

}  // namespace unlatch::detail

namespace unlatch::statistics {

snapshot_type snapshot() { return detail::registry::get().snapshot(); }

void reset() { detail::registry::get().reset(); }

}  // namespace unlatch::statistics
