// SPDX-License-Identifier: Apache-2.0
#include "systems/leveldb/ycsb/record.hpp"

#include <stdexcept>

namespace unlatch::ycsb {
namespace {

constexpr std::size_t length_bytes = 4;

void append_length(std::string& record, std::uint64_t length) {
  for (std::size_t i = 0; i < length_bytes; ++i) {
    record.push_back(static_cast<char>(length >> 8 * i));
  }
}

/// The bytes that the field at `position` takes, its length included.
std::size_t field_size(std::string_view record, std::size_t position) {
  if (record.size() < position + length_bytes) {
    throw std::invalid_argument(
        "a record ends within a field: the database is not this workload's");
  }
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= std::size_t{static_cast<unsigned char>(record[position + i])} << 8 * i;
  }
  return length_bytes + length;
}

}  // namespace

std::string key_name(const workload& described, std::uint64_t number) {
  const std::string digits = std::to_string(described.ordered_inserts ? number : fnv_hash(number));
  std::string name = "user";
  if (digits.size() < described.zero_padding) {
    name.append(described.zero_padding - digits.size(), '0');
  }
  return name + digits;
}

record_builder::record_builder(const workload& described)
    : fields_(described.field_count),
      write_all_(described.write_all_fields),
      length_(described.field) {}

void record_builder::append_field(std::string& record, random_engine& random) const {
  const std::uint64_t length = length_(random);
  append_length(record, length);
  std::uint64_t bits = 0;
  for (std::uint64_t i = 0; i < length; ++i, bits >>= 6) {
    if (i % 10 == 0) bits = random();
    record.push_back(static_cast<char>(' ' + (bits & 63)));
  }
}

std::string record_builder::record(random_engine& random) const {
  std::string result;
  for (std::uint64_t field = 0; field < fields_; ++field) append_field(result, random);
  return result;
}

void record_builder::update(std::string& record, random_engine& random) const {
  if (write_all_) {
    record = this->record(random);
    return;
  }
  std::size_t position = 0;
  for (std::uint64_t skipped = uniform_below(random, fields_); skipped > 0; --skipped) {
    position += field_size(record, position);
  }
  const std::size_t size = field_size(record, position);
  if (record.size() - position < size) {
    throw std::invalid_argument(
        "a record ends within a field: the database is not this workload's");
  }
  std::string field;
  append_field(field, random);
  record.replace(position, size, field);
}

}  // namespace unlatch::ycsb
