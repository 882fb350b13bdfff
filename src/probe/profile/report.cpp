// SPDX-License-Identifier: Apache-2.0
//
// From rows of addresses to locks with names.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <tuple>

#include "src/probe/profile/names.hpp"
#include "src/probe/profile/profile.hpp"

namespace unlatch::probe {
namespace {

using site_key = std::pair<object_place, recording::lock_kind>;

/// A lock of one process.
struct single_lock {
  std::uint32_t process = 0;
  std::uint64_t address = 0;
  std::string variable;
  use_totals totals;
  std::map<site_key, site_profile> sites;
  std::vector<const recorded_sample*> samples;
};

std::vector<single_lock> single_locks(const recording_contents& contents,
                                      const program_names& names) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, single_lock> by_address;
  for (const auto& use : contents.uses) {
    const process_names& known = names.of(use.process);
    auto& lock = by_address[{use.process, use.lock}];
    lock.process = use.process;
    lock.address = use.lock;
    lock.totals.add(use.totals);
    auto& site = lock.sites[{known.place_of(use.site), use.kind}];
    if (site.where.empty()) site = {known.call(use.site), use.kind, {}};
    site.totals.add(use.totals);
  }
  for (const auto& sample : contents.samples) {
    by_address[{sample.process, sample.of.lock}].samples.push_back(&sample);
  }
  std::vector<single_lock> locks;
  for (auto& [key, lock] : by_address) {
    lock.variable = names.of(lock.process).variable(lock.address);
    locks.push_back(std::move(lock));
  }
  return locks;
}

/// What makes locks one: the variable that they are, also in several processes, or the places where
/// they are taken.
struct group_key {
  object_place variable;
  std::set<site_key> sites;

  auto operator<=>(const group_key&) const = default;
};

group_key key_of(const single_lock& lock, const program_names& names) {
  if (!lock.variable.empty()) return {names.of(lock.process).place_of(lock.address), {}};
  group_key key;
  for (const auto& [place, site] : lock.sites) key.sites.insert(place);
  return key;
}

/// Takes the lock that is most of a group out of it: it deserves a line of its own.
std::vector<std::vector<single_lock>> without_dominant(std::vector<single_lock> group) {
  std::vector<std::vector<single_lock>> result;
  if (group.size() > 2 && group.front().variable.empty()) {
    std::uint64_t acquired = 0;
    for (const auto& each : group) acquired += each.totals.acquired;
    const auto most = std::max_element(group.begin(), group.end(), [](auto& a, auto& b) {
      return a.totals.acquired < b.totals.acquired;
    });
    if (2 * most->totals.acquired > acquired) {
      result.push_back({std::move(*most)});
      group.erase(most);
    }
  }
  result.push_back(std::move(group));
  return result;
}

double weight_of(const use_totals& of) { return of.all_held_ticks(); }

lock_profile merged(const std::vector<single_lock>& group, const program_names& names,
                    const lab::cache_level& cache) {
  lock_profile lock;
  lock.instances = group.size();
  lock.address = group.front().address;
  std::map<site_key, site_profile> sites;
  std::vector<const recorded_sample*> samples;
  for (const auto& each : group) {
    lock.totals.add(each.totals);
    samples.insert(samples.end(), each.samples.begin(), each.samples.end());
    for (const auto& [key, site] : each.sites) {
      auto& into = sites[key];
      if (into.where.empty()) into = {site.where, site.kind, {}};
      into.totals.add(site.totals);
    }
  }
  for (auto& [key, site] : sites) lock.sites.push_back(std::move(site));
  std::stable_sort(lock.sites.begin(), lock.sites.end(), [](const auto& a, const auto& b) {
    return std::make_tuple(weight_of(b.totals), b.totals.acquired) <
           std::make_tuple(weight_of(a.totals), a.totals.acquired);
  });
  lock.sections = summarize(samples, names, cache);
  lock.name = group.front().variable;
  if (lock.name.empty()) {
    lock.name = group.size() == 1 ? fmt::format("lock at {:#x}", lock.address)
                                  : fmt::format("{} locks taken at the same places", group.size());
  }
  return lock;
}

}  // namespace

profile_report report_of(const recording_contents& contents, const lab::model& machine) {
  profile_report report;
  report.run_us = contents.run_ticks / contents.ticks_per_us;
  report.ticks_per_us = contents.ticks_per_us;
  report.processes = contents.processes.size();
  if (contents.failure != 0) report.failure = std::strerror(contents.failure);
  report.lost_uses = contents.lost_uses;
  report.lost_threads = contents.lost_threads;
  const program_names names(contents.processes);
  std::map<group_key, std::vector<single_lock>> groups;
  for (auto& lock : single_locks(contents, names)) {
    auto key = key_of(lock, names);
    groups[std::move(key)].push_back(std::move(lock));
  }
  for (auto& [key, group] : groups) {
    for (const auto& part : without_dominant(std::move(group))) {
      auto& lock = report.locks.emplace_back(merged(part, names, machine.l1d));
      const lock_facts facts{lock.totals, lock.sections, contents.ticks_per_us, contents.run_ticks};
      lock.advised = advise(facts, machine);
    }
  }
  std::stable_sort(report.locks.begin(), report.locks.end(), [](const auto& a, const auto& b) {
    return std::make_tuple(b.totals.contended_ticks, weight_of(b.totals)) <
           std::make_tuple(a.totals.contended_ticks, weight_of(a.totals));
  });
  return report;
}

}  // namespace unlatch::probe
