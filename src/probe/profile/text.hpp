// SPDX-License-Identifier: Apache-2.0
//
// Figures and places as people read them.
#pragma once

#include <string>

#include "src/probe/profile/sections.hpp"

namespace unlatch::probe {

/// "85 ns", "1.2 us", "3.4 s".
[[nodiscard]] std::string duration_text(double us);

/// "12.3 %", "<0.1 %" of a share from 0 to 1.
[[nodiscard]] std::string share_text(double share);

/// "f at a.cpp:3 writes bytes 0-7 of the line (counter), g at a.cpp:9 reads bytes 8-15".
[[nodiscard]] std::string conflict_text(const conflict& of);

}  // namespace unlatch::probe
