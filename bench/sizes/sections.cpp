// SPDX-License-Identifier: Apache-2.0
//
// The same two sections, one that reads and one that writes, in each way to guard them: what the
// compiler makes of each is measured by `code_size`, not run.
#include <cstdint>
#include <mutex>

#include "unlatch/unlatch.hpp"

std::mutex plain_mutex;
unlatch::mutex unlatch_mutex;
unlatch::elided<unlatch::mutex> elided_mutex;
std::uint64_t first, second;

std::uint64_t read_under_std_mutex() {
  const std::scoped_lock lock(plain_mutex);
  return first + second;
}
void write_under_std_mutex() {
  const std::scoped_lock lock(plain_mutex);
  --first;
  ++second;
}

std::uint64_t read_under_unlatch_mutex() {
  const std::scoped_lock lock(unlatch_mutex);
  return first + second;
}
void write_under_unlatch_mutex() {
  const std::scoped_lock lock(unlatch_mutex);
  --first;
  ++second;
}

std::uint64_t read_under_elided_mutex() {
  const std::scoped_lock lock(elided_mutex);
  return first + second;
}
void write_under_elided_mutex() {
  const std::scoped_lock lock(elided_mutex);
  --first;
  ++second;
}

std::uint64_t read_in_section() {
  const auto lock = unlatch::section(elided_mutex);
  return first + second;
}
void write_in_section() {
  const auto lock = unlatch::section(elided_mutex);
  --first;
  ++second;
}

std::uint64_t read_in_elide() {
  return unlatch::elide(elided_mutex, [](auto& tx) { return tx.read(first) + tx.read(second); });
}
void write_in_elide() {
  unlatch::elide(elided_mutex, [](auto& tx) {
    tx.write(first, tx.read(first) - 1);
    tx.write(second, tx.read(second) + 1);
  });
}
