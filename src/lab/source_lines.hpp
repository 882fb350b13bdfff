// SPDX-License-Identifier: Apache-2.0
//
// From addresses of this or another program to what people call them: lines of source, functions,
// variables. Uses elfutils; lines need the program's debug information. What is not known is not
// guessed: the nearest symbol below an address that lies in none is no answer.
//
// Thread safety: none; host mode only. Cost: opening reads the program's debug information, tens of
// milliseconds; a look-up takes microseconds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace unlatch::lab {

/// An object in a program's memory.
struct loaded_object {
  std::string file;
  std::uintptr_t begin;  ///< where its first byte is
};

class source_lines {
 public:
  /// Opens the running program. Without debug information look-ups give addresses.
  source_lines();
  /// For addresses of a program that had these objects in memory.
  explicit source_lines(std::span<const loaded_object> objects);
  ~source_lines();
  source_lines(const source_lines&) = delete;
  source_lines& operator=(const source_lines&) = delete;

  /// "src/sync/section.cpp:41" for an instruction; below the project's root without the root. What
  /// was inlined from the C++ library, or from the headers of this library that wrap accesses and
  /// sections, counts as the line that called it, or comes as near to it as inlining is known. The
  /// address in hexadecimal where nothing is known.
  std::string line_of(std::uintptr_t code) const;
  /// The same; empty where nothing is known.
  std::string known_line_of(std::uintptr_t code) const;
  /// The line in the function that function_at() names, or as near to it as it is none of the C++
  /// library or the wrappers, whatever was inlined there; empty where nothing is known.
  std::string outermost_line_of(std::uintptr_t code) const;
  /// The same for a return address: the line of the call.
  std::string line_of_call(std::uintptr_t return_address) const {
    return line_of(call_before(return_address));
  }
  /// Of a place's return address and its callers', ending with 0: the first that is not in this
  /// library. Structures count as the program's: what happens in them is told by their own lines.
  /// The first where all are.
  std::uintptr_t outside_library(std::span<const std::uintptr_t> returns) const;
  /// What stands in the line that line_of() names, without the blanks around it, cut after
  /// source_text::most_bytes. Empty where its file cannot be read or changed since the program was
  /// built.
  std::string text_of(std::uintptr_t code) const;
  /// The same for a return address.
  std::string text_of_call(std::uintptr_t return_address) const {
    return text_of(call_before(return_address));
  }
  /// The function that `code` belongs to, demangled; empty where nothing is known.
  std::string function_at(std::uintptr_t code) const;
  /// The same with the offset in it: "insert(int)+0x1a".
  std::string place_in_function(std::uintptr_t code) const;
  /// The variable at `address`, demangled, with the offset in it; empty if there is none.
  std::string variable_at(std::uintptr_t address) const;

 private:
  /// An address in the call that returns there; 0 stays 0.
  static std::uintptr_t call_before(std::uintptr_t return_address) {
    return return_address == 0 ? 0 : return_address - 1;
  }

  struct session;
  std::unique_ptr<session> open_;
};

}  // namespace unlatch::lab
