// SPDX-License-Identifier: Apache-2.0
//
// Every elision policy on every use case, against the plain lock that it elides. A case is a cell
// of another study with that study's parameters fixed.
#include "studies/policies.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "studies/studies.hpp"

namespace unlatch::studies {
namespace {

/// A use case: a case of a study that runs sections, and what is fixed of it.
struct use_case {
  std::string_view name;
  study (*of)();
  std::string_view case_name;
  std::string_view description;
  std::string_view parameter = {};  ///< one that differs from the study's own value
  std::uint64_t value = 0;
};

constexpr auto use_cases = std::to_array<use_case>({
    {"bank-transfers", bank_study, "transfers", "transfers between 10 000 accounts"},
    {"bank-audits", bank_study, "audits", "90 % audits of 10 000 accounts"},
    {"bank-small", bank_study, "transfers", "transfers between 100 accounts", "accounts", 100},
    {"counter-shared", core_counters_study, "shared", "one counter for all"},
    {"counter-unpadded", core_counters_study, "unpadded", "counters side by side, a lock each"},
    {"counter-padded", core_counters_study, "padded", "counters apart, a lock each"},
    {"counter-one-lock", core_counters_study, "padded-one-lock", "counters apart, one lock"},
    {"list-reads-100", list_study, "reads-100", "list of 100, look-ups only"},
    {"list-reads-50", list_study, "reads-50", "list of 100, half look-ups"},
    {"list-long", list_study, "reads-50", "list of 2000: too long for the cache", "values", 2000},
    {"map-bucket-locks", bucket_map_study, "bucket-locks-50", "100 buckets, a lock each"},
    {"map-one-lock", bucket_map_study, "one-lock-50", "1000 buckets, one lock", "buckets", 1000},
    {"map-look-ups", hash_map_study, "reads-100", "hash map, look-ups only"},
    {"map-updates", hash_map_study, "reads-50", "hash map, half look-ups"},
});

const use_case& use_case_of(const cell& one) {
  return *std::ranges::find(use_cases, one.case_name, &use_case::name);
}

measurement measure_use_case(const cell& one, const std::stop_token& stop) {
  const use_case& chosen = use_case_of(one);
  const study underlying = chosen.of();
  cell inner = one;
  inner.case_name = chosen.case_name;
  inner.mode = one.mode == "plain" ? "mutex" : "unlatch";
  inner.params.clear();
  for (const auto& parameter : underlying.parameters) {
    const bool fixed = parameter.name == chosen.parameter;
    inner.params[parameter.name] = fixed ? chosen.value : parameter.value;
  }
  inner.params["window_ms"] = one.params.at("window_ms");
  return underlying.measure(inner, stop);
}

}  // namespace

study policies_study() {
  study what;
  what.name = "policies";
  what.description = "Every elision policy on every use case, against the plain lock";
  for (const auto& one : use_cases) {
    what.cases.push_back({std::string(one.name), std::string(one.description)});
  }
  what.modes = {{"plain", "unlatch::mutex"},
                {"elided", "unlatch::elide on an elided<mutex>", elision_policies::names()}};
  what.every_policy = true;
  what.parameters = {{"window_ms", "length of a cell in milliseconds", 200, 50, 1, 600'000, 1}};
  what.threads = {1, 2, 4};
  what.measure = measure_use_case;
  return what;
}

}  // namespace unlatch::studies
