// SPDX-License-Identifier: Apache-2.0
#include "unlatch/structures/counter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <vector>

#include "unlatch/mutex.hpp"
#include "unlatch/structures/plain_tx.hpp"
#include "unlatch/ticket_mutex.hpp"

namespace unlatch {
namespace {

TEST(Counter, wraps_around_if_it_is_unsigned) {
  basic_counter<std::uint8_t> number(250);
  plain_tx tx;
  EXPECT_EQ(number.add(tx, 10), 250);
  EXPECT_EQ(number.value(tx), 4);
}

TEST(Counter, counts_down_if_it_is_signed) {
  counter<std::int64_t> number(5);
  EXPECT_EQ(number.add(-7), 5);
  EXPECT_EQ(number.value(), -2);
}

TEST(Counter, lies_on_the_cache_lines_of_its_lock_alone) {
  EXPECT_EQ(alignof(counter<>), cache_line);
  EXPECT_EQ(sizeof(counter<>), cache_line);
}

template <class Lock>
class CounterUnderLoad : public ::testing::Test {};
using locks = ::testing::Types<elided<spin_mutex, policy::always_software, htm::none>,
                               elided<spin_mutex>, elided<mutex>, elided<ticket_mutex>>;
TYPED_TEST_SUITE(CounterUnderLoad, locks);

TYPED_TEST(CounterUnderLoad, gives_every_number_to_one_add) {
  constexpr unsigned threads = 4, each = 5000;
  counter<std::uint64_t, TypeParam> number;
  std::vector<std::vector<std::uint64_t>> seen(threads);
  std::vector<std::thread> running;
  for (auto& own : seen)
    running.emplace_back([&] {
      for (unsigned i = 0; i < each; ++i) {
        own.push_back(number.add());
        if (number.value() <= own.back()) own.push_back(0);  // must not happen; is a duplicate
      }
    });
  for (auto& r : running) r.join();
  std::vector<std::uint64_t> all;
  for (const auto& own : seen) all.insert(all.end(), own.begin(), own.end());
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), std::size_t{threads} * each);
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i);
  EXPECT_EQ(number.value(), all.size());
}

}  // namespace
}  // namespace unlatch
