// SPDX-License-Identifier: Apache-2.0
#include "src/preload/run/places.hpp"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace unlatch::preload {
namespace {

/// A line of /proc/self/maps.
struct mapping {
  std::uint64_t start, end, offset;
  const char* file;
};

/// The mappings, one by one. Reads with system calls alone: it may run inside the allocator.
class mappings {
 public:
  mappings() noexcept : file_(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
  mappings(const mappings&) = delete;
  mappings& operator=(const mappings&) = delete;
  ~mappings() {
    if (file_ >= 0) close(file_);
  }

  bool next(mapping& into) noexcept {
    const char* line = next_line();
    if (line == nullptr) return false;
    int name = 0;
    char rights[5];
    unsigned long start = 0, end = 0, offset = 0;
    if (std::sscanf(line, "%lx-%lx %4s %lx %*s %*s %n", &start, &end, rights, &offset, &name) < 4)
      return false;
    into = {start, end, offset, line + name};
    return true;
  }

 private:
  const char* next_line() noexcept {
    std::size_t length = 0;
    for (;;) {
      if (at_ == end_) {
        const auto count = read(file_, buffer_, sizeof buffer_);
        if (count <= 0) return nullptr;
        at_ = 0;
        end_ = static_cast<std::size_t>(count);
      }
      const char c = buffer_[at_++];
      if (c == '\n') break;
      if (length + 1 < sizeof line_) line_[length++] = c;
    }
    line_[length] = 0;
    return line_;
  }

  int file_;
  std::size_t at_ = 0, end_ = 0;
  static inline char buffer_[4096];
  static inline char line_[4352];
};

/// What the addresses of a file's symbols count from: 0 in a program that is linked to a fixed
/// address, else where its first page is.
std::uint64_t base_of(std::uint64_t first_page) noexcept {
  Elf64_Ehdr header;
  std::memcpy(&header, reinterpret_cast<const void*>(first_page), sizeof header);
  const bool is_fixed =
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_type == ET_EXEC;
  return is_fixed ? 0 : first_page;
}

void set_file(probe::memory_place& place, const char* file) noexcept {
  const std::size_t length = std::strlen(file);
  if (length >= sizeof place.file) file += length - (sizeof place.file - 1);
  std::strncpy(place.file, file, sizeof place.file - 1);
  place.file[sizeof place.file - 1] = 0;
}

}  // namespace

void find_places(probe::memory_place& first, probe::memory_place& second) noexcept {
  probe::memory_place* const wanted[] = {&first, &second};
  for (auto* place : wanted) {
    place->offset = place->address;
    place->file[0] = 0;
  }
  // A file's variables without initial values follow its last mapping, in one without a name.
  static char file[sizeof first.file];
  std::uint64_t base = 0, end_of_file = 0;
  mappings all;
  for (mapping each; all.next(each);) {
    const bool is_file = each.file[0] == '/';
    if (is_file && each.offset == 0) base = base_of(each.start);
    if (is_file) {
      end_of_file = each.end;
      std::strncpy(file, each.file, sizeof file - 1);
    }
    const bool follows = each.file[0] == 0 && each.start == end_of_file;
    for (auto* place : wanted) {
      if (place->address < each.start || place->address >= each.end) continue;
      if (is_file || follows) place->offset = place->address - base;
      set_file(*place, follows ? file : each.file);
    }
  }
}

}  // namespace unlatch::preload
