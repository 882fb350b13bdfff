// SPDX-License-Identifier: Apache-2.0
//
// The synthetic counters benchmark (Chitters et al., section 3): a fixed number of increments a
// thread over more and more counters, so less and less contention. The sum is checked.
#include "systems/leveldb/counters.hpp"

#include <algorithm>
#include <utility>

#include "studies/formatted.hpp"
#include "studies/library_counts.hpp"
#include "studies/policies.hpp"
#include "studies/studies.hpp"

namespace unlatch::studies {
namespace {

constexpr std::array<std::pair<std::string_view, std::size_t>, 6> sizes{
    {{"64", 64}, {"256", 256}, {"1k", 1024}, {"4k", 4096}, {"16k", 16384}, {"64k", 65536}}};

counters::mode mode_of(const std::string& name) {
  const auto& names = counters::mode_names;
  return static_cast<counters::mode>(std::ranges::find(names, name) - names.begin());
}

std::size_t size_of(const std::string& case_name) {
  return std::ranges::find(sizes, case_name, &std::pair<std::string_view, std::size_t>::first)
      ->second;
}

counters::result run(const cell& one) {
  const auto increments = one.params.at("increments");
  const auto size = size_of(one.case_name);
  const auto mode = mode_of(one.mode);
  if (one.policy == "none") return counters::run(mode, size, one.threads, increments, one.seed);
  counters::result result{};
  elision_policies::with(one.policy, [&]<class Policy> {
    result = counters::run<Policy>(mode, size, one.threads, increments, one.seed);
  });
  return result;
}

measurement measure_counters(const cell& one, const std::stop_token&) {
  const auto before = statistics::snapshot();
  const auto result = run(one);
  measurement measured;
  measured.ops = one.threads * one.params.at("increments");
  measured.seconds = result.seconds;
  add_library_counts(measured, statistics::snapshot() - before);
  if (result.sum != measured.ops) {
    throw study_error(
        formatted("study counters, mode {}, policy {}: the counters add up to {} and should to {}; "
                  "increments were lost, please report this",
                  one.mode, one.policy, result.sum, measured.ops));
  }
  return measured;
}

}  // namespace

study counters_study() {
  study what;
  what.name = "counters";
  what.description = "Random increments of an array of counters: contention falls with its size";
  for (const auto& [name, size] : sizes) {
    what.cases.push_back({std::string(name), formatted("{} counters", size)});
  }
  what.modes = {{"coarse", "one spin lock for all"},
                {"fine", "a spin lock for each counter"},
                {"coarse-elided", "one elided spin lock for all", elision_policies::names()},
                {"fine-elided", "an elided spin lock each", elision_policies::names()},
                {"naive-retry", "a hardware transaction that is retried for ever, without a lock"}};
  what.modes.back().need = machine_need::transactions;
  what.parameters = {
      {"increments", "increments of each thread", 1'000'000, 1'000'000, 1, 1'000'000'000, 10'000}};
  what.threads = {1, 2, 8};
  what.measure = measure_counters;
  return what;
}

}  // namespace unlatch::studies
