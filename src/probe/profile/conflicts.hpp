// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "src/probe/profile/sections.hpp"

namespace unlatch::probe {

/// Compares sections of the same lock from different threads that were sampled soon after each
/// other, and notes in `into` what they would have met in had they run at the same time: lines that
/// both touched and at least one wrote.
void compare_sections(std::span<const recorded_sample* const> samples, const program_names& names,
                      section_summary& into);

}  // namespace unlatch::probe
