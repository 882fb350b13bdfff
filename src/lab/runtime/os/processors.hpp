// SPDX-License-Identifier: Apache-2.0
//
// The simulated CPUs as the operating system shows them.
#pragma once

namespace unlatch::lab::os {

/// An interrupt to every other CPU that runs something: its transaction aborts, and it pays.
void interrupt_other_cpus() noexcept;

}  // namespace unlatch::lab::os
