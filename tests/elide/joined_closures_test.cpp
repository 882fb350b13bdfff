// SPDX-License-Identifier: Apache-2.0
//
// Closures that follow each other in one hardware transaction.
#include <gtest/gtest.h>

#include <mutex>
#include <string>

#include "support/observed_lock.hpp"
#include "support/policy_driver.hpp"
#include "support/scripted_htm.hpp"
#include "unlatch/adaptive.hpp"
#include "unlatch/coarsening.hpp"
#include "unlatch/elide.hpp"
#include "unlatch/statistics.hpp"

namespace unlatch::testing {
namespace {

using detail::path;
using statistics::counter;

class JoinedClosures : public ::testing::Test {
 protected:
  template <path P>
  using lock_on = elided<observed_lock, policy::always<P>, scripted>;

  JoinedClosures() {
    observed_lock::reset();
    scripted::play({});
    statistics::reset();
  }
  ~JoinedClosures() override { commit_open(); }

  /// Closures of one call site.
  template <class Lock>
  void run(Lock& lock, unsigned n) {
    for (unsigned i = 0; i < n; ++i)
      elide(lock, [this](auto& tx) { tx.write(sum, tx.read(sum) + 1); });
  }
  /// Closures until the transaction that is open, or the next one, commits.
  template <class Lock>
  unsigned until_commit(Lock& lock) {
    for (unsigned n = 1;; ++n) {
      run(lock, 1);
      if (!scripted::active()) return n;
    }
  }
  std::uint64_t count(counter c) const { return statistics::snapshot().total()[c]; }

