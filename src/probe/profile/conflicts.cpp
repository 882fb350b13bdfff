// SPDX-License-Identifier: Apache-2.0
#include "src/probe/profile/conflicts.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>

namespace unlatch::probe {
namespace {

using recording::touched_line;

/// How many later sections a section is compared with: enough that pairs of several threads are
/// there, few enough that all of a long run is covered.
constexpr std::size_t partners = 8;

constexpr std::uint64_t line_bytes = 64;

/// A line as two sections touched it, without the lock's own bytes.
struct meeting {
  std::uint64_t line;
  touched_line one, other;
  conflict_kind kind;
};

/// The bytes of `line` that are the lock's.
std::uint64_t lock_bytes_in(std::uint64_t line, const recording::section_sample& of) {
  std::uint64_t mask = 0;
  for (unsigned i = 0; i < line_bytes; ++i) {
    if (line + i - of.lock < bytes_of(of.kind)) mask |= std::uint64_t{1} << i;
  }
  return mask;
}

bool meet(const touched_line& one, const touched_line& other) {
  return (one.written != 0 && (other.read | other.written) != 0) ||
         (other.written != 0 && one.read != 0);
}

bool meet_in_bytes(const touched_line& one, const touched_line& other) {
  return (one.written & (other.read | other.written)) != 0 || (other.written & one.read) != 0;
}

conflict_kind kind_of(const touched_line& one, const touched_line& other, bool on_lock_line) {
  if (on_lock_line) return conflict_kind::lock_line;
  if (one.by_program == 0 || other.by_program == 0) return conflict_kind::allocator;
  return meet_in_bytes(one, other) ? conflict_kind::true_sharing : conflict_kind::false_sharing;
}

std::vector<meeting> meetings_of(const recorded_sample& one, const recorded_sample& other) {
  std::vector<meeting> found;
  auto at = other.lines.begin();
  for (touched_line mine : one.lines) {
    while (at != other.lines.end() && at->line < mine.line) ++at;
    if (at == other.lines.end()) break;
    if (at->line != mine.line) continue;
    touched_line theirs = *at;
    const std::uint64_t lock = lock_bytes_in(mine.line, one.of);
    for (touched_line* each : {&mine, &theirs}) {
      each->read &= ~lock;
      each->written &= ~lock;
    }
    if (!meet(mine, theirs)) continue;
    found.push_back({mine.line, mine, theirs, kind_of(mine, theirs, lock != 0)});
  }
  return found;
}

conflict_side side_of(const touched_line& of, const touched_line& against,
                      const process_names& names) {
  conflict_side side;
  side.writes = of.written != 0;
  side.where = names.code(side.writes ? of.writer : of.reader);
  // What meets the other side's bytes, if any does; else all that was touched.
  std::uint64_t bytes = side.writes ? of.written : of.read;
  const std::uint64_t met = bytes & (against.read | against.written);
  if (met != 0) bytes = met;
  side.first_byte = static_cast<std::uint32_t>(std::countr_zero(bytes));
  side.last_byte = 63 - static_cast<std::uint32_t>(std::countl_zero(bytes));
  side.object = names.variable(of.line + side.first_byte);
  return side;
}

using conflict_key = std::tuple<conflict_kind, conflict_side, conflict_side>;

class comparison {
 public:
  comparison(const program_names& names, section_summary& into) : names_(names), into_(into) {}

  void compare(const recorded_sample& one, const recorded_sample& other) {
    ++into_.pairs;
    const process_names& names = names_.of(one.process);
    std::set<conflict_kind> kinds;
    std::set<conflict_key> keys;
    for (const meeting& met : meetings_of(one, other)) {
      kinds.insert(met.kind);
      auto a = side_of(met.one, met.other, names);
      auto b = side_of(met.other, met.one, names);
      if (b < a) std::swap(a, b);
      keys.emplace(met.kind, std::move(a), std::move(b));
    }
    if (!kinds.empty()) ++into_.any_conflict;
    for (const auto kind : kinds) ++into_.conflicting[kind];
    for (const auto& key : keys) ++found_[key];
  }

  /// Moves the most frequent conflicts to the summary.
  void finish() {
    for (const auto& [key, pairs] : found_) {
      const auto& [kind, one, other] = key;
      into_.conflicts.push_back({kind, one, other, pairs});
    }
    std::stable_sort(into_.conflicts.begin(), into_.conflicts.end(),
                     [](const auto& a, const auto& b) { return a.pairs > b.pairs; });
    // The first ones, and of every kind at least one.
    constexpr std::size_t most = 8;
    std::set<conflict_kind> seen;
    std::size_t kept = 0;
    std::erase_if(into_.conflicts, [&](const conflict& each) {
      const bool first_of_kind = seen.insert(each.kind).second;
      return ++kept > most && !first_of_kind;
    });
  }

 private:
  const program_names& names_;
  section_summary& into_;
  std::map<conflict_key, std::uint64_t> found_;
};

}  // namespace

void compare_sections(std::span<const recorded_sample* const> samples, const program_names& names,
                      section_summary& into) {
  std::vector<const recorded_sample*> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return std::tie(a->process, a->of.lock, a->of.when) <
           std::tie(b->process, b->of.lock, b->of.when);
  });
  comparison all(names, into);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    std::size_t compared = 0;
    // One thread may have been sampled often in a row; those of others come later.
    constexpr std::size_t furthest = 8 * partners;
    for (std::size_t j = i + 1; j < sorted.size() && j < i + furthest; ++j) {
      const auto& one = *sorted[i];
      const auto& other = *sorted[j];
      if (one.process != other.process || one.of.lock != other.of.lock) break;
      if (one.of.thread == other.of.thread) continue;
      all.compare(one, other);
      if (++compared == partners) break;
    }
  }
  all.finish();
}

}  // namespace unlatch::probe
