// SPDX-License-Identifier: Apache-2.0
//
// The end of a simulation that cannot go on: a message on standard error, then abort().
#pragma once

namespace unlatch::lab::os {

/// Writes "lab: MESSAGE" to standard error and aborts the process. Formats as printf does.
[[noreturn, gnu::format(printf, 1, 2), gnu::cold]] void stop(const char* format, ...) noexcept;

}  // namespace unlatch::lab::os
