// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/program.hpp"
#include "src/probe/emulation.hpp"
#include "studies/models.hpp"

namespace unlatch::cli {

int emulate(const emulate_arguments& asked) {
  auto request = asked.asked;
  request.machine = studies::find_model(asked.model).constants;
  request.patch = !asked.no_patch;
  request.trap_cpuid = !asked.no_cpuid_trap;
  const auto outcome = probe::emulate(request);
  // The program's own output is left alone.
  const auto text = asked.json ? probe::to_json(outcome).dump(2) + '\n' : probe::to_table(outcome);
  fmt::print(stderr, "{}", text);
  return outcome.exit_status;
}

}  // namespace unlatch::cli
