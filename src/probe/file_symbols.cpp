// SPDX-License-Identifier: Apache-2.0
#include "src/probe/file_symbols.hpp"

#include <elf.h>

#include <fstream>
#include <optional>
#include <vector>

#ifdef UNLATCH_HAS_SOURCE_LINES
#include "src/lab/source_lines.hpp"
#endif

namespace unlatch::probe {

#ifdef UNLATCH_HAS_SOURCE_LINES

class file_symbols::open_file {
 public:
  explicit open_file(const std::string& file)
      : segments_(segments_of(file)), lines_(std::vector<lab::loaded_object>{{file, 0}}) {}

  [[nodiscard]] symbol at(std::uint64_t offset) const {
    const auto address = address_of(offset);
    if (!address) return {};
    return {lines_.place_in_function(*address), lines_.known_line_of(*address)};
  }

 private:
  static std::vector<Elf64_Phdr> segments_of(const std::string& file) {
    std::ifstream from(file, std::ios::binary);
    Elf64_Ehdr header = {};
    from.read(reinterpret_cast<char*>(&header), sizeof header);
    if (!from || header.e_phentsize != sizeof(Elf64_Phdr)) return {};
    std::vector<Elf64_Phdr> segments(header.e_phnum);
    from.seekg(static_cast<std::streamoff>(header.e_phoff));
    from.read(reinterpret_cast<char*>(segments.data()),
              static_cast<std::streamsize>(segments.size() * sizeof(Elf64_Phdr)));
    if (!from) segments.clear();
    return segments;
  }

  /// Where the file's own addresses have it.
  [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t offset) const {
    for (const auto& segment : segments_) {
      if (segment.p_type == PT_LOAD && offset >= segment.p_offset &&
          offset - segment.p_offset < segment.p_filesz) {
        return offset - segment.p_offset + segment.p_vaddr;
      }
    }
    return std::nullopt;
  }

  std::vector<Elf64_Phdr> segments_;
  lab::source_lines lines_;
};

symbol file_symbols::at(const std::string& file, std::uint64_t offset) {
  if (file.empty()) return {};
  auto& opened = files_[file];
  if (opened == nullptr) opened = std::make_unique<open_file>(file);
  return opened->at(offset);
}

#else

class file_symbols::open_file {};

symbol file_symbols::at(const std::string&, std::uint64_t) { return {}; }

#endif

file_symbols::file_symbols() = default;
file_symbols::~file_symbols() = default;

}  // namespace unlatch::probe
