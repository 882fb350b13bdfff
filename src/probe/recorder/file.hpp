// SPDX-License-Identifier: Apache-2.0
//
// The recording (recording.hpp) as the profiled program writes to it.
//
// Thread safety: all functions may be called from any thread; no locks, no memory from elsewhere,
// no library.
#pragma once

#include <cstdint>

#include "src/probe/profile/recording.hpp"

namespace unlatch::probe::recorder {

/// Opens the recording that `path` names, which must outlive the process. False, with a complaint,
/// if that fails.
[[nodiscard]] bool open_recording(const char* path) noexcept;

/// The mapped header. Only after open_recording().
[[nodiscard]] recording::header& header() noexcept;

/// Takes `blocks` blocks, all zero but for what the head says; null if there is no more room: the
/// first time that is complained about. `what` is left for the caller to set once the content makes
/// sense. Tens of microseconds.
[[nodiscard]] recording::block_head* take_blocks(std::uint32_t blocks,
                                                 std::uint32_t process) noexcept;

}  // namespace unlatch::probe::recorder
