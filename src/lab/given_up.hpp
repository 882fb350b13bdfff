// SPDX-License-Identifier: Apache-2.0
//
// How a program that simulates says that it has given up at the limit of virtual time.
#pragma once

#include <cstdint>
#include <string>

#include "lab.hpp"

namespace unlatch::lab {

/// Its exit code.
inline constexpr int given_up_status = 3;

/// The cycles of a machine of `mhz` in so many milliseconds, for options::most_cycles.
constexpr std::uint64_t cycles_of_ms(std::uint64_t ms, std::uint32_t mhz) {
  return ms * mhz * 1000;
}

/// When the run was given up, and how far it was: committed transactions tell a livelock from a run
/// that needs longer.
inline std::string describe_given_up(const run_result& run, std::uint64_t limit_ms) {
  return "not done after " + std::to_string(limit_ms) +
         " ms of virtual time, its limit; until then " + std::to_string(run.all.accesses) +
         " accesses to memory, and " + std::to_string(run.all.committed) + " of " +
         std::to_string(run.all.started) +
         " transactions committed. If it only needs longer, raise the limit with --virtual-limit "
         "MS, or make the cell shorter with --param";
}

}  // namespace unlatch::lab
