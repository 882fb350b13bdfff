// SPDX-License-Identifier: Apache-2.0
//
// The lines that the stepped section has touched so far.
//
// Holds what the engine's owner holds. Memory is static: no allocation.
#pragma once

#include <cstdint>

#include "src/probe/profile/recording.hpp"

namespace unlatch::probe::recorder {

inline constexpr std::uint32_t most_section_lines = 2048;

/// Forgets all lines. The first time touches all of the tables, so that no page fault of theirs
/// looks like the program's.
void begin_section_lines() noexcept;

/// Whose accesses engine::note_access() is told of from now on.
enum class accessor : std::uint8_t { nobody, program, allocator };
void note_accesses_of(accessor who) noexcept;

[[nodiscard]] std::uint32_t section_line_count() noexcept;
[[nodiscard]] const recording::touched_line* section_lines() noexcept;
/// How often a line found no room.
[[nodiscard]] std::uint32_t lost_section_lines() noexcept;

}  // namespace unlatch::probe::recorder
