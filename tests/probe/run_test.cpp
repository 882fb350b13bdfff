// SPDX-License-Identifier: Apache-2.0
//
// Programs with other locks. Transactions are emulated, so that these tests run on every CPU.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>

#include "../cli/subprocess.hpp"
#include "unlatch/htm.hpp"

namespace unlatch::probe::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using words = std::vector<std::string>;

struct ended {
  int status = 0;
  std::string out;
  std::string err;
  nlohmann::json report;  ///< of `unlatch run`; null if there is none

  /// The sum of a counter over all locks.
  long total(const char* counter) const {
    long sum = 0;
    for (const auto& lock : report["locks"]) sum += lock[counter].get<long>();
    return sum;
  }
};

/// The first of the JSON objects that programs wrote to standard error.
nlohmann::json first_report(const std::string& text) {
  const auto start = std::min(text.find("{\n"), text.size());
  const auto end = std::min(text.find("\n}\n", start), text.size());
  const auto report = nlohmann::json::parse(text.substr(start, end + 2 - start), nullptr, false);
  return report.is_discarded() ? nlohmann::json() : report;
}

/// A way to run a program with other locks.
struct way {
  const char* name;
  words options;                ///< of `unlatch run`
  words emulator_options = {};  ///< of `unlatch emulate`
  bool emulated = false;

  ended run(const words& command) const {
    words all;
    if (emulated) {
      all = {"emulate"};
      all.insert(all.end(), emulator_options.begin(), emulator_options.end());
      all.insert(all.end(), {"--", UNLATCH_PROGRAM});
    }
    all.insert(all.end(), {"run", "--json"});
    all.insert(all.end(), options.begin(), options.end());
    all.emplace_back("--");
    all.insert(all.end(), command.begin(), command.end());
    const auto outcome = cli::testing::run(all);
    return {outcome.status, outcome.out, outcome.err, first_report(outcome.err)};
  }
  long rounds() const { return emulated ? 60 : 1000; }
  ended run_case(const std::string& name) const {
    return run({UNLATCH_RUN_SUBJECT, name, std::to_string(rounds())});
  }
};

const std::vector<way>& swapping_ways() {
  static const std::vector<way> ways{{"mutex", {"--lock", "mutex"}},
                                     {"spin", {"--lock", "spin"}},
                                     {"ticket", {"--lock", "ticket"}},
                                     {"mcs", {"--lock", "mcs"}}};
  return ways;
}

const std::vector<way>& eliding_ways() {
#ifdef UNLATCH_HAS_EMULATOR
  static const std::vector<way> ways{
      {"adaptive", {}, {}, true},
      {"tbb", {"--policy", "tbb"}, {}, true},
      {"glibc", {"--policy", "glibc"}, {}, true},
      {"tbb_with_aborts", {"--policy", "tbb"}, {"--abort-rate", "0.3"}, true},
      {"hle_with_interrupts",
       {"--policy", "hle"},
       {"--abort-rate", "0.3", "--status", "interrupt"},
       true}};
#else
  static const std::vector<way> ways;
#endif
  return ways;
}

std::vector<way> all_ways() {
  std::vector<way> ways = swapping_ways();
  ways.insert(ways.end(), eliding_ways().begin(), eliding_ways().end());
  return ways;
}

/// The cases that end as programs do.
words cases() {
  return {"excludes",
          "excludes_slow_sections",
          "finds_its_own_mutex_held",
          "excludes_hand_over_hand",
          "tries",
          "waits_for_a_limited_time",
          "is_unlocked_by_another_thread",
          "is_destroyed_by_its_last_user",
          "comes_in_numbers",
          "is_under_the_standard_library",
          "recursive",
          "error_checking",
          "adaptive",
          "explicitly_normal",
          "robust",
          "priority_inheriting",
          "process_shared",
          "waits_with_a_normal_mutex",
          "waits_with_a_recursive_mutex",
          "waits_with_an_error_checking_mutex",
          "waits_with_time_limits",
          "gives_up_in_time",
          "wakes_all",
          "is_cancelled_in_a_wait",
          "is_under_the_standard_condition",
          "read_and_write",
          "read_and_write_with_writers_first",
          "excludes_readers_or_writers",
          "reads_again_before_a_waiting_writer",
          "process_shared_rwlock",
          "forks_with_locks_held",
          "forks_after_waiting",
          "has_children"};
}

