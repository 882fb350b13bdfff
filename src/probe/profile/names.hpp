// SPDX-License-Identifier: Apache-2.0
//
// What recorded addresses are called.
//
// Thread safety: none. Cost: opening a process's objects reads their symbols, milliseconds each.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/probe/profile/read_recording.hpp"

namespace unlatch::lab {
class source_lines;
}

namespace unlatch::probe {

/// An address as it means the same in every process: an object and the offset in its file.
struct object_place {
  std::string file;  ///< empty: in none; `offset` is the address then
  std::uint64_t offset = 0;

  auto operator<=>(const object_place&) const = default;
  /// "libfoo.so+0x1234", "0x7f…" outside of objects.
  [[nodiscard]] std::string text() const;
};

class process_names {
 public:
  explicit process_names(const recorded_process& process);
  ~process_names();
  process_names(process_names&&) noexcept;

  [[nodiscard]] object_place place_of(std::uint64_t address) const;
  /// "function at file.cpp:12", as much of it as is known; else the object and offset.
  [[nodiscard]] std::string code(std::uint64_t address) const;
  /// The same for the call that returns to `address`; the line is the function's own, not one of
  /// what was inlined into it, such as a class around a lock.
  [[nodiscard]] std::string call(std::uint64_t address) const;
  /// "table_lock", "table_lock + 8"; empty if no variable lies there.
  [[nodiscard]] std::string variable(std::uint64_t address) const;

 private:
  [[nodiscard]] std::string named(std::uint64_t address, std::uint64_t shown,
                                  const std::string& line) const;

  const recorded_process& process_;
  /// Objects by the address of their first byte; they end where their last mapping does.
  std::map<std::uint64_t, std::pair<std::uint64_t, std::string>> objects_;
  std::unique_ptr<lab::source_lines> lines_;
  mutable std::map<std::uint64_t, std::string> code_;  ///< what has been looked up
};

/// The names of each process. Those with the same objects at the same addresses share them.
class program_names {
 public:
  /// `processes` must outlive this.
  explicit program_names(const std::map<std::uint32_t, recorded_process>& processes);
  [[nodiscard]] const process_names& of(std::uint32_t process) const { return *of_.at(process); }

 private:
  std::vector<std::pair<const recorded_process*, std::unique_ptr<process_names>>> opened_;
  std::map<std::uint32_t, const process_names*> of_;
};

}  // namespace unlatch::probe
