// SPDX-License-Identifier: Apache-2.0
//
// What an elided lock does with transactions, call by call.
#include "unlatch/elided.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/observed_lock.hpp"
#include "support/policy_driver.hpp"
#include "support/scripted_htm.hpp"
#include "unlatch/condition_variable.hpp"
#include "unlatch/statistics.hpp"

namespace unlatch::testing {
namespace {

using statistics::counter;
using scripted_lock = elided<observed_lock, policy::fixed<2>, scripted>;

class ElidedLock : public ::testing::Test {
 protected:
  ElidedLock() {
    observed_lock::reset();
    scripted::play({});
    statistics::reset();
  }

  std::uint64_t count(counter c) const { return statistics::snapshot().total()[c]; }

  scripted_lock lock{"elided test"};
  scripted_lock other{"elided test, inner"};
};

TEST_F(ElidedLock, runs_a_section_in_a_transaction_and_leaves_the_lock_alone) {
  lock.lock();
  EXPECT_TRUE(scripted::active());
  lock.unlock();
  EXPECT_EQ(scripted::calls(), "bc");
  EXPECT_EQ(observed_lock::locks(), 0u);
  EXPECT_EQ(observed_lock::unlocks(), 0u);
}

TEST_F(ElidedLock, falls_back_when_the_section_overflows_the_write_set) {
  scripted::play({capacity, capacity});
  lock.lock();
  EXPECT_FALSE(scripted::active());
  EXPECT_FALSE(lock.is_free());
  lock.unlock();
  EXPECT_TRUE(lock.is_free());
  EXPECT_EQ(scripted::calls(), "xx");
}

TEST_F(ElidedLock, looks_at_the_lock_inside_the_transaction) {
  const unsigned before = observed_lock::looks();
  unsigned at_begin = 0;
  scripted::in_next_transaction([&] { at_begin = observed_lock::looks(); });
  lock.lock();
  EXPECT_GT(at_begin, before) << "it should wait for a held lock before it begins";
  EXPECT_GT(observed_lock::looks(), at_begin) << "the lock is not in the read set";
  lock.unlock();
}

TEST_F(ElidedLock, aborts_a_transaction_that_finds_the_lock_held) {
  scripted::in_next_transaction([] { observed_lock::appear_held(1); });
  lock.lock();
  EXPECT_EQ(scripted::calls(), "bab");
  lock.unlock();
  EXPECT_EQ(count(counter::aborted_lock_held), 1u);
  EXPECT_EQ(count(counter::committed), 1u);
}

TEST_F(ElidedLock, flattens_a_nested_section_and_commits_at_the_outermost_unlock) {
  lock.lock();
  other.lock();
  other.unlock();
  EXPECT_TRUE(scripted::active());
  lock.unlock();
  EXPECT_EQ(scripted::calls(), "bc");
  EXPECT_EQ(count(counter::sections), 2u);
  EXPECT_EQ(count(counter::elided), 2u);
  EXPECT_EQ(count(counter::committed), 1u);
}

TEST_F(ElidedLock, commits_at_the_last_unlock_of_sections_that_overlap) {
  lock.lock();
  other.lock();
  lock.unlock();
  EXPECT_TRUE(scripted::active());
  other.unlock();
  EXPECT_EQ(scripted::calls(), "bc");
}

TEST_F(ElidedLock, aborts_the_outer_transaction_if_an_inner_lock_is_held) {
  lock.lock();
  observed_lock::appear_held(1);
  EXPECT_FALSE(other.try_lock());
  EXPECT_EQ(scripted::calls(), "ba");
  lock.unlock();
}

TEST_F(ElidedLock, aborts_a_transaction_with_more_sections_than_it_can_hold) {
  constexpr unsigned most = detail::section_context::max_open;
  std::deque<scripted_lock> locks(most + 1);
  for (unsigned i = 0; i < most; ++i) locks[i].lock();
  EXPECT_EQ(scripted::calls(), "b");
  EXPECT_FALSE(locks[most].try_lock());
  EXPECT_EQ(scripted::calls(), "ba");
  for (unsigned i = most; i-- > 0;) locks[i].unlock();
}

TEST_F(ElidedLock, elides_a_section_inside_one_that_holds_its_lock) {
  scripted::play({conflict, conflict, started});
  lock.lock();
  other.lock();
  EXPECT_TRUE(scripted::active());
  other.unlock();
  EXPECT_FALSE(lock.is_free());
  lock.unlock();
  EXPECT_EQ(scripted::calls(), "xxbc");
  EXPECT_EQ(observed_lock::unlocks(), 1u);
}

TEST_F(ElidedLock, tries_one_transaction_and_then_the_lock_in_try_lock) {
  ASSERT_TRUE(lock.try_lock());
  lock.unlock();
  EXPECT_EQ(scripted::calls(), "bc");

  scripted::play({conflict, conflict});
  ASSERT_TRUE(lock.try_lock());
  EXPECT_EQ(scripted::calls(), "x");
  EXPECT_EQ(observed_lock::locks(), 1u);
  lock.unlock();
}

TEST_F(ElidedLock, does_not_begin_in_try_lock_while_the_lock_is_held) {
  observed_lock::appear_held(observed_lock::for_ever);
  EXPECT_FALSE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock_shared());
  EXPECT_EQ(scripted::begins(), 0u);
}

TEST_F(ElidedLock, elides_shared_sections_too) {
  {
    const std::shared_lock guard(lock);
    EXPECT_TRUE(scripted::active());
  }
  EXPECT_EQ(scripted::calls(), "bc");
  scripted::play({}, conflict);
  {
    const std::shared_lock guard(lock);
    EXPECT_EQ(observed_lock::locks(), 1u);
  }
  EXPECT_EQ(observed_lock::unlocks(), 1u);
}

TEST_F(ElidedLock, commits_when_an_exception_leaves_the_section) {
  try {
    const std::scoped_lock guard(lock);
    throw std::runtime_error("out");
  } catch (const std::runtime_error&) {
    EXPECT_EQ(scripted::calls(), "bc");
  }
}

TEST_F(ElidedLock, counts_each_abort_under_its_cause) {
  elided<observed_lock, policy::fixed<9>, scripted> patient("patient");
  scripted::play({conflict_retry, capacity, conflict_capacity, lock_held, explicit_abort, nested,
                  interrupt, retry_alone});
  patient.lock();
  patient.unlock();
  EXPECT_EQ(count(counter::started), 9u);
  EXPECT_EQ(count(counter::committed), 1u);
  EXPECT_EQ(count(counter::aborted_conflict), 1u);
  EXPECT_EQ(count(counter::aborted_capacity), 2u);
  EXPECT_EQ(count(counter::aborted_lock_held), 1u);
  EXPECT_EQ(count(counter::aborted_explicit), 1u);
  EXPECT_EQ(count(counter::aborted_nested), 1u);
  EXPECT_EQ(count(counter::aborted_other), 2u);
  EXPECT_EQ(count(counter::fallbacks), 0u);
  EXPECT_GT(count(counter::wasted_ticks), 0u);
}

TEST_F(ElidedLock, counts_fallbacks_and_skipped_sections) {
  elided<observed_lock, policy::glibc, scripted> glibc("glibc");
  scripted::play({capacity});
  for (int i = 0; i < 5; ++i) {
    glibc.lock();
    glibc.unlock();
  }
  EXPECT_EQ(count(counter::sections), 5u);
  EXPECT_EQ(count(counter::fallbacks), 1u);
  EXPECT_EQ(count(counter::skipped), 3u);
  EXPECT_EQ(count(counter::elided), 1u);
}

// --- actions put off -----------------------------------------------------------------------------

class DeferredAction : public ElidedLock {
 protected:
  auto note(char c) {
    return [this, c] { done += c; };
  }
  std::string done;
};

TEST_F(DeferredAction, runs_at_once_outside_of_sections) {
  on_commit(note('1'));
  EXPECT_EQ(done, "1");
}

TEST_F(DeferredAction, runs_after_the_commit_first_in_first_out) {
  lock.lock();
  on_commit(note('1'));
  lock.on_unlock(note('2'));
  on_commit(note('3'));
  EXPECT_EQ(done, "");
  lock.unlock();
  EXPECT_EQ(done, "123");
}

TEST_F(DeferredAction, waits_for_the_outermost_section) {
  lock.lock();
  other.lock();
  other.on_unlock(note('1'));
  other.unlock();
  EXPECT_EQ(done, "");
  lock.unlock();
  EXPECT_EQ(done, "1");
}

TEST_F(DeferredAction, runs_after_the_unlock_where_the_lock_was_taken) {
  scripted::play({}, conflict);
  lock.lock();
  lock.on_unlock(note('1'));
  lock.on_unlock([&] { done += lock.is_free() ? '2' : '!'; });
  EXPECT_EQ(done, "");
  lock.unlock();
  EXPECT_EQ(done, "12");
}

TEST_F(DeferredAction, of_a_held_lock_is_not_run_by_a_commit_inside) {
  scripted::play({conflict, conflict, started});
  lock.lock();
  lock.on_unlock(note('2'));
  other.lock();
  other.on_unlock(note('1'));
  other.unlock();
  EXPECT_EQ(done, "1") << "only the transaction has ended";
  lock.unlock();
  EXPECT_EQ(done, "12");
}

TEST_F(DeferredAction, may_enter_sections_and_put_off_more) {
  lock.lock();
  on_commit([&] {
    const std::scoped_lock guard(lock);
    on_commit(note('2'));
    done += '1';
  });
  lock.unlock();
  EXPECT_EQ(done, "12");
  EXPECT_EQ(scripted::calls(), "bcbc");
}

TEST_F(DeferredAction, may_be_larger_than_its_place_in_the_list) {
  const std::vector<int> many(100, 1);
  int sum = 0;
  lock.lock();
  on_commit([many, &sum] {
    for (int i : many) sum += i;
  });
  lock.unlock();
  EXPECT_EQ(sum, 100);
}

TEST_F(DeferredAction, keeps_a_notify_back_until_the_commit) {
  condition_variable changed;
  bool notified = true;
  lock.lock();
  changed.notify_one(lock);
  changed.notify_all();
  // A wait that ends before its time has seen a notify; this one must not.
  elided<observed_lock, policy::fixed<0>, htm::none> unrelated;
  std::thread([&] {
    const std::scoped_lock guard(unrelated);
    notified =
        changed.wait_for(unrelated, std::chrono::milliseconds(20)) == std::cv_status::no_timeout;
  }).join();
  EXPECT_FALSE(notified);
  lock.unlock();
}

}  // namespace
}  // namespace unlatch::testing
