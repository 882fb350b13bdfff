// SPDX-License-Identifier: Apache-2.0
//
// What `unlatch run` and the programs it runs share: a memory file with what was asked for and what
// the locks did. It outlives the program, however that ends, and nothing is added up before it is
// read, so what was counted is there after SIGKILL as well.
//
// Thread safety: the settings are written before the program starts. A thread that runs takes a
// block of counters by changing its `taken` from 0 to its process and alone writes them; when it
// ends the next one goes on where it stopped. A description belongs to whoever changes `rows` to
// its number and is to be read by others once `ready`. All that changes is atomic.
//
// Sparse: of its 256 MiB only what is written exists.
#pragma once

#include <atomic>
#include <cstdint>

#include "unlatch/statistics.hpp"

namespace unlatch::probe {

/// The environment variable that names the file. Without it the preloaded object does nothing.
inline constexpr char lock_run_variable[] = "UNLATCH_RUN";

/// What is done with the program's mutexes.
enum class lock_algorithm : std::uint32_t { elided, mutex, spin, ticket, mcs };

struct lock_run_settings {
  lock_algorithm algorithm;
  char policy[16];  ///< by name, if elided
};

/// Why a lock stays the system's own.
enum class not_served : std::uint32_t {
  process_shared,
  robust,
  priority,       ///< inheritance or protection
  system_elided,  ///< by the C library itself (glibc.elision.enable)
  unknown,        ///< of a kind that this program does not know
};
inline constexpr std::uint32_t reasons_not_served = 5;

/// Why nothing is served in a process; 0: it is.
enum class not_running : std::uint32_t {
  none,
  no_transactions,    ///< the CPU has none
  unexpected_layout,  ///< the C library's locks do not look as expected
};

/// A place in the program's memory.
struct memory_place {
  std::uint64_t address;
  std::uint64_t offset;  ///< in the file, as its symbols are numbered; the address if there is none
  char file[176];        ///< its end if it is longer; "[heap]", "[stack]"; empty: other memory
};

/// A lock that has counters of its own, or several that have them together.
struct lock_description {
  std::atomic<std::uint32_t> ready;
  std::uint32_t process;
  bool is_shared;  ///< for all locks that were first counted at `site`; no `lock` then
  memory_place lock;
  memory_place site;  ///< where it was taken when it got its counters
};

struct lock_run_area {
  static constexpr std::uint64_t magic_number = 0x316e7572'6b636f6c;
  static constexpr std::uint32_t most_threads = 2048;
  /// Locks that were taken a few times only, together; those that are not served, a row a reason;
  /// and those that found no row.
  static constexpr detail::row_id row_of_few = 0;
  static constexpr detail::row_id row_of_refused(not_served because) noexcept {
    return static_cast<detail::row_id>(1 + static_cast<std::uint32_t>(because));
  }
  static constexpr detail::row_id first_described_row = 1 + reasons_not_served;
  static constexpr detail::row_id row_of_more = detail::max_rows - 1;

  std::uint64_t magic;
  lock_run_settings settings;
  std::atomic<std::uint32_t> processes;                          ///< that loaded the object
  std::atomic<std::uint32_t> not_running[3];                     ///< of these, by not_running
  std::atomic<std::uint64_t> refused_locks[reasons_not_served];  ///< initialized
  std::atomic<std::uint32_t> rows;  ///< in use; from first_described_row on they are described
  lock_description descriptions[detail::max_rows];
  /// The last block is for all threads that find no other: their counts are approximate.
  std::atomic<std::uint32_t> taken[most_threads];
  std::atomic<std::uint32_t> blocks_used;  ///< those before this one have ever been
  detail::thread_row counters[most_threads][detail::max_rows];
};

}  // namespace unlatch::probe
