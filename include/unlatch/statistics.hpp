// SPDX-License-Identifier: Apache-2.0
//
// Counters per lock name and call site: how many sections ran, how they ran, and why they aborted.
//
// Thread safety: a thread writes only its own counters, padded to cache lines, and never inside a
// transaction; a snapshot reads those of all threads, living and gone, without stopping them. It
// may therefore be a few sections behind a running thread; once the threads are joined it is exact.
//
// Cost: one increment of a thread-local word a section; 256 bytes a thread and row in use.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "unlatch/htm.hpp"
#include "unlatch/platform.hpp"

namespace unlatch::statistics {

/// What is counted.
enum class counter : std::uint8_t {
  sections,           ///< critical sections entered, however they ran
  elided,             ///< of these, completed in a hardware transaction (flattened ones included)
  started,            ///< hardware transactions begun
  committed,          ///< hardware transactions committed
  aborted_conflict,   ///< hardware transactions aborted, by cause
  aborted_capacity,   //
  aborted_lock_held,  //
  aborted_explicit,   //
  aborted_nested,     //
  aborted_other,      ///< interrupts, system calls, page faults, unfriendly instructions
  fallbacks,         ///< sections that took the lock after at least one abort or failed speculation
  skipped,           ///< sections that took the lock because the policy did not even try
  coarsened,         ///< sections that joined an open transaction
  software_started,  ///< software speculations begun
  software_committed,  ///< software speculations that completed
  software_aborted,    ///< software speculations that saw a change or lost the upgrade
  wasted_ticks,        ///< ticks of timestamp() spent in aborted transactions, from a sample
};
inline constexpr std::size_t counter_count = static_cast<std::size_t>(counter::wasted_ticks) + 1;

/// The counter of aborts for that cause.
constexpr counter counter_of(htm::cause why) noexcept {
  switch (why) {
    case htm::cause::conflict:
      return counter::aborted_conflict;
    case htm::cause::capacity:
      return counter::aborted_capacity;
    case htm::cause::lock_held:
      return counter::aborted_lock_held;
    case htm::cause::explicit_code:
      return counter::aborted_explicit;
    case htm::cause::nested:
      return counter::aborted_nested;
    case htm::cause::other:
      break;
  }
  return counter::aborted_other;
}

/// The counter's name, as in the JSON.
std::string_view to_string(counter c) noexcept;

/// The counters of one lock name and call site, as a value.
struct row {
  std::string lock;  ///< the lock's name, or its type in angle brackets where it has none
  std::string site;  ///< "file:line", or empty for sections without a call site
  std::array<std::uint64_t, counter_count> values{};

  std::uint64_t operator[](counter c) const noexcept { return values[static_cast<std::size_t>(c)]; }
};

/// A snapshot: a value that can be kept, subtracted and printed.
struct snapshot_type {
  std::vector<row> rows;  ///< only rows with a count that is not 0, in order of first use

  /// The sum over all rows.
  row total() const;
  /// What has happened since `earlier`.
  snapshot_type operator-(const snapshot_type& earlier) const;
  /// For people: one line a row, columns that are all 0 left out.
  std::string to_table() const;
  /// For machines: an array of objects with "lock", "site" and every counter.
  std::string to_json() const;
};

/// Adds up the counters of all threads. Takes a lock that only snapshots, new rows, and starting
/// and ending threads take.
snapshot_type snapshot();

/// Makes counting begin anew: what has been counted until now is left out of later snapshots.
void reset();

}  // namespace unlatch::statistics

namespace unlatch {

/// A place in the source: std::source_location for compilers that do not have it yet.
struct source_place {
  const char* file;
  unsigned line;

  /// As a default argument: where the function with that argument is called.
  static constexpr source_place current(const char* file = __builtin_FILE(),
                                        unsigned line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

}  // namespace unlatch

namespace unlatch::detail {

using row_id = std::uint16_t;
inline constexpr std::size_t max_rows = 512;

/// One thread's counters for one row, and what its elision policies have learned there.
struct alignas(cache_line) thread_row {
  std::array<std::atomic<std::uint64_t>, statistics::counter_count> values{};
  alignas(8) std::array<std::byte, 32> policy_memory{};  ///< of elided's policy
  alignas(8) std::array<std::byte, 32> choice_memory{};  ///< of path_choice.hpp

  std::uint64_t count(statistics::counter c) const noexcept {
    return values[static_cast<std::size_t>(c)].load(std::memory_order_relaxed);
  }
  /// Only the owning thread writes, so a load and a store do; atomic, because snapshots read.
  void add(statistics::counter c, std::uint64_t n = 1) noexcept { set(c, count(c) + n); }
  void set(statistics::counter c, std::uint64_t n) noexcept {
    values[static_cast<std::size_t>(c)].store(n, std::memory_order_relaxed);
  }
};

/// Finds or makes the row for a lock name and a call site ("" for none). When all rows are taken,
/// the last one, named "(more)", serves the rest. A lock and a map look-up: ask once and keep the
/// answer.
row_id register_row(std::string_view lock, std::string_view site);
/// The name of the lock of `id`.
std::string_view lock_name(row_id id) noexcept;

/// The calling thread's rows; null until its first section.
extern constinit thread_local thread_row* thread_rows [[gnu::tls_model("initial-exec")]];
/// Makes the calling thread's rows. After the thread's destructors have run: rows shared by all
/// such threads, whose counts are approximate.
thread_row* make_thread_rows();

inline thread_row& this_thread_row(row_id id) {
  thread_row* rows = thread_rows;
  if (rows == nullptr) [[unlikely]]
    rows = make_thread_rows();
  return rows[id];
}

/// A call site, one static object each. Remembers the row of the lock that it met last, so that the
/// usual case (one call site, one lock name) is a load and a compare.
class call_site {
 public:
  /// What is remembered.
  struct rows {
    row_id lock;  ///< of the lock
    row_id own;   ///< of the call site with it; 0: nothing is remembered
  };
  rows last() const noexcept {
    const std::uint32_t cached = cached_.load(std::memory_order_relaxed);
    return {static_cast<row_id>(cached >> 16), static_cast<row_id>(cached)};
  }

  row_id row_for(row_id lock_row, const source_place where) noexcept {
    const rows cached = last();
    if (cached.lock == lock_row && cached.own != 0) [[likely]]
      return cached.own;
    return look_up(lock_row, where);
  }

 private:
  row_id look_up(row_id lock_row, const source_place where);

  std::atomic<std::uint32_t> cached_{
      0};  ///< lock row << 16 | own row; row 0 is never a call site's
};

/// The calling thread's row for a call site and a lock of `lock_row`. A call that is not inlined.
thread_row& row_of(call_site& site, row_id lock_row, source_place where);

}  // namespace unlatch::detail
