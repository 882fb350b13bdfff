// SPDX-License-Identifier: Apache-2.0
//
// What runs under the lock. All peers of a cell work on the same data, one after the other, so that
// no one's lies better in memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/harness/workers.hpp"
#include "studies/random.hpp"
#include "unlatch/structures/hash_map.hpp"
#include "unlatch/structures/plain_tx.hpp"
#include "unlatch/structures/red_black_tree.hpp"

namespace unlatch::bench {

inline constexpr std::uint64_t seed = 20;

using hash_table = basic_hash_map<std::uint64_t, std::uint64_t>;
using tree = basic_red_black_tree<std::uint64_t, std::uint64_t>;

/// Keeps the compiler from leaving out what computes `value`.
inline void use(std::uint64_t value) { asm volatile("" : : "r"(value)); }

/// Lookups, and inserts and erases in equal parts, of keys below `keys`: so about half of them are
/// there.
template <class Map, class Sections>
work map_work(std::shared_ptr<Map> map, std::shared_ptr<Sections> sections, std::uint64_t keys,
              std::uint64_t reads_percent) {
  return [=](unsigned thread, const window_state& window) {
    studies::random_numbers random(seed, thread);
    Map& m = *map;
    Sections& s = *sections;
    std::uint64_t found = 0;
    const auto counted = repeat(window, [&] {
      const std::uint64_t key = random.below(keys);
      const std::uint64_t dice = random.below(200);
      if (dice < 2 * reads_percent)
        found += s.read([&m, key](auto& tx) { return m.find(tx, key).value_or(0); });
      else if (dice % 2 == 0)
        found += s.update([&m, key](auto& tx) { return m.insert(tx, key, key); });
      else
        found += s.update([&m, key](auto& tx) { return m.erase(tx, key); });
    });
    use(found);
    return counted;
  };
}

/// Half of the keys below `keys`, in random order.
template <class Map>
void fill(Map& map, std::uint64_t keys) {
  studies::random_numbers random(seed, 0);
  plain_tx tx;
  for (std::uint64_t there = 0; there < keys / 2;)
    if (const auto key = random.below(keys); map.insert(tx, key, key)) ++there;
}

/// Accounts under one lock (Schrimpf 2014, chapter 3). The sum never changes.
struct bank {
  static constexpr std::size_t touched = 10;
  static constexpr std::uint64_t opening_balance = 1000;
  using choice = std::array<std::uint32_t, touched>;

  explicit bank(std::size_t accounts) : balances(accounts, opening_balance) {}

  std::vector<std::uint64_t> balances;

  /// Five transfers of one unit, where there is one to move.
  template <class Tx>
  std::uint64_t transfer(Tx& tx, const choice& chosen) {
    std::uint64_t moved = 0;
    for (std::size_t i = 0; i < touched; i += 2) {
      const auto from = tx.read(balances[chosen[i]]);
      if (from == 0) continue;
      tx.write(balances[chosen[i]], from - 1);
      tx.write(balances[chosen[i + 1]], tx.read(balances[chosen[i + 1]]) + 1);
      ++moved;
    }
    return moved;
  }

  template <class Tx>
  std::uint64_t sum(Tx& tx, const choice& chosen) const {
    std::uint64_t total = 0;
    for (const auto account : chosen) total += tx.read(balances[account]);
    return total;
  }
};

template <class Sections>
work bank_work(std::shared_ptr<bank> accounts, std::shared_ptr<Sections> sections,
               std::uint64_t sums_percent) {
  return [=](unsigned thread, const window_state& window) {
    studies::random_numbers random(seed, thread);
    bank& b = *accounts;
    Sections& s = *sections;
    std::uint64_t seen = 0;
    const auto counted = repeat(window, [&] {
      bank::choice chosen;
      for (auto& account : chosen)
        account = static_cast<std::uint32_t>(random.below(b.balances.size()));
      if (random.below(100) < sums_percent)
        seen += s.read([&](auto& tx) { return b.sum(tx, chosen); });
      else
        seen += s.update([&](auto& tx) { return b.transfer(tx, chosen); });
    });
    use(seen);
    return counted;
  };
}

}  // namespace unlatch::bench
