// SPDX-License-Identifier: Apache-2.0
//
// latency_histogram: durations counted in buckets whose width grows with the duration: exact below
// 64 nanoseconds, within 1/32 of the value above. 15 KiB, no allocation, a few nanoseconds a
// record.
//
// Source: the bucket layout of G. Tene's HdrHistogram.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace unlatch::ycsb {

/// Not safe for threads: each has its own, and they are merged afterwards.
class latency_histogram {
 public:
  void record(std::uint64_t nanoseconds) {
    ++buckets_[bucket_of(nanoseconds)];
    ++count_;
    longest_ = std::max(longest_, nanoseconds);
  }

  void merge(const latency_histogram& other) {
    for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    longest_ = std::max(longest_, other.longest_);
  }

  std::uint64_t count() const { return count_; }
  /// The longest duration, exact; 0 if there is none.
  std::uint64_t longest() const { return longest_; }

  /// The least duration in nanoseconds, rounded up to its bucket's end, that `share` (0 to 1) of
  /// those recorded do not exceed; 0 if none is recorded.
  std::uint64_t percentile(double share) const {
    const double wanted = share * static_cast<double>(count_);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      seen += buckets_[i];
      if (seen != 0 && static_cast<double>(seen) >= wanted) return std::min(end_of(i), longest_);
    }
    return longest_;
  }

 private:
  // Bucket b of the first 64 holds the value b. From there on every power of two has 32 buckets.
  static constexpr unsigned exact_bits = 6;
  static constexpr unsigned half = 1u << (exact_bits - 1);

  static std::size_t bucket_of(std::uint64_t value) {
    if (value < 2 * half) return value;
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - exact_bits;
    return shift * half + (value >> shift);
  }

  static std::uint64_t end_of(std::size_t bucket) {
    if (bucket < 2 * half) return bucket;
    const std::size_t shift = bucket / half - 1;
    return (((bucket - shift * half) + 1) << shift) - 1;
  }

  std::array<std::uint64_t, (64 - exact_bits + 2) * half> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t longest_ = 0;
};

}  // namespace unlatch::ycsb
