// SPDX-License-Identifier: Apache-2.0
//
// The program's own handlers for faults. A fault in code that is stepped has registers and an
// address that the program must not see; it comes again natively. So a function of ours stands in
// front of such a handler, with the handler's own flags and mask.
//
// Thread safety: any thread. Two threads that change the action for the same signal at once may mix
// them up.
#pragma once

#include <signal.h>

namespace unlatch::probe::recorder {

using real_sigaction = int (*)(int, const struct sigaction*, struct sigaction*);

/// sigaction() as the program calls it, by way of `real`.
int change_program_handler(real_sigaction real, int number, const struct sigaction* to,
                           struct sigaction* before) noexcept;

}  // namespace unlatch::probe::recorder
