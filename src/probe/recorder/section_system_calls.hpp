// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/probe/engine/context.hpp"

namespace unlatch::probe::recorder {

/// Whether the system call that a program's registers ask for may be made with signals blocked and
/// from elsewhere than its own address: it neither sleeps for anybody, nor ends or copies the
/// thread, nor has to do with signals. A call on a file counts if that is a regular one.
[[nodiscard]] bool returns_at_once(const engine::registers& asked) noexcept;

}  // namespace unlatch::probe::recorder
