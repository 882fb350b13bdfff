// SPDX-License-Identifier: Apache-2.0
#include "src/probe/engine/call_sites.hpp"

#include <fcntl.h>

#include "src/probe/engine/system_calls.hpp"

namespace unlatch::probe::engine {
namespace {

constexpr unsigned most_known = 4096;
site_memory known[most_known];

struct place {
  std::uint64_t offset;
  char file[sizeof call_site::file];
};

/// Reads /proc/self/maps line by line, without libc and without memory of its own.
class mapping_lines {
 public:
  mapping_lines() noexcept
      : file_(system_call(SYS_open, "/proc/self/maps", long{O_RDONLY | O_CLOEXEC}, 0L)) {}
  ~mapping_lines() { system_call(SYS_close, file_); }
  mapping_lines(const mapping_lines&) = delete;
  mapping_lines& operator=(const mapping_lines&) = delete;

  /// The next line, without its end; null after the last. What is too long is cut.
  const char* next() noexcept {
    unsigned length = 0;
    for (;;) {
      if (at_ == end_) {
        const long count = system_call(SYS_read, file_, buffer_, sizeof buffer_);
        if (count <= 0) return nullptr;
        at_ = 0;
        end_ = static_cast<unsigned>(count);
      }
      const char c = buffer_[at_++];
      if (c == '\n') break;
      if (length + 1 < sizeof line_) line_[length++] = c;
    }
    line_[length] = 0;
    return line_;
  }

 private:
  long file_;
  unsigned at_ = 0;
  unsigned end_ = 0;
  char buffer_[4096];
  char line_[4352];
};

std::uint64_t hexadecimal(const char*& text) noexcept {
  std::uint64_t number = 0;
  for (;; ++text) {
    if (*text >= '0' && *text <= '9') {
      number = number * 16 + static_cast<std::uint64_t>(*text - '0');
    } else if (*text >= 'a' && *text <= 'f') {
      number = number * 16 + static_cast<std::uint64_t>(*text - 'a' + 10);
    } else {
      return number;
    }
  }
}

/// "START-END rwxp OFFSET DEVICE INODE   FILE"; false if `address` is not in it.
bool find_in(const char* line, std::uint64_t address, place& found) noexcept {
  const std::uint64_t start = hexadecimal(line);
  if (*line == '-') ++line;
  const std::uint64_t end = hexadecimal(line);
  if (address < start || address >= end) return false;
  const auto skip_word = [&line] {
    while (*line == ' ') ++line;
    while (*line != ' ' && *line != 0) ++line;
  };
  skip_word();
  while (*line == ' ') ++line;
  found.offset = hexadecimal(line) + (address - start);
  skip_word();
  skip_word();
  while (*line == ' ') ++line;
  unsigned length = 0;
  while (line[length] != 0) ++length;
  if (length >= sizeof found.file) line += length - (sizeof found.file - 1);
  for (unsigned i = 0; (found.file[i] = line[i]) != 0; ++i) {
  }
  return true;
}

place place_of(std::uint64_t address) noexcept {
  place found{address, {}};
  mapping_lines lines;
  while (const char* line = lines.next()) {
    if (find_in(line, address, found)) break;
  }
  return found;
}

std::uint64_t key_of(const place& of) noexcept {
  std::uint64_t hash = of.offset ^ 0xcbf2'9ce4'8422'2325u;
  for (const char* c = of.file; *c != 0; ++c) {
    hash = (hash ^ static_cast<std::uint8_t>(*c)) * 0x100'0000'01b3u;
  }
  return hash | 1;
}

call_site* shared_site(emulation_area& area, std::uint64_t address) noexcept {
  const place here = place_of(address);
  const std::uint64_t key = key_of(here);
  for (std::uint32_t i = 0; i < emulation_area::most_sites; ++i) {
    call_site& site = area.sites[(key + i) % emulation_area::most_sites];
    std::uint64_t holder = 0;
    if (site.key.compare_exchange_strong(holder, key)) {
      site.file_offset = here.offset;
      for (unsigned c = 0; c < sizeof site.file; ++c) site.file[c] = here.file[c];
      site.ready.store(1, std::memory_order_release);
      return &site;
    }
    if (holder == key) return &site;
  }
  return nullptr;
}

unsigned first_place(std::uint64_t address) noexcept {
  return static_cast<unsigned>(address * 0x9e37'79b9'7f4a'7c15u >> 52) % most_known;
}

/// The memory of the site, or else the unused one that it would take; null if all are used.
site_memory* place_for(std::uint64_t address) noexcept {
  for (unsigned i = 0; i < most_known; ++i) {
    site_memory& each = known[(first_place(address) + i) % most_known];
    if (each.address == address || each.address == 0) return &each;
  }
  return nullptr;
}

}  // namespace

site_memory* known_site(std::uint64_t address) noexcept {
  site_memory* const found = place_for(address);
  return found == nullptr || found->address == 0 ? nullptr : found;
}

site_memory* site_at(std::uint64_t address) noexcept {
  site_memory* const found = place_for(address);
  if (found != nullptr && found->address == 0) {
    found->next_abort = 1;
    found->address = address;
  }
  return found;
}

call_site* counts_of(emulation_area& area, site_memory& site) noexcept {
  if (site.shared == nullptr) site.shared = shared_site(area, site.address);
  return site.shared;
}

void note_blocker(call_site& site, const char* mnemonic) noexcept {
  std::uint32_t none = 0;
  if (!site.blocker_state.compare_exchange_strong(none, 1)) return;
  unsigned i = 0;
  for (; mnemonic[i] != 0 && i + 1 < sizeof site.blocker; ++i) site.blocker[i] = mnemonic[i];
  site.blocker[i] = 0;
  site.blocker_state.store(2, std::memory_order_release);
}

}  // namespace unlatch::probe::engine
