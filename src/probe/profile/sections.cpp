// SPDX-License-Identifier: Apache-2.0
#include "src/probe/profile/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "src/probe/profile/conflicts.hpp"

namespace unlatch::probe {
namespace {

using recording::sample_end;

std::string system_call_name(std::uint64_t number) {
  static const std::map<std::uint64_t, const char*> names{
#include "system_call_names.inc"
  };
  const auto found = names.find(number);
  return found == names.end() ? fmt::format("system call {}", number) : found->second;
}

spread spread_of(std::vector<std::uint64_t> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&values](double share) {
    const auto last = static_cast<double>(values.size() - 1);
    return static_cast<double>(values[static_cast<std::size_t>(share * last + 0.5)]);
  };
  return {at(0.5), at(0.95), static_cast<double>(values.back())};
}

std::uint64_t fullest_set(const recorded_sample& sample, const lab::cache_level& cache) {
  std::map<std::uint64_t, std::uint64_t> lines_in_set;
  std::uint64_t most = 0;
  for (const auto& line : sample.lines) {
    if (line.written == 0) continue;
    most = std::max(most, ++lines_in_set[line.line / lab::cache_level::line % cache.sets()]);
  }
  return most;
}

/// glibc's string functions use VZEROUPPER only where there is no RTM: where a transaction could
/// run, they do not.
bool is_only_without_rtm(const recording::section_event& event, const process_names& names) {
  if (std::string_view(event.mnemonic) != "vzeroupper") return false;
  const auto file = std::filesystem::path(names.place_of(event.first).file).filename().string();
  return file.starts_with("libc.so") || file.starts_with("libc-");
}

/// What of a sample aborts transactions.
class events {
 public:
  explicit events(const program_names& names) : names_(names) {}

  /// Whether there was anything.
  bool add(const recorded_sample& sample) {
    using what = recording::section_event::what;
    const process_names& names = names_.of(sample.process);
    std::set<std::pair<bool, std::string>> seen;
    for (const auto& event : sample.of.events) {
      if (event.kind == what::none || is_only_without_rtm(event, names)) continue;
      const bool call = event.kind == what::system_call;
      const std::pair key(call, call ? system_call_name(event.number) : event.mnemonic);
      auto& into = found_[key];
      if (into.where.empty()) into = {key.second, names.code(event.first), call, 0};
      if (seen.insert(key).second) ++into.sections;
    }
    return !seen.empty();
  }

  [[nodiscard]] std::vector<section_event> most_frequent() const {
    std::vector<section_event> result;
    for (const auto& [key, event] : found_) result.push_back(event);
    std::stable_sort(result.begin(), result.end(),
                     [](const auto& a, const auto& b) { return a.sections > b.sections; });
    return result;
  }

 private:
  const program_names& names_;
  std::map<std::pair<bool, std::string>, section_event> found_;
};

}  // namespace

std::uint64_t bytes_of(recording::lock_kind kind) {
  switch (kind) {
    case recording::lock_kind::read:
    case recording::lock_kind::write:
      return 56;
    case recording::lock_kind::spin:
      return 4;
    default:
      return 40;
  }
}

std::string_view name_of(conflict_kind kind) {
  constexpr std::array<std::string_view, 4> names{"true sharing", "false sharing", "allocator",
                                                  "the lock's line"};
  return names.at(static_cast<std::size_t>(kind));
}

section_summary summarize(std::span<const recorded_sample* const> samples,
                          const program_names& names, const lab::cache_level& cache) {
  section_summary summary;
  summary.samples = samples.size();
  std::vector<std::uint64_t> instructions, read, written, fullest;
  events found(names);
  for (const auto* sample : samples) {
    const auto& of = sample->of;
    instructions.push_back(of.instructions);
    const auto touched = [&lines = sample->lines](auto mask) {
      return static_cast<std::uint64_t>(std::count_if(
          lines.begin(), lines.end(), [mask](const auto& l) { return l.*mask != 0; }));
    };
    read.push_back(touched(&recording::touched_line::read));
    written.push_back(touched(&recording::touched_line::written));
    fullest.push_back(fullest_set(*sample, cache));
    const bool overflows = fullest.back() > cache.ways || of.lost_lines > 0;
    summary.overflowing += overflows ? 1 : 0;
    summary.whole += of.end == sample_end::released || of.end == sample_end::waited ? 1 : 0;
    const bool odd =
        found.add(*sample) || of.end == sample_end::not_stepped || of.end == sample_end::fault;
    summary.unfriendly += odd ? 1 : 0;
    summary.allocating += of.allocations > 0 ? 1 : 0;
    summary.nesting += of.nested_count > 0 ? 1 : 0;
    summary.waiting += of.end == sample_end::waited ? 1 : 0;
    summary.known_faults += of.decoded == 0 ? 1 : 0;
    summary.faulting += of.decoded == 0 && of.page_faults > 0 ? 1 : 0;
  }
  summary.instructions = spread_of(std::move(instructions));
  summary.lines_read = spread_of(std::move(read));
  summary.lines_written = spread_of(std::move(written));
  summary.fullest_set = spread_of(std::move(fullest));
  summary.events = found.most_frequent();
  compare_sections(samples, names, summary);
  return summary;
}

}  // namespace unlatch::probe
