// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "src/probe/profile/profile.hpp"
#include "src/probe/profile/text.hpp"

namespace unlatch::probe {
namespace {

/// Cut in the middle of long names, whose ends say most.
std::string fitted(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  const std::size_t head = width / 3;
  return text.substr(0, head) + "..." + text.substr(text.size() - (width - head - 3));
}

constexpr std::size_t name_width = 46;

std::string line_of(const std::string& name, const use_totals& of, double ticks_per_us,
                    bool condition) {
  const auto held = [&](double at) {
    return of.timed == 0 ? std::string() : duration_text(of.held.percentile(at) / ticks_per_us);
  };
  const auto contended = [&of] {
    return of.acquired == 0
               ? std::string()
               : share_text(static_cast<double>(of.contended) / static_cast<double>(of.acquired));
  };
  auto line = fmt::format("{:<{}} {:>11} {:>9} {:>8} {:>8} {:>8} {:>8}", fitted(name, name_width),
                          name_width, of.acquired, condition ? "" : contended(),
                          duration_text(static_cast<double>(of.wait_ticks) / ticks_per_us),
                          held(0.5), held(0.9), held(0.99));
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string site_name(const site_profile& site) {
  using recording::lock_kind;
  switch (site.kind) {
    case lock_kind::condition:
      return "  after waiting in " + site.where;
    case lock_kind::read:
      return "  shared in " + site.where;
    case lock_kind::write:
      return "  exclusively in " + site.where;
    default:
      return "  in " + site.where;
  }
}

/// What the sampled sections did; empty if there are none.
std::string sections_of(const section_summary& of) {
  if (of.samples == 0) return {};
  std::string text = fmt::format(
      "  {} section{} looked into: {:.0f} instructions (95th percentile {:.0f}), {:.0f} lines read "
      "({:.0f}), {:.0f} written ({:.0f})\n",
      of.samples, of.samples == 1 ? "" : "s", of.instructions.p50, of.instructions.p95,
      of.lines_read.p50, of.lines_read.p95, of.lines_written.p50, of.lines_written.p95);
  const auto note = [&](std::uint64_t sections, const std::string& what) {
    if (sections > 0) text += fmt::format("  {} {}\n", share_text(of.share(sections)), what);
  };
  for (const auto& event : of.events) {
    note(event.sections,
         fmt::format("{}{}, first at {}", event.system_call ? "make the system call " : "execute ",
                     event.what, event.where));
  }
  note(of.overflowing, "write more than the first-level cache holds");
  note(of.nesting, "take other locks");
  note(of.allocating, "allocate or free memory");
  note(of.waiting, "end by waiting for a condition");
  if (of.faulting > 0) {
    text += fmt::format("  {} of {} had page faults\n", of.faulting, of.known_faults);
  }
  if (of.pairs == 0) return text;
  text += fmt::format("  {} of {} pairs from different threads would conflict\n",
                      share_text(of.pair_share(of.any_conflict)), of.pairs);
  constexpr std::size_t most = 3;
  for (std::size_t i = 0; i < std::min(most, of.conflicts.size()); ++i) {
    const auto& each = of.conflicts[i];
    text += fmt::format("    {} {}: {}\n", share_text(of.pair_share(each.pairs)),
                        name_of(each.kind), conflict_text(each));
  }
  return text;
}

/// What is missing from the figures.
std::string warnings(const profile_report& report) {
  std::string text;
  if (!report.failure.empty()) {
    text += fmt::format("recording ended before the program did: {}\n", report.failure);
  }
  if (report.lost_uses > 0) {
    text += fmt::format("{} acquisitions are not counted: there was no room for them\n",
                        report.lost_uses);
  }
  if (report.lost_threads > 0) {
    text += fmt::format("{} attempts to record a new thread failed for want of memory\n",
                        report.lost_threads);
  }
  return text;
}

}  // namespace

std::string to_table(const profile_report& report, std::size_t most_locks) {
  std::string text =
      fmt::format("{:<{}} {:>11} {:>9} {:>8} {:>8} {:>8} {:>8}\n", "lock", name_width, "acquired",
                  "contended", "waited", "held p50", "p90", "p99");
  const std::size_t shown = std::min(most_locks, report.locks.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& lock = report.locks[i];
    text += line_of(lock.name, lock.totals, report.ticks_per_us, false);
    for (const auto& site : lock.sites) {
      text += line_of(site_name(site), site.totals, report.ticks_per_us,
                      site.kind == recording::lock_kind::condition);
    }
    text += sections_of(lock.sections);
    for (const auto& advised : lock.advised) {
      text += fmt::format("  => {}: {}\n", name_of(advised.kind), advised.reason);
    }
  }
  if (report.locks.empty()) {
    text += "no lock was taken through the functions of pthreads\n";
  } else if (shown < report.locks.size()) {
    text +=
        fmt::format("and {} more; --locks N shows N, --json all\n", report.locks.size() - shown);
  }
  return text + warnings(report);
}

}  // namespace unlatch::probe
