// SPDX-License-Identifier: Apache-2.0
//
// The engine's own accesses to the program's memory. They may fault, as the program's would: the
// handler of SIGSEGV recognizes them by where their code lies, and the transaction aborts. Every
// other fault in the engine is a fault of the engine.
#pragma once

#include <cstdint>

namespace unlatch::probe::engine {

inline constexpr std::uint64_t line_bytes = 64;

/// Copies the line at `line`, a multiple of line_bytes.
void load_line(std::uint64_t line, std::uint64_t (&into)[8]) noexcept;
/// Writes the words of a line that differ from `from`. A line that was noted as written but is read
/// only does not differ: the write faulted.
void restore_line(std::uint64_t line, const std::uint64_t (&from)[8]) noexcept;
[[nodiscard]] std::uint64_t load_word(std::uint64_t address) noexcept;
void store_word(std::uint64_t address, std::uint64_t value) noexcept;
void load_code(std::uint64_t address, std::uint8_t* into, unsigned length) noexcept;
[[nodiscard]] bool same_code(std::uint64_t address, const std::uint8_t* as,
                             unsigned length) noexcept;

/// Whether `ip` lies in one of the above.
[[nodiscard]] bool accesses_program_memory(std::uint64_t ip) noexcept;

}  // namespace unlatch::probe::engine
