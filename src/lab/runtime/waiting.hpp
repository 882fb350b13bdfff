// SPDX-License-Identifier: Apache-2.0
//
// Spin loops: what a pause does to the CPU that executes it.
#pragma once

#include <cstdint>

namespace unlatch::lab::waiting {

/// A pause outside transactions. `code` is where it stands.
void pause(std::uintptr_t code) noexcept;

}  // namespace unlatch::lab::waiting
