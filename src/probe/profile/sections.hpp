// SPDX-License-Identifier: Apache-2.0
//
// What the sampled sections of a lock did, as far as a transaction would care: what they touched,
// what of it two threads touched both, and what aborts transactions.
//
// Thread safety: values.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "src/lab/model.hpp"
#include "src/probe/profile/names.hpp"
#include "src/probe/profile/read_recording.hpp"

namespace unlatch::probe {

struct spread {
  double p50 = 0;
  double p95 = 0;
  double most = 0;
};

/// Something that aborts transactions.
struct section_event {
  std::string what;   ///< "write", "cpuid"
  std::string where;  ///< the first place
  bool system_call = false;
  std::uint64_t sections = 0;  ///< how many samples did it
};

enum class conflict_kind : std::uint8_t {
  true_sharing,   ///< both touched the same bytes
  false_sharing,  ///< of the same line other bytes
  allocator,      ///< inside of allocation functions
  lock_line,      ///< data on the line of the lock itself
};

/// One of the two sections of a conflict.
struct conflict_side {
  std::string where;  ///< the instruction that touched the line first, by writing if it did
  bool writes = false;
  std::uint32_t first_byte = 0;  ///< of the line: what this side touched
  std::uint32_t last_byte = 0;
  std::string object;  ///< a variable; empty if it is none

  auto operator<=>(const conflict_side&) const = default;
};

/// What two sections of one lock from different threads met in.
struct conflict {
  conflict_kind kind{};
  conflict_side one, other;
  std::uint64_t pairs = 0;  ///< of sections that met so
};

struct section_summary {
  std::uint64_t samples = 0;
  std::uint64_t whole = 0;  ///< stepped until the lock was given back or waited with
  spread instructions;
  spread lines_read;
  spread lines_written;
  spread fullest_set;                 ///< lines written in the fullest set of the first-level cache
  std::uint64_t overflowing = 0;      ///< wrote more lines than some set of that cache holds
  std::uint64_t unfriendly = 0;       ///< did something that aborts transactions
  std::uint64_t allocating = 0;       ///< called allocation functions
  std::uint64_t nesting = 0;          ///< took other locks
  std::uint64_t waiting = 0;          ///< ended by waiting for a condition
  std::uint64_t known_faults = 0;     ///< samples of which it is known whether pages faulted
  std::uint64_t faulting = 0;         ///< of those
  std::vector<section_event> events;  ///< the most frequent first
  std::uint64_t pairs = 0;            ///< of sections of one lock from different threads
  std::map<conflict_kind, std::uint64_t> conflicting;  ///< pairs that met so
  std::uint64_t any_conflict = 0;                      ///< pairs that met in any way
  std::vector<conflict> conflicts;  ///< the most frequent first, some of every kind

  [[nodiscard]] double share(std::uint64_t of) const {
    return samples == 0 ? 0 : static_cast<double>(of) / static_cast<double>(samples);
  }
  [[nodiscard]] double pair_share(std::uint64_t of) const {
    return pairs == 0 ? 0 : static_cast<double>(of) / static_cast<double>(pairs);
  }
  [[nodiscard]] std::uint64_t met_by(conflict_kind kind) const {
    const auto found = conflicting.find(kind);
    return found == conflicting.end() ? 0 : found->second;
  }
};

/// What the samples of one or more locks, each of one process, say; `cache` is the first level of
/// the machine that is asked about. Only sections of the same lock are compared.
[[nodiscard]] section_summary summarize(std::span<const recorded_sample* const> samples,
                                        const program_names& names, const lab::cache_level& cache);

/// "mutex" sized and so on: the bytes of a lock of this kind (glibc, x86-64).
[[nodiscard]] std::uint64_t bytes_of(recording::lock_kind kind);

[[nodiscard]] std::string_view name_of(conflict_kind kind);

}  // namespace unlatch::probe
