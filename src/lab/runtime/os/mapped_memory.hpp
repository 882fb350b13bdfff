// SPDX-License-Identifier: Apache-2.0
//
// Where the mappings of simulated programs lie.
#pragma once

namespace unlatch::lab::os {

/// The next run's mappings begin where this one's did, as far as they have been unmapped.
void forget_mappings() noexcept;

}  // namespace unlatch::lab::os
