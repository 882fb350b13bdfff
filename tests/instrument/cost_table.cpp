// SPDX-License-Identifier: Apache-2.0
//
// Usage: cost_table [--host]
//
// What the cost model makes of known computations, beside what they take by the tables of Haswell's
// instructions; with --host also this machine's nanoseconds for the same, not instrumented. The
// simulated figures are the same on every machine. Fails where one is off by more than half.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "kernels.hpp"
#include "recorder.hpp"

namespace {

double simulated_cycles(const kernel& measured) {
  constexpr std::uint64_t few = 1000;
  constexpr std::uint64_t many = 3000;
  const std::uint64_t begin = recorder::clock();
  measured.run(few, 12345);
  const std::uint64_t middle = recorder::clock();
  measured.run(many, 12345);
  // What runs before and after the loop is the same in both.
  const std::uint64_t end = recorder::clock();
  return static_cast<double>((end - middle) - (middle - begin)) / (many - few);
}

double host_nanoseconds(const kernel& measured) {
  constexpr std::uint64_t turns = 2'000'000;
  double best = 1e9;
  for (int i = 0; i < 7; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    volatile std::uint64_t sink = measured.run(turns, 12345);
    (void)sink;
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / turns);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const bool host = argc > 1 && std::strcmp(argv[1], "--host") == 0;
  int off = 0;
  std::printf("%-24s %9s %8s %7s %s%s\n", "cycles a turn", "simulated", "Haswell", "error",
              host ? "host ns  " : "", "why");
  for (int i = 0; i < kernel_count; ++i) {
    const kernel& measured = instrumented::kernels()[i];
    const double simulated = simulated_cycles(measured);
    const double error = simulated / measured.expected - 1;
    off += std::abs(error) > 0.5 ? 1 : 0;
    std::printf("%-24s %9.2f %8.2f %+6.0f%% ", measured.name, simulated, measured.expected,
                error * 100);
    if (host) std::printf("%7.2f  ", host_nanoseconds(plain::kernels()[i]));
    std::printf("%s\n", measured.why);
  }
  return off;
}
