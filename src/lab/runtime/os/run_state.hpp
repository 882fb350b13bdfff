// SPDX-License-Identifier: Apache-2.0
//
// What every part of the operating system may ask about the run: the machine's model, and what has
// to be set back between two runs.
#pragma once

#include <cstdint>

#include "lab/model.hpp"

namespace unlatch::lab::os {

/// The model of the machine that is simulated. REQUIRES: a run.
const model& machine() noexcept;

/// A number from the run's own generator, which the seed starts: what programs get where they ask
/// the kernel for random bytes.
std::uint64_t random_number() noexcept;

}  // namespace unlatch::lab::os
