// SPDX-License-Identifier: Apache-2.0
//
// Usage: lab_speed_native WORKLOAD THREADS AMOUNT
//
// Runs a workload on this machine, for valgrind to look at, and prints the process's largest memory
// in KiB.
#include <sys/resource.h>

#include <cstdio>
#include <exception>

#include "bench/lab_speed/workloads.hpp"

int main(int count, char** arguments) {
  try {
    unlatch::bench::run(unlatch::bench::parse(count, arguments));
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("%ld\n", usage.ru_maxrss);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lab_speed_native: %s\n", error.what());
    return 1;
  }
}
