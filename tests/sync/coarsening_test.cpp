// SPDX-License-Identifier: Apache-2.0
#include "unlatch/coarsening.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <string>

#include "support/observed_lock.hpp"
#include "support/policy_driver.hpp"
#include "support/scripted_htm.hpp"
#include "unlatch/condition_variable.hpp"
#include "unlatch/elided.hpp"
#include "unlatch/statistics.hpp"

namespace unlatch::testing {
namespace {

using statistics::counter;

class Coarsening : public ::testing::Test {
 protected:
  static constexpr unsigned k = 4;
  using coarse_lock = elided<observed_lock, policy::coarsened<policy::fixed<2>, k>, scripted>;

  Coarsening() {
    observed_lock::reset();
    scripted::play({});
    statistics::reset();
  }
  ~Coarsening() override { commit_open(); }

  void run_sections(unsigned n) {
    for (unsigned i = 0; i < n; ++i) {
      lock.lock();
      lock.unlock();
    }
  }

  /// Sections until the open or next transaction commits.
  unsigned sections_of_next_transaction() {
    const std::size_t before = scripted::calls().size();
    unsigned n = 0;
    do {
      run_sections(1);
      ++n;
    } while (scripted::calls().substr(before) != "bc");
    return n;
  }

  std::uint64_t count(counter c) const { return statistics::snapshot().total()[c]; }

  coarse_lock lock{new_name()};
};

TEST_F(Coarsening, starts_after_k_commits_in_a_row_and_doubles_up_to_32_sections) {
  for (unsigned i = 0; i < k; ++i) EXPECT_EQ(sections_of_next_transaction(), 1u);
  for (const unsigned expected : {2u, 4u, 8u, 16u, 32u, 32u})
    EXPECT_EQ(sections_of_next_transaction(), expected);
}

TEST_F(Coarsening, counts_sections_that_joined) {
  run_sections(k + 2 + 4);
  EXPECT_EQ(count(counter::sections), k + 6);
  EXPECT_EQ(count(counter::elided), k + 6);
  EXPECT_EQ(count(counter::committed), k + 2);
  EXPECT_EQ(count(counter::started), k + 2);
  EXPECT_EQ(count(counter::coarsened), 1u + 3u);
}

TEST_F(Coarsening, halves_at_a_capacity_abort_and_tries_again) {
  run_sections(k + 2 + 4 + 8);
  scripted::play({capacity});
  run_sections(8);
  EXPECT_EQ(scripted::calls(), "xbc") << "the next transaction may hold 16 / 2 sections";
  EXPECT_EQ(observed_lock::locks(), 0u);
}

TEST_F(Coarsening, ends_at_a_conflict_until_there_are_k_commits_in_a_row_again) {
  run_sections(k + 2 + 4);
  scripted::play({conflict});
  run_sections(k);
  EXPECT_EQ(scripted::calls(), "xbcbcbcbc");
  EXPECT_EQ(sections_of_next_transaction(), 2u);
}

TEST_F(Coarsening, does_not_charge_its_own_aborts_to_the_policy) {
  run_sections(k + 2 + 4);
  scripted::play({conflict, conflict});  // fixed<2> gives up at its second abort
  run_sections(1);
  EXPECT_EQ(scripted::calls(), "xxbc");
  scripted::play({conflict, conflict});
  run_sections(1);
  EXPECT_EQ(scripted::calls(), "xx");
  EXPECT_EQ(observed_lock::locks(), 1u);
}

TEST_F(Coarsening, commit_open_commits_between_sections_and_is_harmless_elsewhere) {
  run_sections(k + 1);
  EXPECT_TRUE(scripted::active());
  commit_open();
  EXPECT_FALSE(scripted::active());
  const std::string calls = scripted::calls();
  commit_open();
  lock.lock();
  commit_open();
  EXPECT_EQ(scripted::calls(), calls + "b");
  lock.unlock();
}

TEST_F(Coarsening, ends_before_a_thread_waits_for_a_condition) {
  run_sections(k);
  condition_variable never;
  lock.lock();
  scripted::play({}, conflict);
  never.wait_for(lock, std::chrono::milliseconds(1));
  EXPECT_EQ(scripted::calls(), "cxxx") << "committed by the wait, then entered under the lock";
  lock.unlock();
}

TEST_F(Coarsening, ends_where_an_action_has_to_run) {
  run_sections(k);
  bool done = false;
  lock.lock();
  on_commit([&] { done = true; });
  lock.unlock();
  EXPECT_TRUE(done);
  EXPECT_FALSE(scripted::active());
}

TEST_F(Coarsening, ends_when_an_action_is_put_off_between_sections) {
  run_sections(k + 1);
  ASSERT_TRUE(scripted::active());
  bool done = false;
  on_commit([&] { done = !scripted::active(); });
  EXPECT_TRUE(done);
}

TEST_F(Coarsening, lets_sections_of_other_locks_join) {
  elided<observed_lock, policy::fixed<2>, scripted> other(new_name());
  run_sections(k + 1);
  const std::string calls = scripted::calls();
  bool done = false;
  {
    const std::scoped_lock guard(other);
    EXPECT_EQ(scripted::calls(), calls);
    on_commit([&] { done = true; });
    EXPECT_FALSE(done);
  }
  EXPECT_TRUE(done) << "an action must not wait for the next section of the first lock";
  EXPECT_EQ(scripted::calls(), calls + "c");
}

TEST_F(Coarsening, commits_with_the_outermost_of_sections_that_overlap) {
  elided<observed_lock, policy::fixed<2>, scripted> other(new_name());
  run_sections(k + 1);
  const std::string calls = scripted::calls();
  other.lock();
  lock.lock();
  lock.unlock();
  other.unlock();
  EXPECT_EQ(scripted::calls(), calls + "c");
}

TEST_F(Coarsening, aborts_if_the_lock_is_held_when_a_shared_transaction_goes_on_exclusively) {
  for (unsigned i = 0; i <= k; ++i) {
    lock.lock_shared();
    lock.unlock_shared();
  }
  ASSERT_TRUE(scripted::active());
  observed_lock::appear_held(1);  // by a reader
  EXPECT_FALSE(lock.try_lock());
  EXPECT_EQ(scripted::calls().back(), 'a');
  commit_open();
}

}  // namespace
}  // namespace unlatch::testing
