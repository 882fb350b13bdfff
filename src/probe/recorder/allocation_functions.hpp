// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace unlatch::probe::recorder {

/// Looks up the functions that allocate and free memory. Once, when the object is loaded.
void find_allocation_functions() noexcept;

/// Whether one of them begins at `ip`.
[[nodiscard]] bool is_allocation_function(std::uint64_t ip) noexcept;

}  // namespace unlatch::probe::recorder
