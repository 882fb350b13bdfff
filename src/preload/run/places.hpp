// SPDX-License-Identifier: Apache-2.0
//
// Which file an address of this process belongs to.
#pragma once

#include "src/probe/lock_run_area.hpp"

namespace unlatch::preload {

/// Finds both in one pass over /proc/self/maps. No lock and no allocation, but a few KiB of static
/// memory: the caller sees to it that no other thread is here.
void find_places(probe::memory_place& first, probe::memory_place& second) noexcept;

}  // namespace unlatch::preload
