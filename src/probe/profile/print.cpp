// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "src/probe/profile/profile.hpp"

namespace unlatch::probe {
namespace {

/// "85 ns", "1.2 us", "3.4 s": two digits or more.
std::string duration(double us) {
  struct unit {
    double us;
    const char* name;
  };
  constexpr std::array units{unit{1e6, "s"}, unit{1e3, "ms"}, unit{1, "us"}, unit{1e-3, "ns"}};
  if (us == 0) return "0";
  for (const auto& [size, name] : units) {
    const double value = us / size;
    if (value < 0.9995 && size > 1e-3) continue;
    return fmt::format("{:.{}f} {}", value, value < 9.95 && size > 1e-3 ? 1 : 0, name);
  }
  return {};
}

std::string share(std::uint64_t part, std::uint64_t of) {
  if (of == 0) return "";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(of);
  if (part == 0) return "0 %";
  return percent < 0.05 ? "<0.1 %" : fmt::format("{:.1f} %", percent);
}

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
    return of.timed == 0 ? std::string() : duration(of.held.percentile(at) / ticks_per_us);
  };
  auto line =
      fmt::format("{:<{}} {:>11} {:>9} {:>8} {:>8} {:>8} {:>8}", fitted(name, name_width),
                  name_width, of.acquired, condition ? "" : share(of.contended, of.acquired),
                  duration(static_cast<double>(of.wait_ticks) / ticks_per_us), held(0.5), held(0.9),
                  held(0.99));
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

nlohmann::ordered_json to_json(const use_totals& of, double ticks_per_us) {
  const auto us = [ticks_per_us](double ticks) { return ticks / ticks_per_us; };
  nlohmann::ordered_json json{{"acquired", of.acquired},
                              {"contended", of.contended},
                              {"contended_by_sample", of.contended_by_sample},
                              {"refused", of.refused},
                              {"wait_us", us(static_cast<double>(of.wait_ticks))},
                              {"held_us", us(of.all_held_ticks())},
                              {"timed", of.timed}};
  if (of.timed > 0) {
    json["held_percentiles_us"] = {{"p50", us(of.held.percentile(0.5))},
                                   {"p90", us(of.held.percentile(0.9))},
                                   {"p99", us(of.held.percentile(0.99))},
                                   {"p999", us(of.held.percentile(0.999))}};
  }
  return json;
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

std::string_view name_of(recording::lock_kind kind) {
  constexpr std::array<std::string_view, 5> names{"mutex", "read", "write", "spin", "condition"};
  return names.at(static_cast<std::size_t>(kind));
}

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
  }
  if (report.locks.empty()) {
    text += "no lock was taken through the functions of pthreads\n";
  } else if (shown < report.locks.size()) {
    text +=
        fmt::format("and {} more; --locks N shows N, --json all\n", report.locks.size() - shown);
  }
  return text + warnings(report);
}

nlohmann::ordered_json to_json(const profile_report& report) {
  nlohmann::ordered_json locks = nlohmann::ordered_json::array();
  for (const auto& lock : report.locks) {
    nlohmann::ordered_json sites = nlohmann::ordered_json::array();
    for (const auto& site : lock.sites) {
      nlohmann::ordered_json entry{{"where", site.where}, {"kind", name_of(site.kind)}};
      entry.update(to_json(site.totals, report.ticks_per_us));
      sites.push_back(std::move(entry));
    }
    nlohmann::ordered_json entry{{"name", lock.name},
                                 {"instances", lock.instances},
                                 {"address", fmt::format("{:#x}", lock.address)}};
    entry.update(to_json(lock.totals, report.ticks_per_us));
    entry["sites"] = std::move(sites);
    locks.push_back(std::move(entry));
  }
  nlohmann::ordered_json json{{"exit_status", report.exit_status},
                              {"processes", report.processes},
                              {"lost_uses", report.lost_uses},
                              {"lost_threads", report.lost_threads}};
  if (!report.failure.empty()) json["failure"] = report.failure;
  json["locks"] = std::move(locks);
  return json;
}

}  // namespace unlatch::probe
