// SPDX-License-Identifier: Apache-2.0
//
// liburcu's memb flavour in simulated time. Its readers are inlined into the program and work as
// they are; what stands in the shared library (registration, grace periods, the worker that calls
// back) keeps state that would outlive a run, so in a simulation it is this.
#pragma once

namespace unlatch::lab::os::grace_periods {

/// In host mode, at the end of a run: nobody reads any more, so everything that waits for a grace
/// period is called back, and all threads are forgotten.
void finish() noexcept;

}  // namespace unlatch::lab::os::grace_periods
