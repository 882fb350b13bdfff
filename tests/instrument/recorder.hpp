// SPDX-License-Identifier: Apache-2.0
//
// Stands in for the simulated machine and writes down every hook call: what the pass tells of a
// piece of code. Its clock counts the costs, and one cycle for each plain access.
#pragma once

#include <cstdint>

namespace recorder {

enum class kind : std::uint8_t {
  read,
  write,
  atomic,
  copy,
  range,
  mask,
  gather,
  fence,
  string,
  instruction,
  timestamp
};

struct event {
  kind what;
  const void* address;   ///< the first, where there are two
  std::uint64_t size;    ///< of an element, where there are several
  std::uint64_t detail;  ///< atomic: what; range: how; mask, gather: the mask; the rest: which
  const void* code;      ///< where the hook returns to
};

inline constexpr int most_events = 4096;

/// Forgets all events.
void start();
int count();
const event& at(int index);
/// The turns of loops without an access since start().
int turns();
/// The cycles charged since the program began.
std::uint64_t clock();

}  // namespace recorder
