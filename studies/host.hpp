// SPDX-License-Identifier: Apache-2.0
//
// The machine and the build a measurement comes from.
#pragma once

#include <string>
#include <string_view>

namespace unlatch::studies {

/// What a record says of the machine it was measured on.
struct host_facts {
  std::string cpu;
  unsigned cpus = 1;  ///< logical CPUs this process may use
  double load = 0;    ///< load average over the last minute, when the cell began
  std::string kernel;

  bool operator==(const host_facts&) const = default;
};

/// Reads /proc and the scheduler; a fact the system does not tell is left empty or zero.
[[nodiscard]] host_facts current_host();

/// The revision the program was built from (`git describe`), or its version outside a repository.
[[nodiscard]] std::string_view build_id();

}  // namespace unlatch::studies
