// SPDX-License-Identifier: Apache-2.0
//
// Whether drawn numbers follow a distribution. A test that uses this fails wrongly less than once
// in a hundred thousand runs.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace unlatch::testing {

/// A new seed each run, printed so that a failure can be repeated.
inline std::uint64_t new_seed() {
  const std::uint64_t seed = std::random_device{}();
  std::printf("seed %lu\n", static_cast<unsigned long>(seed));
  return seed;
}

/// Pearson's chi-square test of counts against probabilities. Classes in which fewer than ten are
/// expected are put together.
inline ::testing::AssertionResult follows(const std::vector<std::uint64_t>& counts,
                                          const std::vector<double>& probabilities) {
  double total = 0;
  for (const std::uint64_t count : counts) total += static_cast<double>(count);
  double chi_square = 0;
  double classes = 0;
  double expected = 0;
  double observed = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    expected += probabilities[i] * total;
    observed += static_cast<double>(counts[i]);
    if (expected < 10 && i + 1 < counts.size()) continue;
    if (expected > 0) {
      chi_square += (observed - expected) * (observed - expected) / expected;
      ++classes;
    } else if (observed > 0) {
      return ::testing::AssertionFailure() << "drew what has probability 0";
    }
    expected = observed = 0;
  }
  // The chi-square distribution's upper quantile at one in a million (Wilson and Hilferty 1931).
  constexpr double normal_quantile = 4.7534;
  const double degrees = classes - 1;
  const double spread = 2 / (9 * degrees);
  const double limit = degrees * std::pow(1 - spread + normal_quantile * std::sqrt(spread), 3);
  if (chi_square <= limit) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "chi-square " << chi_square << " exceeds " << limit
                                       << " with " << degrees << " degrees of freedom";
}

/// Zipf's law over `items` ranks.
inline std::vector<double> zipf_law(std::size_t items, double constant) {
  std::vector<double> law(items);
  double sum = 0;
  for (std::size_t i = 0; i < items; ++i) {
    sum += law[i] = std::pow(static_cast<double>(i + 1), -constant);
  }
  for (double& probability : law) probability /= sum;
  return law;
}

}  // namespace unlatch::testing
