// SPDX-License-Identifier: Apache-2.0
//
// Every study that runs in this process, in every mode and with every policy, for a moment each.
// The studies check their own results: a wrong sum or an invalid tree throws.
#include <gtest/gtest.h>

#include <set>

#include "studies/catalogue.hpp"
#include "studies/plan.hpp"
#include "studies/policies.hpp"

namespace unlatch::studies {
namespace {

/// Those with windows of time that need nothing this machine lacks: of the others some start
/// programs and some look at transactions.
std::vector<std::string> studies_in_this_process() {
  std::vector<std::string> names;
  for (const auto& what : registry()) {
    const auto parameters = names_of(what.parameters);
    if (std::ranges::find(parameters, "window_ms") == parameters.end()) continue;
    if (why_not(what.baseline(), std::nullopt).empty()) names.push_back(what.name);
  }
  return names;
}

class StructureStudy : public ::testing::TestWithParam<std::string> {};

TEST_P(StructureStudy, measures_every_case_in_every_mode_with_every_policy) {
  const study& what = find_study(GetParam());
  request asked;
  asked.quick = true;
  asked.repeats = 1;
  asked.threads = {2};
  asked.params = {"window_ms=10"};
  for (const auto& mode : what.modes) {
    for (const auto& policy : mode.policies) asked.policies.push_back(policy);
  }
  std::uint64_t ops = 0;
  for (const cell& one : make_plan(what, asked).cells) {
    SCOPED_TRACE(rerun_command(what, one));
    const auto measured = what.measure(one, {});
    EXPECT_GT(measured.seconds, 0);
    ops += measured.ops;
  }
  EXPECT_GT(ops, 0);
}

TEST_P(StructureStudy, abandons_a_cell_when_a_stop_is_requested) {
  const study& what = find_study(GetParam());
  request asked;
  asked.quick = true;
  asked.params = {"window_ms=600000"};
  const plan made = make_plan(what, asked);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(what.measure(made.cells.front(), stop.get_token()), interrupted);
}

INSTANTIATE_TEST_SUITE_P(All, StructureStudy, ::testing::ValuesIn(studies_in_this_process()),
                         [](const auto& info) { return info.param; });

TEST(Registry, has_names_that_are_unique_and_described) {
  std::set<std::string> names;
  for (const auto& what : registry()) {
    EXPECT_TRUE(names.insert(what.name).second) << what.name;
    EXPECT_FALSE(what.description.empty()) << what.name;
    EXPECT_FALSE(what.cases.empty()) << what.name;
    EXPECT_FALSE(what.threads.empty()) << what.name;
    ASSERT_GE(what.modes.size(), what.baseline().need == machine_need::none ? 2 : 1) << what.name;
    EXPECT_FALSE(what.baseline().elides()) << what.name;
    for (const auto& one : what.cases) EXPECT_FALSE(one.description.empty()) << one.name;
    for (const auto& mode : what.modes) EXPECT_FALSE(mode.description.empty()) << mode.name;
    for (const auto& parameter : what.parameters) {
      EXPECT_GE(parameter.quick_value, parameter.minimum) << parameter.name;
      EXPECT_LE(parameter.quick_value, parameter.value) << parameter.name;
      EXPECT_LE(parameter.value, parameter.maximum) << parameter.name;
    }
  }
}

TEST(Catalogue, lists_exactly_the_policies_that_studies_offer) {
  std::vector<std::string> listed;
  for (const auto& entry : policies()) listed.push_back(entry.name);
  EXPECT_EQ(listed, elision_policies::names());
}

TEST(Catalogue, lists_every_study_as_json) {
  const auto object = catalogue_json();
  ASSERT_EQ(object.at("studies").size(), registry().size());
  for (std::size_t i = 0; i < registry().size(); ++i) {
    EXPECT_EQ(object["studies"][i]["name"], registry()[i].name);
    EXPECT_EQ(object["studies"][i]["modes"].size(), registry()[i].modes.size());
  }
}

}  // namespace
}  // namespace unlatch::studies
