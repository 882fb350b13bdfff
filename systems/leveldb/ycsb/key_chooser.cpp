// SPDX-License-Identifier: Apache-2.0
#include "systems/leveldb/ycsb/key_chooser.hpp"

#include <algorithm>
#include <cmath>

namespace unlatch::ycsb {
namespace {

/// Keys that a zipfian choice is spread over: those there are and those that the run may add, as
/// YCSB reckons them. A choice that is not there yet is drawn again.
std::uint64_t expected_keys(const workload& described) {
  const double inserting = described.shares[static_cast<std::size_t>(operation::insert)] -
                           described.shares[static_cast<std::size_t>(operation::update)];
  const double added = 2 * inserting * static_cast<double>(described.operation_count);
  return described.record_count - described.insert_start +
         static_cast<std::uint64_t>(std::lround(added));
}

template <class... Functions>
struct overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
overloaded(Functions...) -> overloaded<Functions...>;

}  // namespace

scrambled_zipfian::scrambled_zipfian(std::uint64_t items)
    : items_(items), rank_(ranks, zipfian::standard_constant, zeta_of_ranks) {}

std::uint64_t scrambled_zipfian::operator()(random_engine& random) const {
  return fnv_hash(rank_(random)) % items_;
}

key_chooser::key_chooser(const workload& described) : first_(described.insert_start) {
  switch (described.requests) {
    case request_distribution::uniform:
      distribution_ = uniform{};
      break;
    case request_distribution::zipfian:
      distribution_ = scrambled_zipfian(expected_keys(described));
      break;
    case request_distribution::latest:
      distribution_ = zipfian(described.record_count - described.insert_start);
      break;
    case request_distribution::hotspot:
      distribution_ = hotspot{described.hotspot_operations, described.hotspot_keys};
      break;
  }
}

std::uint64_t key_chooser::operator()(random_engine& random, std::uint64_t newest) {
  const std::uint64_t keys = newest - first_ + 1;
  const auto choose = overloaded{[&](const uniform&) { return uniform_below(random, keys); },
                                 [&](const scrambled_zipfian& scrambled) {
                                   std::uint64_t chosen;
                                   do chosen = scrambled(random);
                                   while (chosen >= keys);
                                   return chosen;
                                 },
                                 [&](zipfian& age) {
                                   age.grow(keys);
                                   return keys - 1 - age(random);
                                 },
                                 [&](const hotspot& hot) {
                                   const auto hot_keys = std::clamp<std::uint64_t>(
                                       std::llround(hot.keys * static_cast<double>(keys)), 1, keys);
                                   if (hot_keys == keys || uniform_real(random) < hot.operations) {
                                     return uniform_below(random, hot_keys);
                                   }
                                   return hot_keys + uniform_below(random, keys - hot_keys);
                                 }};
  return first_ + std::visit(choose, distribution_);
}

length_chooser::length_chooser(const length_range& range)
    : range_(range),
      zipfian_(range.distribution == length_distribution::zipfian ? range.most - range.least + 1
                                                                  : 1) {}

std::uint64_t length_chooser::operator()(random_engine& random) const {
  switch (range_.distribution) {
    case length_distribution::constant:
      return range_.most;
    case length_distribution::uniform:
      return range_.least + uniform_below(random, range_.most - range_.least + 1);
    case length_distribution::zipfian:
      return range_.least + zipfian_(random);
  }
  return range_.most;
}

}  // namespace unlatch::ycsb
