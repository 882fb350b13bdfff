// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "speculating_lock.hpp"
#include "unlatch/mutex.hpp"

namespace unlatch::testing {
namespace {

using statistics::counter;

class Elide : public ::testing::Test {
 protected:
  Elide() {
    warm_up(lock);
    statistics::reset();
  }

  speculating_lock lock{"elide test"};
  disturb_once disturbance{lock};
  std::uint64_t x = 1;
  std::uint64_t y = 2;
};

/// Counts the objects of its kind that live.
struct tracked {
  explicit tracked(int& living) : living(living) { ++living; }
  ~tracked() { --living; }
  tracked(const tracked&) = delete;
  tracked& operator=(const tracked&) = delete;
  int& living;
};

TEST_F(Elide, returns_what_the_body_returns) {
  EXPECT_EQ(elide(lock, [&](auto& tx) { return tx.read(x) + tx.read(y); }), 3u);
  EXPECT_EQ(total(counter::software_committed), 1u);
}

TEST_F(Elide, returns_values_that_can_only_be_moved) {
  auto result = elide(lock, [&](auto& tx) { return std::make_unique<std::uint64_t>(tx.read(x)); });
  EXPECT_EQ(*result, 1u);
}

TEST_F(Elide, takes_the_lock_at_the_first_write_and_not_before) {
  bool free_before = false, free_after = true;
  elide(lock, [&](auto& tx) {
    tx.read(x);
    free_before = lock.is_free();
    tx.write(x, 7);
    free_after = lock.is_free();
  });
  EXPECT_TRUE(free_before);
  EXPECT_FALSE(free_after);
  EXPECT_TRUE(lock.is_free());
  EXPECT_EQ(x, 7u);
}

TEST_F(Elide, runs_again_when_a_writer_came_between_two_reads) {
  int runs = 0;
  elide(lock, [&](auto& tx) {
    ++runs;
    tx.read(x);
    disturbance();
    return tx.read(y);
  });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(total(counter::software_aborted), 1u);
  EXPECT_EQ(total(counter::software_committed), 1u);
}

TEST_F(Elide, runs_again_when_a_writer_came_between_a_read_and_the_first_write) {
  int runs = 0;
  elide(lock, [&](auto& tx) {
    ++runs;
    const auto seen = tx.read(x);
    disturbance();
    tx.write(x, seen + 1);
  });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(x, 2u);
}

TEST_F(Elide, takes_the_lock_after_repeated_aborts) {
  elide(lock, [&](auto& tx) {
    if (lock.is_free()) disturb(lock);
    return tx.read(x);
  });
  EXPECT_EQ(total(counter::fallbacks), 1u);
  EXPECT_EQ(total(counter::sections) - total(counter::software_committed), 5u)
      << "four disturbing sections and the one under the lock";
}

TEST_F(Elide, destroys_the_objects_that_an_aborted_body_holds) {
  int living = 0;
  int runs = 0;
  elide(lock, [&](auto& tx) {
    const tracked object(living);
    const std::string text(100, static_cast<char>('a' + runs++));
    disturbance();
    tx.read(x);
    return text;
  });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(living, 0);
}

template <class Tx>
[[gnu::noinline]] std::uint64_t read_in_a_frame_with_an_object(Tx& tx, std::uint64_t& x,
                                                               int& living) {
  const tracked object(living);
  return tx.read(x);
}

TEST_F(Elide, destroys_the_objects_in_functions_that_the_body_calls) {
  int living = 0;
  elide(lock, [&](auto& tx) {
    disturbance();
    return read_in_a_frame_with_an_object(tx, x, living);
  });
  EXPECT_EQ(total(counter::software_aborted), 1u);
  EXPECT_EQ(living, 0);
}

TEST_F(Elide, aborts_a_body_that_swallows_all_exceptions) {
  int runs = 0, swallowed = 0;
  const auto result = elide(lock, [&](auto& tx) -> std::uint64_t {
    ++runs;
    try {
      disturbance();
      return tx.read(x);
    } catch (...) {
      ++swallowed;
      return 99;
    }
  });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(swallowed, 1);
  EXPECT_EQ(result, 1u);
}

TEST_F(Elide, lets_an_exception_of_the_body_out_and_keeps_what_was_done) {
  EXPECT_THROW(elide(lock,
                     [&](auto& tx) {
                       tx.write(x, 5);
                       throw std::runtime_error("out");
                     }),
               std::runtime_error);
  EXPECT_EQ(x, 5u);
  EXPECT_TRUE(lock.is_free());
  EXPECT_EQ(lock.sequence() % 2, 0u);
}

TEST_F(Elide, frees_what_an_aborted_attempt_allocated) {
  int living = 0;
  tracked* kept = nullptr;
  elide(lock, [&](auto& tx) {
    kept = tx.template allocate<tracked>(living);
    disturbance();
    tx.read(x);
  });
  EXPECT_EQ(living, 1);
  delete kept;
}

TEST_F(Elide, allocates_more_objects_than_it_can_undo_by_taking_the_lock) {
  int living = 0;
  std::vector<tracked*> kept;
  bool free_at_the_end = true;
  elide(lock, [&](auto& tx) {
    kept.clear();
    for (int i = 0; i < 20; ++i) kept.push_back(tx.template allocate<tracked>(living));
    free_at_the_end = lock.is_free();
  });
  EXPECT_FALSE(free_at_the_end);
  EXPECT_EQ(living, 20);
  for (tracked* object : kept) delete object;
}

TEST_F(Elide, runs_deferred_actions_in_order_after_the_section) {
  std::vector<int> order;
  elide(lock, [&](auto& tx) {
    tx.write(x, 3);
    tx.on_commit([&] { order.push_back(lock.is_free() ? 1 : -1); });
    tx.on_commit([&] { order.push_back(2); });
    order.push_back(0);
  });
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

TEST_F(Elide, forgets_the_deferred_actions_of_an_aborted_attempt) {
  int ran = 0;
  elide(lock, [&](auto& tx) {
    tx.on_commit([&ran] { ++ran; });
    tx.on_commit([&ran, big = std::string(100, 'x')] { ran += static_cast<int>(big.size()); });
    disturbance();
    tx.read(x);
  });
  EXPECT_EQ(ran, 101);
}

TEST_F(Elide, runs_deferred_actions_of_a_body_that_throws) {
  bool ran = false;
  EXPECT_THROW(elide(lock,
                     [&](auto& tx) {
                       tx.on_commit([&ran] { ran = true; });
                       throw 1;
                     }),
               int);
  EXPECT_TRUE(ran);
}

struct wide {
  std::array<std::uint32_t, 5> words;
  friend bool operator==(const wide&, const wide&) = default;
};

TEST_F(Elide, moves_fields_of_any_size) {
  wide w{{1, 2, 3, 4, 5}};
  std::uint8_t small = 1;
  double real = 0.5;
  elide(lock, [&](auto& tx) {
    wide copy = tx.read(w);
    copy.words[4] = 9;
    tx.write(w, copy);
    tx.write(small, static_cast<std::uint8_t>(tx.read(small) + 1));
    tx.write(real, tx.read(real) * 3);
  });
  EXPECT_EQ(w, (wide{{1, 2, 3, 4, 9}}));
  EXPECT_EQ(small, 2);
  EXPECT_EQ(real, 1.5);
}

TEST_F(Elide, does_not_speculate_with_a_policy_that_forbids_it) {
  elided<spin_mutex, policy::fixed<0>, htm::none> plain("plain");
  for (int i = 0; i < 1000; ++i) elide(plain, [&](auto& tx) { return tx.read(x); });
  EXPECT_EQ(total(counter::software_started), 0u);
  EXPECT_EQ(total(counter::sections), 1000u);
}

TEST_F(Elide, counts_each_call_site_apart) {
  for (int i = 0; i < 3; ++i) elide(lock, [&](auto& tx) { return tx.read(x); });
  for (int i = 0; i < 4; ++i) elide(lock, [&](auto& tx) { return tx.read(y); });
  const auto rows = statistics::snapshot().rows;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0][counter::sections] + rows[1][counter::sections], 7u);
  EXPECT_NE(rows[0].site, rows[1].site);
  EXPECT_NE(rows[0].site.find("elide_test.cpp:"), std::string::npos);
}

TEST(ElideByName, leaves_what_a_named_closure_keeps_in_itself) {
  elided<mutex> one("one of two names");
  elided<mutex> other("the other name");
  int kept = 0;
  auto counting = [kept](auto&) mutable { return ++kept; };
  int last = 0;
  // The call site meets another lock than the last time at each call, so it looks again.
  for (int i = 0; i < 100; ++i) last = elide(i % 2 == 0 ? one : other, counting);
  EXPECT_EQ(last, 100);
}

}  // namespace
}  // namespace unlatch::testing
