// SPDX-License-Identifier: Apache-2.0
//
// Faults that elision is known for, each beside its correct twin: the explorer finds every fault,
// and nothing in the twin.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

#include "src/lab/explore/explore.hpp"
#include "two_threads.hpp"
#include "unlatch/condition_variable.hpp"
#include "unlatch/elided.hpp"
#include "unlatch/htm.hpp"
#include "unlatch/parking.hpp"
#include "unlatch/spin_mutex.hpp"
#include "unlatch/structures/mpsc_queue.hpp"

namespace unlatch::lab {
namespace {

using htm = unlatch::htm::hardware;

enum class subscription { none, late, early };

/// A spin lock elided by hand. When the transaction looks at the lock is the point.
template <subscription When>
class handmade {
 public:
  template <class Body>
  void section(Body body) {
    if (htm::begin().started()) {
      if (When == subscription::early) leave_if_held();
      body();
      if (When == subscription::late) leave_if_held();
      htm::commit();
      return;
    }
    section_under_lock(body);
  }

  template <class Body>
  void section_under_lock(Body body) {
    lock_.lock();
    body();
    lock_.unlock();
  }

 private:
  void leave_if_held() {
    if (!lock_.is_free()) htm::abort<unlatch::htm::status::lock_held_code>();
  }

  spin_mutex lock_;
};

void expect_fault(const verdict& found, const char* failure) {
  EXPECT_FALSE(found.passed);
  EXPECT_NE(found.failure.find(failure), std::string::npos) << found;
  EXPECT_NE(found.story.find("pp:"), std::string::npos) << found;
  std::cout << found;
}

// Schrimpf 2014, 3.1: who takes the lock for real does not abort a transaction that has not read
// it.
template <subscription When>
void add_beside_a_lock_holder() {
  handmade<When> lock;
  std::uint64_t sum = 0;
  at_once([&] { lock.section_under_lock([&] { ++sum; }); }, [&] { lock.section([&] { ++sum; }); });
  require(sum == 2, "an addition was lost");
}

TEST(KnownFaults, a_lock_left_out_of_the_read_set_is_found) {
  expect_fault(explore({}, add_beside_a_lock_holder<subscription::none>), "an addition was lost");
}

TEST(KnownFaults, a_lock_in_the_read_set_is_right) {
  const auto found = explore({.how = search::bounded, .schedules = 3000, .deviations = 2},
                             add_beside_a_lock_holder<subscription::early>);
  EXPECT_TRUE(found.passed) << found;
}

// Dice, Harris, Kogan, Lev, Moir, "Hardware extensions to make lazy subscription safe", 2014: a
// transaction that looks at the lock only at its end has run on what a holder has half written.
template <subscription When>
void read_what_a_holder_changes_in_two_steps() {
  handmade<When> lock;
  int first = 0;
  int second = 0;
  at_once(
      [&] {
        lock.section_under_lock([&] {
          first = 1;
          std::atomic_signal_fence(std::memory_order_seq_cst);
          second = 1;
        });
      },
      [&] { lock.section([&] { require(first == second, "a section saw half a change"); }); });
}

TEST(KnownFaults, a_lock_looked_at_too_late_is_found) {
  expect_fault(explore({}, read_what_a_holder_changes_in_two_steps<subscription::late>),
               "a section saw half a change");
}

TEST(KnownFaults, a_lock_looked_at_first_is_right) {
  const auto found = explore({.how = search::bounded, .schedules = 3000, .deviations = 2},
                             read_what_a_holder_changes_in_two_steps<subscription::early>);
  EXPECT_TRUE(found.passed) << found;
}

/// A condition variable that reads what it waits for after it has left the section.
class forgetful_condition {
 public:
  template <class Lock>
  void wait(Lock& lock) {
    lock.unlock();
    const std::uint32_t seen = epoch_.load();
    while (epoch_.load() == seen) parking::wait(epoch_, seen);
    lock.lock();
  }
  void notify_all() {
    ++epoch_;
    parking::wake(&epoch_, 1);
  }

 private:
  std::atomic<std::uint32_t> epoch_{0};
};

enum class notify { before_the_section, in_the_section, after_the_section };

/// One thread waits until the other is ready.
template <class Lock, class Condition, notify When>
void wait_until_ready() {
  Lock lock;
  Condition changed;
  bool ready = false;
  at_once(
      [&] {
        lock.lock();
        while (!ready) changed.wait(lock);
        lock.unlock();
      },
      [&] {
        if constexpr (When == notify::before_the_section) changed.notify_all();
        lock.lock();
        ready = true;
        if constexpr (When == notify::in_the_section) changed.notify_all(lock);
        lock.unlock();
        if constexpr (When == notify::after_the_section) changed.notify_all();
      });
}

TEST(KnownFaults, a_lost_wake_up_is_found) {
  expect_fault(
      explore({}, wait_until_ready<spin_mutex, forgetful_condition, notify::after_the_section>),
      "deadlock");
}

TEST(KnownFaults, the_condition_variable_loses_no_wake_up) {
  const auto found =
      explore({.schedules = 500},
              wait_until_ready<spin_mutex, condition_variable, notify::after_the_section>);
  EXPECT_TRUE(found.passed) << found;
}

// Nießing 2020, algorithm 3.3: the fallback of the transactional push exchanges the tail beside the
// latch, in two steps, and a transaction commits a push in between.
struct node {
  std::atomic<node*> next{nullptr};
};

class queue_with_unlatched_fallback {
 public:
  void push(node& last) {
    node* before;
    if (htm::begin().started()) {
      before = tail_;
      tail_ = &last;
      htm::commit();
    } else {
      before = tail_;
      std::atomic_signal_fence(std::memory_order_seq_cst);
      tail_ = &last;
    }
    before->next.store(&last);
  }
  unsigned size() const {
    unsigned count = 0;
    for (const node* at = stub_.next.load(); at != nullptr; at = at->next.load()) ++count;
    return count;
  }

 private:
  node stub_;
  node* tail_ = &stub_;
};

TEST(KnownFaults, a_push_beside_the_latch_is_found) {
  expect_fault(explore({.abort_share = 0.1},
                       [] {
                         queue_with_unlatched_fallback queue;
                         node a;
                         node b;
                         at_once([&] { queue.push(a); }, [&] { queue.push(b); });
                         require(queue.size() == 2, "a node was lost");
                       }),
               "a node was lost");
}

TEST(KnownFaults, the_queue_loses_nothing_when_its_transactions_abort) {
  const auto found = explore({.schedules = 500, .abort_share = 0.3}, [] {
    struct item : mpsc_hook {};
    intrusive_mpsc_queue<item> queue;
    item a;
    item b;
    at_once([&] { queue.push(a); }, [&] { queue.push(b); });
    unsigned count = 0;
    while (queue.try_pop() != nullptr) ++count;
    require(count == 2, "a node was lost");
  });
  EXPECT_TRUE(found.passed) << found;
}

// A notify that is heard before the section it belongs to has committed: the waiter finds nothing
// changed and goes to sleep again.
TEST(KnownFaults, a_notify_before_the_commit_is_found) {
  expect_fault(
      explore({},
              wait_until_ready<elided<spin_mutex>, condition_variable, notify::before_the_section>),
      "deadlock");
}

TEST(KnownFaults, a_notify_in_the_section_is_heard_after_its_commit) {
  const auto found =
      explore({.schedules = 500, .abort_share = 0.05},
              wait_until_ready<elided<spin_mutex>, condition_variable, notify::in_the_section>);
  EXPECT_TRUE(found.passed) << found;
}

}  // namespace
}  // namespace unlatch::lab
