// SPDX-License-Identifier: Apache-2.0
//
// zipfian: ranks that follow Zipf's law, rank r with probability proportional to 1 /
// (r+1)^constant, in constant time a draw.
//
// Source: J. Gray, P. Sundaresan, S. Englert, K. Baclawski, P. Weinberger, "Quickly Generating
// Billion-Record Synthetic Databases", SIGMOD 1994, section 5. Ranks 0 and 1 are drawn with exactly
// their probabilities; the others by inverting a continuous approximation of the distribution
// function, which is nowhere further than 2 % from it. YCSB draws in this way.
#pragma once

#include <cstdint>

#include "systems/leveldb/ycsb/random.hpp"

namespace unlatch::ycsb {

/// The sum of 1 / i^constant for i in (first, last]: zeta(last) - zeta(first). Cost: one pow() a
/// term.
[[nodiscard]] double zeta(std::uint64_t first, std::uint64_t last, double constant);

/// FNV-1 style hash of a number's eight bytes, lowest first, as YCSB scatters keys with it: the
/// absolute value of the 64-bit hash read as a signed number.
[[nodiscard]] std::uint64_t fnv_hash(std::uint64_t value) noexcept;

class zipfian {
 public:
  static constexpr double standard_constant = 0.99;

  /// Ranks below `items`, which is at least 1; `constant` in (0, 1). Cost: O(items).
  explicit zipfian(std::uint64_t items, double constant = standard_constant);
  /// The same where zeta(items) is known already. Cost: O(1).
  zipfian(std::uint64_t items, double constant, double zeta_of_items);

  /// A rank in [0, items()); 0 is the most frequent one.
  [[nodiscard]] std::uint64_t operator()(random_engine& random) const {
    return rank_of(uniform_real(random));
  }

  /// The rank at `u` in [0, 1): the inverse of the distribution function that is drawn from.
  [[nodiscard]] std::uint64_t rank_of(double u) const;

  /// Extends the range to `items`, if that is more than it has. Cost: O(the ranks added).
  void grow(std::uint64_t items);

  [[nodiscard]] std::uint64_t items() const noexcept { return items_; }

 private:
  void derive();

  std::uint64_t items_;
  double constant_;
  double zeta_;
  double alpha_ = 0;
  double eta_ = 0;
};

}  // namespace unlatch::ycsb