  lock_on<path::joined> lock{new_name()};
  lock_on<path::in_turns> turns{new_name()};
  std::uint64_t sum = 0;
};

TEST_F(JoinedClosures, share_a_transaction_with_one_more_after_each_commit) {
  for (const unsigned expected : {1u, 2u, 3u, 4u}) EXPECT_EQ(until_commit(lock), expected);
  for (unsigned n = 5; n < 32; ++n) until_commit(lock);
  EXPECT_EQ(until_commit(lock), 32u);
  EXPECT_EQ(until_commit(lock), 32u);
  EXPECT_EQ(observed_lock::locks(), 0u);
}

TEST_F(JoinedClosures, are_counted_one_by_one) {
  run(lock, 1 + 2 + 3 + 2);
  commit_open();
  EXPECT_EQ(sum, 8u);
  EXPECT_EQ(count(counter::sections), 8u);
  EXPECT_EQ(count(counter::elided), 8u);
  EXPECT_EQ(count(counter::coarsened), 0u + 1 + 2 + 1);
  EXPECT_EQ(count(counter::started), 4u);
  EXPECT_EQ(count(counter::committed), 4u);
}

TEST_F(JoinedClosures, are_counted_at_their_own_call_sites) {
  lock_on<path::joined> other(new_name());
  run(lock, 1 + 2 + 1);
  elide(lock, [](auto&) {});
  run(other, 1);
  const auto snapshot = statistics::snapshot();
  ASSERT_EQ(snapshot.rows.size(), 3u);
  EXPECT_EQ(snapshot.rows[0][counter::sections], 4u);
  EXPECT_EQ(snapshot.rows[1][counter::sections], 1u);
  commit_open();
  EXPECT_EQ(count(counter::sections), 6u);
}

TEST_F(JoinedClosures, run_alone_after_an_abort_and_then_join_again) {
  run(lock, 1 + 2 + 3);
  scripted::play({conflict});
  EXPECT_EQ(until_commit(lock), 1u);
  EXPECT_EQ(scripted::calls(), "xbc");
  EXPECT_EQ(until_commit(lock), 2u);
  EXPECT_EQ(observed_lock::locks(), 0u);
}

TEST_F(JoinedClosures, grow_slowly_above_half_of_what_aborted) {
  run(lock, 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8);
  scripted::play({conflict});  // when 9 might have been joined
  for (const unsigned expected : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 7u, 8u, 8u, 8u})
    EXPECT_EQ(until_commit(lock), expected);
}

TEST_F(JoinedClosures, in_turns_stay_many_after_a_conflict) {
  for (const unsigned expected : {1u, 2u, 4u, 8u, 16u, 32u})
    EXPECT_EQ(until_commit(turns), expected);
  scripted::play({conflict});
  EXPECT_EQ(until_commit(turns), 32u);
  scripted::play({capacity});
  EXPECT_EQ(until_commit(turns), 16u);
}

TEST_F(JoinedClosures, take_the_lock_after_sixteen_aborts) {
  run(turns, 1 + 2);
  scripted::play({}, conflict);
  run(turns, 1);
  EXPECT_EQ(scripted::begins(), policy::adaptive::joined_aborts);
  EXPECT_EQ(observed_lock::locks(), 1u);
}

TEST_F(JoinedClosures, of_another_lock_join_if_it_is_free) {
  lock_on<path::joined> other(new_name());
  run(lock, 1 + 2 + 1);
  run(other, 1);
  EXPECT_EQ(scripted::calls(), "bcbcb");
  run(lock, 1);
  EXPECT_EQ(scripted::calls(), "bcbcbc") << "three sections, of two locks";
}

TEST_F(JoinedClosures, abort_if_the_lock_of_the_next_one_is_held) {
  lock_on<path::joined> other(new_name());
  run(lock, 1 + 2 + 1);
  observed_lock::appear_held(2);
  run(other, 1);
  EXPECT_EQ(scripted::calls().substr(0, 6), "bcbcba");
}

TEST_F(JoinedClosures, commit_at_once_where_an_action_has_to_run) {
  run(lock, 1 + 2 + 1);
  bool done = false;
  elide(lock, [&](auto& tx) {
    tx.on_commit([&] { done = !scripted::active(); });
    EXPECT_FALSE(done);
    on_commit([] {});  // must not commit half a section either
    EXPECT_TRUE(scripted::active());
  });
  EXPECT_TRUE(done);
  EXPECT_FALSE(scripted::active());
}

TEST_F(JoinedClosures, let_sections_inside_and_between_take_part) {
  elided<observed_lock, policy::fixed<2>, scripted> inner(new_name());
  run(lock, 1 + 2 + 1);
  bool done = false;
  elide(lock, [&](auto&) {
    elide(inner, [](auto&) {});
    const std::scoped_lock guard(inner);
  });
  {
    const std::scoped_lock guard(lock);
    on_commit([&] { done = true; });
  }
  EXPECT_TRUE(done);
  EXPECT_EQ(scripted::calls(), "bcbcbc");
  EXPECT_EQ(observed_lock::locks(), 0u);
}

TEST_F(JoinedClosures, end_with_an_exception_as_with_a_return) {
  run(lock, 1 + 2 + 1);
  EXPECT_THROW(elide(lock,
                     [this](auto& tx) {
                       tx.write(sum, 9u);
                       throw 1;
                     }),
               int);
  EXPECT_EQ(sum, 9u);
  EXPECT_EQ(until_commit(lock), 1u);
}

TEST_F(JoinedClosures, free_what_they_retire) {
  run(lock, 1 + 2 + 1);
  auto* const object = new std::string(100, 'x');
  elide(lock, [&](auto& tx) { tx.retire(object); });
  EXPECT_TRUE(scripted::active()) << "freed in the transaction";
}

TEST_F(JoinedClosures, are_not_for_guards) {
  run(lock, 1 + 2 + 3);
  for (int i = 0; i < 2; ++i) {
    const std::string before = scripted::calls();
    lock.lock();
    lock.unlock();
    EXPECT_EQ(scripted::calls(), before + "bc");
  }
}

}  // namespace
}  // namespace unlatch::testing
