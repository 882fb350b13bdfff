// SPDX-License-Identifier: Apache-2.0
//
// Keys and records as LevelDB stores them. A record is the concatenation of its fields, each
// preceded by its length in four bytes, lowest first; a field is known by its position.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "systems/leveldb/ycsb/key_chooser.hpp"
#include "systems/leveldb/ycsb/workload.hpp"

namespace unlatch::ycsb {

/// The key of this number: "user" and the number, hashed unless the workload inserts in order.
[[nodiscard]] std::string key_name(const workload& described, std::uint64_t number);

/// Makes records with random printable contents. Each thread has its own.
class record_builder {
 public:
  explicit record_builder(const workload& described);

  /// A new record with all its fields.
  [[nodiscard]] std::string record(random_engine& random) const;

  /// Replaces one field, chosen at random, in a record that record() made; or all of them, if the
  /// workload says so. Throws std::invalid_argument if `record` is not one.
  void update(std::string& record, random_engine& random) const;

 private:
  void append_field(std::string& record, random_engine& random) const;

  std::uint64_t fields_;
  bool write_all_;
  length_chooser length_;
};

}  // namespace unlatch::ycsb
