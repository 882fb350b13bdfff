// SPDX-License-Identifier: Apache-2.0
//
// What the checks that need several threads use of the simulated machine.
#pragma once

#include "src/lab/model.hpp"

namespace conformance {

/// Four CPUs, large caches, no interrupts.
const unlatch::lab::model& roomy_machine();

}  // namespace conformance
