// SPDX-License-Identifier: Apache-2.0
//
// What places in program files are called: by the symbols and the debug information that are
// installed. What is not known is not guessed.
//
// Thread safety: none. Cost: the first look-up in a file reads its symbols, milliseconds.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace unlatch::probe {

struct symbol {
  std::string function;  ///< "copy(char*, int)+0x1a"; empty if the place lies in none that is known
  std::string source;    ///< "/usr/src/copy.cpp:12"; empty without debug information
};

class file_symbols {
 public:
  file_symbols();
  ~file_symbols();

  /// The code at `offset` in `file`. Nothing is known where the file cannot be read, or where this
  /// was built without elfutils.
  [[nodiscard]] symbol at(const std::string& file, std::uint64_t offset);

 private:
  class open_file;
  std::map<std::string, std::unique_ptr<open_file>> files_;
};

}  // namespace unlatch::probe
