// SPDX-License-Identifier: Apache-2.0
//
// Which record an operation goes to, and how many it scans: YCSB's choosers. A chooser belongs to
// one thread; copy one for each, because making one may cost a sum over all keys.
//
// Source: Cooper et al., SoCC 2010, section 4.1, for the distributions.
#pragma once

#include <cstdint>
#include <variant>

#include "systems/leveldb/ycsb/random.hpp"
#include "systems/leveldb/ycsb/workload.hpp"
#include "systems/leveldb/ycsb/zipfian.hpp"

namespace unlatch::ycsb {

/// A Zipf distribution whose popular items lie scattered over the range: the rank, drawn from ten
/// thousand million, is hashed into it. So adding items does not change which ones are popular.
class scrambled_zipfian {
 public:
  static constexpr std::uint64_t ranks = 10'000'000'000;
  static constexpr double zeta_of_ranks = 26.46902820178302;

  /// Items below `items`, which is at least 1.
  explicit scrambled_zipfian(std::uint64_t items);
  [[nodiscard]] std::uint64_t operator()(random_engine& random) const;

 private:
  std::uint64_t items_;
  zipfian rank_;
};

/// The number of a key that is in the database, by the workload's request distribution.
class key_chooser {
 public:
  /// Cost: O(records) for `latest`, else O(1).
  explicit key_chooser(const workload& described);

  /// A key number in [the workload's insert_start, newest]. `newest` is the highest number such
  /// that all up to it are in the database; it never decreases.
  [[nodiscard]] std::uint64_t operator()(random_engine& random, std::uint64_t newest);

 private:
  struct uniform {};
  struct hotspot {
    double operations;
    double keys;
  };
  std::uint64_t first_;
  std::variant<uniform, scrambled_zipfian, zipfian, hotspot> distribution_;
};

/// Lengths of scans and of fields.
class length_chooser {
 public:
  /// Cost: O(range.most) for zipfian, else O(1).
  explicit length_chooser(const length_range& range);
  [[nodiscard]] std::uint64_t operator()(random_engine& random) const;

 private:
  length_range range_;
  zipfian zipfian_;
};

}  // namespace unlatch::ycsb
