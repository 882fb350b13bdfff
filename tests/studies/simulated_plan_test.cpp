// SPDX-License-Identifier: Apache-2.0
//
// What is different where a study runs on a machine model.
#include <gmock/gmock.h>

#include "sample.hpp"
#include "studies/models.hpp"
#include "studies/nearest_name.hpp"
#include "studies/plan.hpp"

namespace unlatch::studies {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

request on(const std::string& model) {
  request asked;
  asked.on = find_model(model);
  return asked;
}

std::string error_of(const study& what, const request& asked) {
  try {
    (void)make_plan(what, asked);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(SimulatedPlan, runs_every_cell_once_without_a_control) {
  const study sample = testing::sample_study();
  auto asked = on("i7-4770");
  asked.cases = {"easy"};
  asked.threads = {2};
  const plan made = make_plan(sample, asked);
  std::vector<std::string> modes;
  for (const auto& one : made.cells) modes.push_back(one.recorded_mode());
  EXPECT_THAT(modes, ElementsAre("stock", "spin", "elided"));
  ASSERT_TRUE(made.on.has_value());
  EXPECT_EQ(made.on->name, "i7-4770");
}

TEST(SimulatedPlan, goes_from_one_thread_to_all_cpus_in_powers_of_two) {
  study sample = testing::sample_study();
  auto asked = on("2x-xeon-gold-6226");
  asked.cases = {"easy"};
  asked.modes = {"spin"};
  const auto threads_of = [&] {
    std::vector<unsigned> counts;
    for (const auto& one : make_plan(sample, asked).cells) {
      if (one.mode == "spin") counts.push_back(one.threads);
    }
    return counts;
  };
  EXPECT_THAT(threads_of(), ElementsAre(1, 2, 4, 8, 16, 32, 48));
  sample.threads = {1};
  EXPECT_THAT(threads_of(), ElementsAre(1));
}

TEST(SimulatedPlan, takes_the_parameters_simulated_values_else_their_quick_ones) {
  study sample = testing::sample_study();
  const auto keys = [&] {
    return make_plan(sample, on("i7-4770")).cells.front().params.at("keys");
  };
  EXPECT_EQ(keys(), 10U);
  sample.parameters.front().simulated_value = 3;
  EXPECT_EQ(keys(), 3U);
}

TEST(SimulatedPlan, a_mode_that_needs_transactions_runs_where_the_model_has_them) {
  for (const auto need : {machine_need::transactions, machine_need::simulated_transactions}) {
    study sample = testing::sample_study();
    sample.modes[1].need = need;
    auto asked = on("i7-4770");
    asked.modes = {"spin"};
    EXPECT_EQ(error_of(sample, asked), "no error");
    asked.on->constants.transactions.rtm = false;
    EXPECT_EQ(error_of(sample, asked), "mode 'spin': the model i7-4770 has no RTM");
  }
}

TEST(SimulatedPlan, prefixes_run_on_models_that_have_them_and_nowhere_else) {
  study sample = testing::sample_study();
  sample.modes[1].need = machine_need::prefixes;
  auto asked = on("i7-4770");
  asked.modes = {"spin"};
  EXPECT_EQ(error_of(sample, asked), "no error");
  asked.on = find_model("xeon-8480");
  EXPECT_THAT(error_of(sample, asked), HasSubstr("has no XACQUIRE and XRELEASE"));
  asked.on.reset();
  EXPECT_THAT(error_of(sample, asked), HasSubstr("simulated machines only"));
}

TEST(SimulatedPlan, a_mode_that_is_built_for_models_only_says_so) {
  study sample = testing::sample_study();
  sample.modes[1].need = machine_need::simulated_transactions;
  request asked;
  asked.modes = {"spin"};
  EXPECT_EQ(error_of(sample, asked),
            "mode 'spin': is built for simulated machines only; choose one with --on");
}

TEST(SimulatedPlan, only_a_simulated_machine_explains_its_aborts) {
  request asked;
  asked.blame = true;
  study sample = testing::sample_study();
  EXPECT_THAT(error_of(sample, asked), HasSubstr("choose one with --on"));
  asked.on = find_model("i7-4770");
  EXPECT_EQ(error_of(sample, asked), "no error");
  sample.measure_on = [](const cell&, const lab::model_file&, const std::stop_token&) {
    return measurement{};
  };
  EXPECT_THAT(error_of(sample, asked), HasSubstr("cannot explain aborts"));
}

TEST(SimulatedPlan, every_cell_has_the_limit_of_virtual_time_that_was_asked_for) {
  study sample = testing::sample_study();
  auto asked = on("i7-4770");
  asked.virtual_limit_ms = 70;
  const plan made = make_plan(sample, asked);
  for (const cell& one : made.cells) EXPECT_EQ(one.virtual_limit_ms, 70U);
  EXPECT_THAT(rerun_command(sample, made.cells.front(), made.on), HasSubstr("--virtual-limit 70"));
  asked.on.reset();
  EXPECT_THAT(error_of(sample, asked), HasSubstr("choose one with --on"));
}

TEST(SimulatedPlan, the_command_names_the_model) {
  const study sample = testing::sample_study();
  const plan made = make_plan(sample, on("i7-4770"));
  EXPECT_THAT(rerun_command(sample, made.cells.front(), made.on),
              HasSubstr("unlatch study sample --on i7-4770 --case easy --mode stock"));
}

TEST(SimulatedPlan, a_model_that_is_not_there_is_told_with_the_nearest) {
  try {
    (void)find_model("i7-4771");
    FAIL() << "it was found";
  } catch (const unknown_name& error) {
    EXPECT_THAT(error.what(), HasSubstr("unknown model 'i7-4771'; did you mean i7-4770"));
  }
}

}  // namespace
}  // namespace unlatch::studies
