// SPDX-License-Identifier: Apache-2.0
//
// Where the objects of the process are: what turns recorded addresses into names.
//
// Thread safety: any thread; one reads /proc/self/maps at a time, the others do not wait.
#pragma once

#include <cstdint>

namespace unlatch::probe::recorder {

/// Records the objects of a process that has just begun to be recorded.
void note_modules() noexcept;

/// Records them again if `code` lies in none that is known: it was loaded or made since.
/// Nanoseconds unless it is new.
void note_module_of(std::uint64_t code) noexcept;

}  // namespace unlatch::probe::recorder
