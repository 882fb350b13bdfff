// SPDX-License-Identifier: Apache-2.0
#include "src/probe/profile/profile.hpp"

#include <fmt/core.h>

#include <iostream>
#include <stdexcept>

#include "cli/program.hpp"
#include "studies/models.hpp"

namespace unlatch::cli {

int profile(const profile_arguments& asked) {
  const bool read_only = !asked.read.empty();
  if (read_only == !asked.asked.command.empty()) {
    throw std::invalid_argument(
        "profile: name a program to run after '--', or a recording to read with --read");
  }
  auto request = asked.asked;
  request.machine = studies::find_model(asked.model).constants;
  const auto report =
      read_only ? probe::read_profile(asked.read, request.machine) : probe::profile(request);
  const auto text =
      asked.json ? probe::to_json(report).dump(2) + '\n' : probe::to_table(report, asked.locks);
  // The program's own output is left alone.
  (read_only ? std::cout : std::cerr) << text;
  return report.exit_status;
}

}  // namespace unlatch::cli
