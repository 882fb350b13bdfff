// SPDX-License-Identifier: Apache-2.0
#include "systems/leveldb/ycsb/zipfian.hpp"

#include <algorithm>
#include <cmath>

namespace unlatch::ycsb {

double zeta(std::uint64_t first, std::uint64_t last, double constant) {
  // Smallest terms first would be more exact, but the sum must grow at its small end.
  double sum = 0;
  for (std::uint64_t i = first + 1; i <= last; ++i) {
    sum += std::pow(static_cast<double>(i), -constant);
  }
  return sum;
}

std::uint64_t fnv_hash(std::uint64_t value) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (int byte = 0; byte < 8; ++byte, value >>= 8) {
    hash = (hash ^ (value & 0xff)) * 0x100000001b3;
  }
  return hash >> 63 ? -hash : hash;
}

zipfian::zipfian(std::uint64_t items, double constant)
    : zipfian(items, constant, zeta(0, items, constant)) {}

zipfian::zipfian(std::uint64_t items, double constant, double zeta_of_items)
    : items_(items), constant_(constant), zeta_(zeta_of_items) {
  derive();
}

void zipfian::derive() {
  const double zeta_of_two = 1 + std::pow(0.5, constant_);
  alpha_ = 1 / (1 - constant_);
  eta_ =
      (1 - std::pow(2.0 / static_cast<double>(items_), 1 - constant_)) / (1 - zeta_of_two / zeta_);
}

std::uint64_t zipfian::rank_of(double u) const {
  const double uz = u * zeta_;
  if (uz < 1 || items_ == 1) return 0;
  if (uz < 1 + std::pow(0.5, constant_) || items_ == 2) return 1;
  const double rank = static_cast<double>(items_) * std::pow(eta_ * u - eta_ + 1, alpha_);
  // Rounding may reach items_ for the largest u.
  return std::min(static_cast<std::uint64_t>(rank), items_ - 1);
}

void zipfian::grow(std::uint64_t items) {
  if (items <= items_) return;
  zeta_ += zeta(items_, items, constant_);
  items_ = items;
  derive();
}

}  // namespace unlatch::ycsb
