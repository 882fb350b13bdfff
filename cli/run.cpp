// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/program.hpp"
#include "src/probe/lock_run.hpp"

namespace unlatch::cli {

int run_program(const run_arguments& asked) {
  auto request = asked.asked;
  if (!asked.lock.empty()) request.algorithm = probe::lock_algorithm_named(asked.lock);
  const auto outcome = probe::run_with_locks(request);
  // The program's own output is left alone.
  const auto text = asked.json ? probe::to_json(outcome).dump(2) + '\n' : probe::to_table(outcome);
  fmt::print(stderr, "{}", text);
  return outcome.exit_status;
}

}  // namespace unlatch::cli
