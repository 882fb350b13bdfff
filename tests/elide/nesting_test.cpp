// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "speculating_lock.hpp"

namespace unlatch::testing {
namespace {

class NestedElide : public ::testing::Test {
 protected:
  NestedElide() {
    warm_up(outer);
    warm_up(inner);
    statistics::reset();
  }

  speculating_lock outer{"outer"};
  speculating_lock inner{"inner"};
  std::uint64_t x = 1;
  std::uint64_t y = 1;
};

TEST_F(NestedElide, takes_the_outer_lock_before_the_inner_section) {
  bool outer_free = true;
  elide(outer, [&](auto& tx) {
    tx.read(x);
    elide(inner, [&](auto& nested) {
      outer_free = outer.is_free();
      nested.write(y, 2);
    });
  });
  EXPECT_FALSE(outer_free);
  EXPECT_EQ(y, 2u);
  EXPECT_TRUE(outer.is_free());
  EXPECT_TRUE(inner.is_free());
}

TEST_F(NestedElide, runs_the_inner_section_once_when_the_outer_one_aborts) {
  disturb_once disturbance(outer);
  elide(outer, [&](auto& tx) {
    tx.read(x);
    disturbance();
    elide(inner, [&](auto& nested) { nested.write(y, nested.read(y) + 1); });
  });
  EXPECT_EQ(y, 2u);
}

TEST_F(NestedElide, runs_deferred_actions_of_both_after_the_outermost) {
  std::vector<int> order;
  elide(outer, [&](auto& tx) {
    tx.on_commit([&] { order.push_back(outer.is_free() && inner.is_free() ? 1 : -1); });
    elide(inner, [&](auto& nested) { nested.on_commit([&] { order.push_back(2); }); });
    order.push_back(0);
  });
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

TEST_F(NestedElide, lets_a_deferred_action_enter_sections_and_defer_again) {
  std::vector<int> order;
  elide(outer, [&](auto& tx) {
    tx.on_commit([&] {
      order.push_back(1);
      elide(outer, [&](auto& again) {
        again.on_commit([&] { order.push_back(3); });
        order.push_back(2);
      });
    });
    tx.on_commit([&] { order.push_back(4); });
  });
  // The action's own section is outermost: what it put off runs at its end, behind what waits
  // already.
  EXPECT_EQ(order, (std::vector<int>{1, 2, 4, 3}));
}

#if UNLATCH_CHECKED
TEST_F(NestedElide, reports_a_guard_inside_a_closure_that_may_still_abort) {
  EXPECT_DEATH(elide(outer,
                     [&](auto& tx) {
                       const std::scoped_lock guard(inner);
                       return tx.read(x);
                     }),
               "inside a closure that may still abort");
}
#endif

}  // namespace
}  // namespace unlatch::testing
