// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "speculating_lock.hpp"
#include "unlatch/mutex.hpp"

namespace unlatch {
namespace {

/// A closed bank: transfers by closures and by guards, sums by closures; money is conserved in
/// every sum.
template <class Lock>
class ElideUnderLoad : public ::testing::Test {};

using locks =
    ::testing::Types<testing::speculating_lock, elided<spin_mutex>, elided<mutex>,
                     elided<mutex, policy::always_software>, elided<mutex, policy::fixed<0>>>;
TYPED_TEST_SUITE(ElideUnderLoad, locks);

TYPED_TEST(ElideUnderLoad, every_sum_over_a_closed_bank_is_the_same) {
  constexpr std::uint64_t accounts = 16, each = 1000;
  constexpr int threads = 4, operations = 20'000;
  TypeParam lock("bank");
  std::array<std::uint64_t, accounts> balance;
  balance.fill(each);
  std::atomic<int> wrong_sums{0};
  const auto seed = std::random_device{}();
  std::printf("seed %u\n", seed);

  const auto work = [&](unsigned thread) {
    std::minstd_rand random(seed + thread);
    for (int i = 0; i < operations; ++i) {
      const auto kind = random() % 4;
      auto& from = balance[random() % accounts];
      auto& to = balance[random() % accounts];
      if (kind == 0) {
        elide(lock, [&](auto& tx) {
          if (tx.read(from) == 0) return;
          tx.write(from, tx.read(from) - 1);
          tx.write(to, tx.read(to) + 1);
        });
      } else if (kind == 1) {
        const std::scoped_lock guard(lock);
        if (from == 0) continue;
        write_shared(from, from - 1);
        write_shared(to, to + 1);
      } else {
        const auto sum = elide(lock, [&](auto& tx) {
          std::uint64_t s = 0;
          for (const auto& b : balance) s += tx.read(b);
          return s;
        });
        wrong_sums += sum != accounts * each;
      }
    }
  };
  std::vector<std::thread> team;
  for (unsigned t = 0; t < threads; ++t) team.emplace_back(work, t);
  for (auto& t : team) t.join();
  EXPECT_EQ(wrong_sums, 0);
}

}  // namespace
}  // namespace unlatch
