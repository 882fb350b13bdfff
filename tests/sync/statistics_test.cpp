// SPDX-License-Identifier: Apache-2.0
#include "unlatch/statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "support/threads.hpp"
#include "unlatch/elided.hpp"
#include "unlatch/guard.hpp"
#include "unlatch/mutex.hpp"

namespace unlatch::testing {
namespace {

using statistics::counter;
using ::testing::HasSubstr;
using ::testing::Not;

class Statistics : public ::testing::Test {
 protected:
  using plain_lock = elided<unlatch::mutex, policy::adaptive, htm::none>;

  Statistics() { statistics::reset(); }

  static void run_sections(plain_lock& lock, int n) {
    for (int i = 0; i < n; ++i) {
      const std::scoped_lock guard(lock);
    }
  }

  static statistics::row row_of(const std::string& lock, const std::string& site = "") {
    for (const statistics::row& row : statistics::snapshot().rows)
      if (row.lock == lock && row.site == site) return row;
    return {};
  }
};

TEST_F(Statistics, are_kept_for_each_lock_name) {
  plain_lock a("accounts"), also_a("accounts"), b("branches"), unnamed;
  run_sections(a, 3);
  run_sections(also_a, 4);
  run_sections(b, 5);
  run_sections(unnamed, 6);
  EXPECT_EQ(row_of("accounts")[counter::sections], 7u);
  EXPECT_EQ(row_of("branches")[counter::sections], 5u);
  EXPECT_EQ(row_of("(unnamed)")[counter::sections], 6u);
  EXPECT_EQ(statistics::snapshot().total()[counter::sections], 18u);
}

TEST_F(Statistics, are_kept_for_each_call_site) {
  plain_lock lock("with sites");
  for (int i = 0; i < 2; ++i) auto guard = section(lock);
  const int line = __LINE__ - 1;
  { auto guard = section(lock); }
  const std::string site = std::string(__FILE__) + ":" + std::to_string(line);
  EXPECT_EQ(row_of("with sites", site)[counter::sections], 2u);
  EXPECT_EQ(statistics::snapshot().total()[counter::sections], 3u);
}

TEST_F(Statistics, are_exact_once_the_threads_have_ended) {
  plain_lock lock("of ended threads");
  run_together(4, [&](int thread) { run_sections(lock, 1000 + thread); });
  EXPECT_EQ(row_of("of ended threads")[counter::sections], 4006u);
}

TEST_F(Statistics, count_sections_in_the_destructors_of_a_threads_last_objects) {
  static plain_lock lock("late");
  struct user {
    ~user() { run_sections(lock, 2); }
  };
  std::thread([] {
    static thread_local user last;  // constructed before the rows, so destroyed after them
    (void)last;
    run_sections(lock, 1);
  }).join();
  EXPECT_EQ(row_of("late")[counter::sections], 3u);
}

TEST_F(Statistics, tell_what_has_happened_since_an_earlier_snapshot) {
  plain_lock lock("since");
  run_sections(lock, 10);
  const auto before = statistics::snapshot();
  run_sections(lock, 5);
  plain_lock later("only later");
  run_sections(later, 2);
  const auto since = statistics::snapshot() - before;
  ASSERT_EQ(since.rows.size(), 2u);
  EXPECT_EQ(since.total()[counter::sections], 7u);
  EXPECT_EQ((before - before).rows.size(), 0u);
}

TEST_F(Statistics, start_at_zero_after_a_reset) {
  plain_lock lock("reset");
  run_sections(lock, 10);
  std::thread([&] { run_sections(lock, 10); }).join();
  statistics::reset();
  EXPECT_TRUE(statistics::snapshot().rows.empty());
  run_sections(lock, 1);
  EXPECT_EQ(row_of("reset")[counter::sections], 1u);
}

TEST_F(Statistics, can_be_taken_while_threads_run) {
  plain_lock lock("running");
  std::atomic<bool> done = false;
  std::thread runner([&] {
    run_sections(lock, 20'000);
    done = true;
  });
  std::uint64_t last = 0;
  while (!done) {
    const std::uint64_t now = statistics::snapshot().total()[counter::sections];
    EXPECT_GE(now, last);
    last = now;
  }
  runner.join();
  EXPECT_EQ(row_of("running")[counter::sections], 20'000u);
}

TEST_F(Statistics, print_as_json_with_every_counter) {
  plain_lock lock("quoted \"name\" \\ \n");
  run_sections(lock, 2);
  const auto json = nlohmann::json::parse(statistics::snapshot().to_json());
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0].at("lock"), "quoted \"name\" \\ \n");
  EXPECT_EQ(json[0].at("site"), "");
  EXPECT_EQ(json[0].at("sections"), 2);
  for (std::size_t c = 0; c < statistics::counter_count; ++c)
    EXPECT_TRUE(json[0].contains(std::string(to_string(static_cast<counter>(c)))));
}

TEST_F(Statistics, print_an_empty_array_where_nothing_was_counted) {
  EXPECT_TRUE(nlohmann::json::parse(statistics::snapshot().to_json()).empty());
}

TEST_F(Statistics, print_as_a_table_without_columns_that_are_zero) {
  plain_lock lock("in the table");
  run_sections(lock, 12345);
  const std::string table = statistics::snapshot().to_table();
  EXPECT_THAT(table, HasSubstr("in the table"));
  EXPECT_THAT(table, HasSubstr("12345"));
  EXPECT_THAT(table, HasSubstr("sections"));
  EXPECT_THAT(table, Not(HasSubstr("aborted_conflict")));
}

TEST_F(Statistics, put_locks_into_one_row_once_all_rows_are_taken) {
  for (std::size_t i = 0; i < detail::max_rows + 10; ++i) {
    plain_lock lock("one of many " + std::to_string(i));
    run_sections(lock, 1);
  }
  EXPECT_GE(row_of("(more)")[counter::sections], 10u);
  EXPECT_EQ(statistics::snapshot().total()[counter::sections], detail::max_rows + 10);
}

}  // namespace
}  // namespace unlatch::testing
