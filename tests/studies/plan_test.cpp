// SPDX-License-Identifier: Apache-2.0
#include "studies/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "sample.hpp"
#include "studies/nearest_name.hpp"

namespace unlatch::studies {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

std::vector<std::string> labels(const plan& made, std::size_t first, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = first; i < first + count; ++i) {
    const cell& one = made.cells.at(i);
    names.push_back(one.policy == "none" ? one.recorded_mode() : one.mode + "/" + one.policy);
  }
  return names;
}

TEST(Plan, runs_every_mode_and_a_control_back_to_back_in_each_round) {
  const study sample = testing::sample_study();
  const plan made = make_plan(sample, {});
  constexpr std::size_t round = 4;  // stock, spin, elided, stock-control
  constexpr std::size_t rounds = 7 * 2 * 2;
  ASSERT_EQ(made.cells.size(), round * rounds);
  for (std::size_t first = 0; first < made.cells.size(); first += round) {
    EXPECT_THAT(labels(made, first, round),
                UnorderedElementsAreArray({"stock", "spin", "elided/adaptive", "stock-control"}));
    for (std::size_t i = first + 1; i < first + round; ++i) {
      EXPECT_EQ(made.cells[i].case_name, made.cells[first].case_name);
      EXPECT_EQ(made.cells[i].threads, made.cells[first].threads);
      EXPECT_EQ(made.cells[i].repeat, made.cells[first].repeat);
      EXPECT_EQ(made.cells[i].seed, made.cells[first].seed);
    }
  }
}

TEST(Plan, finishes_all_rounds_of_a_repeat_before_the_next) {
  const study sample = testing::sample_study();
  const plan made = make_plan(sample, {});
  EXPECT_TRUE(std::ranges::is_sorted(made.cells, {}, &cell::repeat));
  EXPECT_EQ(made.cells.front().repeat, 1);
  EXPECT_EQ(made.cells.back().repeat, 7);
}

TEST(Plan, rotates_the_order_within_rounds_by_one_place_a_repeat) {
  const study sample = testing::sample_study();
  request asked;
  asked.cases = {"easy"};
  asked.threads = {2};
  asked.repeats = 5;
  const plan made = make_plan(sample, asked);
  ASSERT_EQ(made.cells.size(), 20);
  EXPECT_THAT(labels(made, 0, 4), ElementsAre("stock", "spin", "elided/adaptive", "stock-control"));
  EXPECT_THAT(labels(made, 4, 4), ElementsAre("spin", "elided/adaptive", "stock-control", "stock"));
  EXPECT_THAT(labels(made, 12, 4),
              ElementsAre("stock-control", "stock", "spin", "elided/adaptive"));
  EXPECT_THAT(labels(made, 16, 4),
              ElementsAre("stock", "spin", "elided/adaptive", "stock-control"));
}

TEST(Plan, runs_the_baseline_even_if_another_mode_was_asked_for) {
  const study sample = testing::sample_study();
  request asked;
  asked.cases = {"hard"};
  asked.modes = {"elided"};
  asked.threads = {1};
  asked.repeats = 1;
  EXPECT_THAT(labels(make_plan(sample, asked), 0, 3),
              ElementsAre("stock", "elided/adaptive", "stock-control"));
}

TEST(Plan, runs_a_mode_that_elides_once_with_each_policy) {
  const study sample = testing::sample_study();
  request asked;
  asked.cases = {"hard"};
  asked.threads = {1};
  asked.repeats = 1;
  asked.policies = {"glibc", "adaptive"};
  EXPECT_THAT(labels(make_plan(sample, asked), 0, 5),
              ElementsAre("stock", "spin", "elided/adaptive", "elided/glibc", "stock-control"));
}

TEST(Plan, gives_every_repeat_its_seed) {
  const study sample = testing::sample_study();
  request asked;
  asked.seed = 40;
  asked.repeats = 3;
  for (const cell& one : make_plan(sample, asked).cells) EXPECT_EQ(one.seed, 39 + one.repeat);
}

TEST(Plan, takes_parameters_from_the_study_or_the_request) {
  const study sample = testing::sample_study();
  request asked;
  EXPECT_EQ(make_plan(sample, asked).cells.front().params.at("keys"), 1000);
  asked.quick = true;
  EXPECT_EQ(make_plan(sample, asked).cells.front().params.at("keys"), 10);
  EXPECT_EQ(make_plan(sample, asked).cells.back().repeat, 3);
  asked.params = {"keys=5000"};
  EXPECT_EQ(make_plan(sample, asked).cells.front().params.at("keys"), 5000);
}

std::string error_of(const request& asked) {
  const study sample = testing::sample_study();
  try {
    static_cast<void>(make_plan(sample, asked));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Plan, names_the_nearest_case_mode_policy_and_parameter) {
  EXPECT_EQ(error_of({.cases = {"hardd"}}), "unknown case 'hardd'; did you mean hard?");
  EXPECT_EQ(error_of({.modes = {"elide"}}), "unknown mode 'elide'; did you mean elided?");
  EXPECT_EQ(error_of({.policies = {"glbc"}}), "unknown policy 'glbc'; did you mean glibc?");
  EXPECT_EQ(error_of({.params = {"key=3"}}), "unknown parameter 'key'; did you mean keys?");
}

TEST(Plan, refuses_values_out_of_range) {
  EXPECT_THAT(error_of({.threads = {0}}), HasSubstr("0 threads: give a number from 1"));
  EXPECT_THAT(error_of({.repeats = 0}), HasSubstr("0 repeats: give at least 1"));
  EXPECT_THAT(error_of({.params = {"keys"}}), HasSubstr("has no value; write keys=NUMBER"));
  for (const char* text : {"keys=1", "keys=5001", "keys=", "keys=-3", "keys=10x", "keys=1.5",
                           "keys=99999999999999999999999"}) {
    EXPECT_THAT(error_of({.params = {text}}), HasSubstr("is no whole number from 2 to 5000"))
        << text;
  }
}

TEST(Plan, refuses_a_policy_when_nothing_elides) {
  EXPECT_THAT(error_of({.modes = {"spin"}, .policies = {"glibc"}}),
              HasSubstr("no chosen mode of study 'sample' elides"));
}

TEST(Plan, passes_over_a_mode_that_cannot_run_here_unless_it_is_asked_for) {
  study sample = testing::sample_study();
  sample.modes[1].need = machine_need::prefixes;
  request asked{.cases = {"hard"}, .threads = {1}, .repeats = 1};
  EXPECT_THAT(labels(make_plan(sample, asked), 0, 3),
              ElementsAre("stock", "elided/adaptive", "stock-control"));
  asked.modes = {"spin"};
  try {
    static_cast<void>(make_plan(sample, asked));
    FAIL() << "nothing was thrown";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("mode 'spin': runs on simulated machines only"));
  }
}

TEST(RerunCommand, names_everything_that_makes_the_cell) {
  const study sample = testing::sample_study();
  const cell one{"hard", "elided", "glibc", false, 4, 3, 12, {{"keys", 7}}};
  EXPECT_EQ(rerun_command(sample, one),
            "unlatch study sample --case hard --mode elided --policy glibc --threads 4 --repeat 1 "
            "--seed 12 --param keys=7");
}

}  // namespace
}  // namespace unlatch::studies
