// SPDX-License-Identifier: Apache-2.0
//
// Runs every area; the exit status is the number of checks that failed.

#include <cstdio>
#include <initializer_list>

#include "conformance.hpp"

namespace conformance {

namespace {
int passed_checks = 0;
int failed_checks = 0;
}  // namespace

void report(const char* name, bool passed) {
  ++(passed ? passed_checks : failed_checks);
  std::printf("%-6s %s\n", passed ? "ok" : "FAILED", name);
  std::fflush(stdout);
}

}  // namespace conformance

int main() {
  using namespace conformance;
  for (const auto area : {&scalars, &aggregates, &memory_functions, &vectors, &containers, &strings,
                          &streams, &exceptions, &functions, &statics, &assembly}) {
    run_area(area);
  }
  threads();
  std::printf("%d checks passed, %d failed\n", passed_checks, failed_checks);
  return failed_checks > 100 ? 100 : failed_checks;
}
