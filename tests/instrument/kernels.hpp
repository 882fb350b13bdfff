// SPDX-License-Identifier: Apache-2.0
//
// Small computations whose time on a real core is known. They are compiled twice: instrumented, and
// as they are.
#pragma once

#include <cstdint>

struct kernel {
  const char* name;
  /// Runs `turns` turns from a value that the compiler cannot know.
  std::uint64_t (*run)(std::uint64_t turns, std::uint64_t start);
  /// Cycles a turn on Haswell, from the latencies and throughputs of its instructions.
  double expected;
  const char* why;
};

inline constexpr int kernel_count = 12;

namespace instrumented {
const kernel* kernels();
}
namespace plain {
const kernel* kernels();
}
