// SPDX-License-Identifier: Apache-2.0
//
// Who called: return addresses on the running simulated thread's stack, for reports.
#pragma once

#include <cstdint>

#include "../blame_records.hpp"

namespace unlatch::lab {

/// The calls that led to `code`, which the running thread's stack has among its return addresses:
/// where the function that `code` is in returns to, and so on; 0 where nothing is known. Unwinds by
/// the program's own tables: microseconds.
call_chain callers_of(std::uintptr_t code) noexcept;

}  // namespace unlatch::lab