class Program : public ::testing::TestWithParam<std::tuple<way, std::string>> {};
INSTANTIATE_TEST_SUITE_P(With, Program,
                         ::testing::Combine(::testing::ValuesIn(all_ways()),
                                            ::testing::ValuesIn(cases())),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::get<1>(info.param);
                         });

TEST_P(Program, does_what_it_does_with_its_own_locks) {
  const auto& [with, name] = GetParam();
  const auto outcome = with.run_case(name);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_FALSE(outcome.report["ran_as_it_is"].get<bool>());
  EXPECT_EQ(outcome.report["processes_with_unknown_locks"], 0);
}

class Counted : public ::testing::TestWithParam<way> {};
INSTANTIATE_TEST_SUITE_P(With, Counted, ::testing::ValuesIn(all_ways()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(Counted, every_section_of_every_thread_counts) {
  const auto outcome = GetParam().run_case("excludes");
  EXPECT_EQ(outcome.total("sections"), 4 * GetParam().rounds());
  EXPECT_EQ(outcome.total("elided"), outcome.total("committed"));
  const auto& locks = outcome.report["locks"];
  EXPECT_TRUE(std::any_of(locks.begin(), locks.end(), [](const auto& lock) {
    return lock["lock"].template get<std::string>().starts_with("run_subject+0x") &&
           lock["site"].template get<std::string>().starts_with("run_subject+0x");
  })) << outcome.err;
}

TEST_P(Counted, sections_count_that_ran_before_a_kill) {
  const auto outcome = GetParam().run_case("is_killed");
  EXPECT_EQ(outcome.status, 137);
  EXPECT_EQ(outcome.total("sections"), GetParam().rounds());
}

TEST_P(Counted, sections_of_children_count) {
  const auto outcome = GetParam().run_case("has_children");
  EXPECT_EQ(outcome.total("sections"), 6 * GetParam().rounds());
  EXPECT_EQ(outcome.report["processes"], 2);
}

TEST_P(Counted, more_locks_than_there_are_rows_for_share_them) {
  const auto outcome = GetParam().run_case("comes_in_numbers");
  EXPECT_EQ(outcome.total("sections"), 2 * (GetParam().rounds() / 200 + 1) * 1500 + 300);
}

TEST_P(Counted, locks_that_are_not_served_count_with_the_reason) {
  const auto reason = [](const std::string& name) {
    const auto refused = GetParam().run_case(name).report["not_served"];
    EXPECT_EQ(refused.size(), 1);
    EXPECT_EQ(refused[0]["locks_initialized"], 1);
    EXPECT_GE(refused[0]["sections"].get<long>(), 2 * GetParam().rounds());
    return refused[0]["why"].get<std::string>();
  };
  EXPECT_EQ(reason("robust"), "robust");
  EXPECT_EQ(reason("priority_inheriting"), "priority");
  EXPECT_EQ(reason("process_shared"), "process-shared");
}

TEST(Swapped, locks_lose_no_signal_that_comes_before_the_wait_has_begun) {
  ASSERT_EQ(setenv("LD_PRELOAD", UNLATCH_SLOW_WAITS, 1), 0);
  for (const auto& with : swapping_ways()) {
    for (const char* name : {"waits_with_a_normal_mutex", "waits_with_a_recursive_mutex"}) {
      SCOPED_TRACE(name);
      EXPECT_EQ(with.run({UNLATCH_RUN_SUBJECT, name, "100"}).status, 0) << with.name;
    }
  }
  unsetenv("LD_PRELOAD");
}

TEST(Swapped, locks_have_a_row_each_or_one_for_their_call_site) {
  const auto outcome = swapping_ways()[0].run({UNLATCH_RUN_SUBJECT, "comes_in_numbers", "200000"});
  long alone = 0, of_several = 0;
  for (const auto& lock : outcome.report["locks"]) {
    const auto name = lock["lock"].get<std::string>();
    if (name == "(several)") of_several += lock["sections"].get<long>();
    if (name.front() != '(') ++alone;
  }
  EXPECT_GT(alone, 300);
  EXPECT_GT(of_several, 1'000'000);
  EXPECT_EQ(outcome.total("sections"), 2 * 1001 * 1500 + 300);
}

#ifdef UNLATCH_HAS_EMULATOR

const way tbb{"tbb", {"--policy", "tbb"}, {}, true};

TEST(Elided, sections_of_every_kind_of_lock_that_is_served_commit) {
  for (const char* name : {"excludes", "recursive", "error_checking", "adaptive", "read_and_write",
                           "explicitly_normal", "is_under_the_standard_library"}) {
    SCOPED_TRACE(name);
    const auto outcome = tbb.run_case(name);
    EXPECT_GT(outcome.total("committed"), 2 * tbb.rounds());
    EXPECT_EQ(outcome.report["policy"], "tbb");
  }
}

TEST(Elided, sections_that_wait_on_a_condition_run_under_the_lock) {
  const auto outcome = tbb.run_case("waits_with_a_normal_mutex");
  EXPECT_GT(outcome.total("aborted_explicit"), 0);
  EXPECT_GT(outcome.total("fallbacks"), 0);
}

TEST(Elided, sections_are_elided_by_every_policy) {
  for (const char* policy : {"adaptive", "hle", "fixed", "glibc", "tbb", "mariadb", "ck", "cervini",
                             "xsync", "niessing", "johnson"}) {
    SCOPED_TRACE(policy);
    const auto outcome = way{policy, {"--policy", policy}, {}, true}.run_case("excludes");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_GT(outcome.total("elided"), 0);
    EXPECT_EQ(outcome.total("sections"), 4 * tbb.rounds());
  }
}

TEST(Elided, sections_abort_where_the_emulator_says_so) {
  const way aborting{"aborting", {"--policy", "tbb"}, {"--abort-rate", "0.5"}, true};
  const auto outcome = aborting.run_case("excludes");
  EXPECT_GT(outcome.total("aborted_conflict"), 20);
  EXPECT_EQ(outcome.total("started"),
            outcome.total("committed") + outcome.total("aborted_conflict") +
                outcome.total("aborted_lock_held") + outcome.total("aborted_other"));
}

#endif

const way plainly{"plainly", {}};

TEST(Plain, a_cpu_without_transactions_runs_the_program_as_it_is) {
  const auto outcome = plainly.run({"/bin/sh", "-c", "echo \"<$LD_PRELOAD>\"; exit 3"});
  EXPECT_EQ(outcome.status, 3);
  const bool elides = htm::describe().what == htm::support::works;
  EXPECT_EQ(outcome.report["ran_as_it_is"], !elides);
  if (!elides) {
    EXPECT_EQ(outcome.out, "<>\n");
    EXPECT_EQ(outcome.report["why"], htm::to_string(htm::describe()));
  }
}

TEST(Plain, a_table_says_what_happened) {
  const auto outcome =
      cli::testing::run({"run", "--lock", "mutex", "--", UNLATCH_RUN_SUBJECT, "robust", "100"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("not served, robust: 1 lock initialized, 402 sections"));
  EXPECT_THAT(outcome.err, HasSubstr("1 process\n"));
}

/// The system's locks with a member that changes where it does not in those that are known.
TEST(Plain, locks_that_look_strange_are_left_alone) {
  ASSERT_EQ(setenv("LD_PRELOAD", UNLATCH_STRANGE_LOCKS, 1), 0);
  const auto outcome = swapping_ways()[1].run_case("excludes");
  unsetenv("LD_PRELOAD");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.report["processes_with_unknown_locks"], 1);
  EXPECT_THAT(outcome.report["locks"], IsEmpty());
}

void expect_refused(const words& options, const std::string& program, int status,
                    const std::string& message) {
  words all{"run"};
  all.insert(all.end(), options.begin(), options.end());
  all.insert(all.end(), {"--", program});
  const auto outcome = cli::testing::run(all);
  EXPECT_EQ(outcome.status, status);
  EXPECT_THAT(outcome.err, HasSubstr(message));
}

TEST(Refused, what_there_is_not) {
  expect_refused({"--lock", "fifo"}, "true", 2, "no lock 'fifo'; there are mutex, spin, ticket");
  expect_refused({"--policy", "hope"}, "true", 2, "no policy 'hope'; there are adaptive");
  expect_refused({"--lock", "spin", "--policy", "hle"}, "true", 2, "--lock");
  expect_refused({}, "/no/such/program", 1, "there is no such program");
  expect_refused({"--lock", "spin"}, "no-such-program", 1, "no program of that name in PATH");
  expect_refused({"--lock", "spin"}, "/tmp", 1, "this is a directory");
  expect_refused({"--lock", "spin"}, UNLATCH_RUN_STATIC_SUBJECT, 1, "statically linked");
}

}  // namespace
}  // namespace unlatch::probe::testing
