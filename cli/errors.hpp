// SPDX-License-Identifier: Apache-2.0
//
// Exceptions as one line for a person.
#pragma once

#include <exception>
#include <string>

namespace unlatch::cli {

/// what() of `error`; for a file system error "FILE: what: why; what to do" instead.
[[nodiscard]] std::string describe(const std::exception& error);

}  // namespace unlatch::cli
