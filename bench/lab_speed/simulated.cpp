// SPDX-License-Identifier: Apache-2.0
//
// Usage: lab_speed_simulated WORKLOAD THREADS AMOUNT MODEL
//
// Runs a workload on a simulated machine and prints the accesses to memory that it made, the
// seconds of CPU time that simulating them took, the process's largest memory in KiB, and how many
// transactions committed.
#include <sys/resource.h>

#include <cstdio>
#include <ctime>
#include <exception>

#include "bench/lab_speed/workloads.hpp"
#include "src/lab/lab.hpp"
#include "src/lab/model_file.hpp"

namespace {

using namespace unlatch;

// CPU time: how long others had the CPU is none of the simulator's.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

const lab::model& model_called(const std::string& name) {
  if (const auto* const found = lab::find_builtin_model(name)) return found->constants;
  throw std::invalid_argument("no model '" + name + "'");
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const bench::wanted what = bench::parse(count, arguments);
    const lab::model& machine = model_called(count > 4 ? arguments[4] : "i7-4770");
    const double begin = cpu_seconds();
    const auto result = lab::run(machine, {.blame = false}, [&] { bench::run(what); });
    const double seconds = cpu_seconds() - begin;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("%lu %.6f %ld %lu\n", result.all.accesses, seconds, usage.ru_maxrss,
                result.all.committed);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lab_speed_simulated: %s\n", error.what());
    return 1;
  }
}
