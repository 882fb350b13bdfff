// SPDX-License-Identifier: Apache-2.0
//
// workload: what YCSB's core workload does, as its properties say: which operations in which
// proportions, on which keys, with records of what size.
//
// Source: B. F. Cooper, A. Silberstein, E. Tam, R. Ramakrishnan, R. Sears, "Benchmarking Cloud
// Serving Systems with YCSB", SoCC 2010, section 4; property names and defaults are YCSB's.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "systems/leveldb/ycsb/properties.hpp"
#include "systems/leveldb/ycsb/random.hpp"

namespace unlatch::ycsb {

enum class operation : std::uint8_t { read, update, insert, scan, read_modify_write };
inline constexpr std::size_t operations = 5;
inline constexpr std::array<std::string_view, operations> operation_names = {
    "read", "update", "insert", "scan", "read_modify_write"};

enum class request_distribution : std::uint8_t { uniform, zipfian, latest, hotspot };
enum class length_distribution : std::uint8_t { constant, uniform, zipfian };

/// Lengths from `least` to `most`.
struct length_range {
  std::uint64_t least;
  std::uint64_t most;
  length_distribution distribution;
};

struct workload {
  /// Keys insert_start to insert_start + insert_count - 1 are inserted by the load phase.
  std::uint64_t insert_start;
  std::uint64_t insert_count;
  /// Records in the database when the run phase begins.
  std::uint64_t record_count;
  std::uint64_t operation_count;
  /// Cumulative shares of the operations, in their order; the last one is 1.
  std::array<double, operations> shares;
  request_distribution requests;
  /// With hotspot requests: this share of the operations goes to this share of the keys.
  double hotspot_operations;
  double hotspot_keys;
  length_range scan;
  length_range field;
  std::uint64_t field_count;
  /// Whether an update replaces all fields of a record, or one.
  bool write_all_fields;
  /// Whether keys are in the order of their numbers, or scattered by a hash.
  bool ordered_inserts;
  /// Digits that a key's number is padded to with zeros.
  std::uint64_t zero_padding;

  /// Reads the workload from its properties. Throws property_error for what is malformed,
  /// contradictory, or unknown.
  [[nodiscard]] static workload from(const properties& settings);

  [[nodiscard]] operation next_operation(random_engine& random) const;
};

}  // namespace unlatch::ycsb
