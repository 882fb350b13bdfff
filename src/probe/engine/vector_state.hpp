// SPDX-License-Identifier: Apache-2.0
//
// The program's x87, vector and mask registers. They stay in the CPU while the engine runs; here
// they are copied for an abort to put back, and around calls into code that uses vector registers.
#pragma once

#include <cstdint>

namespace unlatch::probe::engine {

/// What XSAVE writes for every component but AMX's tiles, which no transaction may touch.
struct vector_state {
  static constexpr unsigned most_bytes = 4096;
  alignas(64) std::uint8_t bytes[most_bytes];

  void save() noexcept;
  void restore() const noexcept;
  /// Copies the first `most` bytes, a multiple of 16, of vector register `number` as saved.
  void copy_vector(unsigned number, unsigned most, std::uint8_t* into) const noexcept;
};

/// Finds out what the CPU and kernel keep. False if it would not fit, or if there is no XSAVE.
/// Once, before any vector_state is used.
[[nodiscard]] bool prepare_vector_state() noexcept;

}  // namespace unlatch::probe::engine
