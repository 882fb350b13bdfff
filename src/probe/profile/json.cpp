// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "src/probe/profile/profile.hpp"

namespace unlatch::probe {
namespace {

using json = nlohmann::ordered_json;

json to_json(const use_totals& of, double ticks_per_us) {
  const auto us = [ticks_per_us](double ticks) { return ticks / ticks_per_us; };
  json result{{"acquired", of.acquired},
              {"contended", of.contended},
              {"contended_by_sample", of.contended_by_sample},
              {"refused", of.refused},
              {"wait_us", us(static_cast<double>(of.wait_ticks))},
              {"held_us", us(of.all_held_ticks())},
              {"timed", of.timed}};
  if (of.timed > 0) {
    result["held_percentiles_us"] = {{"p50", us(of.held.percentile(0.5))},
                                     {"p90", us(of.held.percentile(0.9))},
                                     {"p99", us(of.held.percentile(0.99))},
                                     {"p999", us(of.held.percentile(0.999))}};
  }
  return result;
}

json to_json(const spread& of) { return {{"p50", of.p50}, {"p95", of.p95}, {"most", of.most}}; }

json to_json(const conflict_side& of) {
  json side{{"where", of.where},
            {"writes", of.writes},
            {"first_byte", of.first_byte},
            {"last_byte", of.last_byte}};
  if (!of.object.empty()) side["object"] = of.object;
  return side;
}

json to_json(const section_summary& of) {
  json events = json::array();
  for (const auto& event : of.events) {
    events.push_back({{"what", event.what},
                      {"system_call", event.system_call},
                      {"where", event.where},
                      {"sections", event.sections}});
  }
  json kinds;
  for (const auto kind : {conflict_kind::true_sharing, conflict_kind::false_sharing,
                          conflict_kind::allocator, conflict_kind::lock_line}) {
    kinds[std::string(name_of(kind))] = of.met_by(kind);
  }
  json conflicts = json::array();
  for (const auto& each : of.conflicts) {
    conflicts.push_back({{"kind", name_of(each.kind)},
                         {"pairs", each.pairs},
                         {"sides", {to_json(each.one), to_json(each.other)}}});
  }
  return {{"samples", of.samples},
          {"whole", of.whole},
          {"instructions", to_json(of.instructions)},
          {"lines_read", to_json(of.lines_read)},
          {"lines_written", to_json(of.lines_written)},
          {"fullest_set", to_json(of.fullest_set)},
          {"overflowing", of.overflowing},
          {"unfriendly", of.unfriendly},
          {"allocating", of.allocating},
          {"nesting", of.nesting},
          {"waiting", of.waiting},
          {"page_faults", {{"known", of.known_faults}, {"faulting", of.faulting}}},
          {"events", std::move(events)},
          {"pairs", of.pairs},
          {"conflicting", of.any_conflict},
          {"conflicting_by", std::move(kinds)},
          {"conflicts", std::move(conflicts)}};
}

json to_json(const advice& of) {
  json result{{"advice", name_of(of.kind)}, {"reason", of.reason}};
  if (of.kind == advice_kind::elide) result["threads_gained"] = of.threads_gained;
  return result;
}

json to_json(const lock_profile& lock, double ticks_per_us) {
  json sites = json::array();
  for (const auto& site : lock.sites) {
    json entry{{"where", site.where}, {"kind", name_of(site.kind)}};
    entry.update(to_json(site.totals, ticks_per_us));
    sites.push_back(std::move(entry));
  }
  json advised = json::array();
  for (const auto& each : lock.advised) advised.push_back(to_json(each));
  json result{{"name", lock.name},
              {"instances", lock.instances},
              {"address", fmt::format("{:#x}", lock.address)}};
  result.update(to_json(lock.totals, ticks_per_us));
  result["sites"] = std::move(sites);
  result["sections"] = to_json(lock.sections);
  result["advice"] = std::move(advised);
  return result;
}

}  // namespace

std::string_view name_of(recording::lock_kind kind) {
  constexpr std::array<std::string_view, 5> names{"mutex", "read", "write", "spin", "condition"};
  return names.at(static_cast<std::size_t>(kind));
}

json to_json(const profile_report& report) {
  json locks = json::array();
  for (const auto& lock : report.locks) locks.push_back(to_json(lock, report.ticks_per_us));
  json result{{"exit_status", report.exit_status},
              {"processes", report.processes},
              {"run_us", report.run_us},
              {"lost_uses", report.lost_uses},
              {"lost_threads", report.lost_threads}};
  if (!report.failure.empty()) result["failure"] = report.failure;
  result["locks"] = std::move(locks);
  return result;
}

}  // namespace unlatch::probe
