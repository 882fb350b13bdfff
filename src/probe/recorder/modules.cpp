// SPDX-License-Identifier: Apache-2.0
#include "src/probe/recorder/modules.hpp"

#include <fcntl.h>

#include "src/probe/engine/system_calls.hpp"
#include "src/probe/recorder/file.hpp"
#include "src/probe/recorder/process.hpp"
#include "src/probe/recorder/process_memory.hpp"

namespace unlatch::probe::recorder {
namespace {

using engine::system_call;
using recording::module;

/// A line of /proc/self/maps: "begin-end perms offset device inode   path".
struct mapping {
  module of;
  const char* path;
};

std::uint64_t hexadecimal(const char*& at) noexcept {
  std::uint64_t value = 0;
  for (;; ++at) {
    const char c = *at;
    if (c >= '0' && c <= '9') {
      value = value << 4 | static_cast<std::uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = value << 4 | static_cast<std::uint64_t>(c - 'a' + 10);
    } else {
      return value;
    }
  }
}

mapping parse(const char* line, const char* end) noexcept {
  mapping result = {};
  result.of.begin = hexadecimal(line);
  ++line;  // '-'
  result.of.end = hexadecimal(line);
  result.of.executable = line[3] == 'x';
  line += 6;  // " rwxp "
  result.of.file_offset = hexadecimal(line);
  while (line < end && *line != '/') ++line;
  result.path = line;
  result.of.path_bytes = static_cast<std::uint32_t>(end - line);
  return result;
}

bool is_known(const process_memory& memory, std::uint64_t code) noexcept {
  for (std::uint32_t i = 0; i < memory.known_count; ++i) {
    if (code - memory.known[i].begin < memory.known[i].end - memory.known[i].begin) return true;
  }
  return false;
}

/// Writes a mapping behind what the block holds, in a new block if it does not fit there.
bool append(process_memory& memory, const mapping& what) noexcept {
  const std::uint64_t bytes = (sizeof(module) + what.of.path_bytes + 7) / 8 * 8;
  constexpr std::uint64_t room = recording::block_bytes - sizeof(recording::block_head);
  auto*& block = memory.modules;
  if (block == nullptr || block->used.load(std::memory_order_relaxed) + bytes > room) {
    recording::block_head* const taken = take_blocks(1, memory.number);
    if (taken == nullptr) return false;
    taken->what.store(recording::content::modules, std::memory_order_release);
    block = taken;
  }
  char* const to = reinterpret_cast<char*>(block + 1) + block->used.load(std::memory_order_relaxed);
  *reinterpret_cast<module*>(to) = what.of;
  for (std::uint32_t i = 0; i < what.of.path_bytes; ++i) to[sizeof(module) + i] = what.path[i];
  block->used.fetch_add(bytes, std::memory_order_release);
  return true;
}

/// Mappings of files, because variables lie there, and all code.
void note(process_memory& memory, const char* line, const char* end) noexcept {
  const mapping what = parse(line, end);
  if (what.of.path_bytes == 0 && !what.of.executable) return;
  if (is_known(memory, what.of.begin) || !append(memory, what)) return;
  if (!what.of.executable || memory.known_count == process_memory::most_known) return;
  memory.known[memory.known_count++] = {what.of.begin, what.of.end};
}

void read_maps(process_memory& memory) noexcept {
  const long file =
      system_call(SYS_openat, long{AT_FDCWD}, "/proc/self/maps", long{O_RDONLY | O_CLOEXEC});
  if (file < 0) return;
  char* const text = memory.maps_text;
  std::uint32_t kept = 0;
  for (;;) {
    const long got =
        system_call(SYS_read, file, text + kept, std::uint64_t{process_memory::maps_bytes} - kept);
    if (got <= 0) break;
    const char* const end = text + kept + got;
    const char* line = text;
    for (const char* at = text; at != end; ++at) {
      if (*at != '\n') continue;
      note(memory, line, at);
      line = at + 1;
    }
    kept = static_cast<std::uint32_t>(end - line);
    if (kept == process_memory::maps_bytes) break;  // a line longer than any path
    for (std::uint32_t i = 0; i < kept; ++i) text[i] = line[i];
  }
  system_call(SYS_close, file);
}

}  // namespace

void note_modules() noexcept { read_maps(this_process()); }

void note_module_of(std::uint64_t code) noexcept {
  process_memory& memory = this_process();
  if (is_known(memory, code)) return;
  if (memory.reading_maps.exchange(true, std::memory_order_acquire)) return;
  // Code that is made at run time comes in ever new places: no more looks than there were modules.
  if (!is_known(memory, code) && memory.maps_read < process_memory::most_known) {
    ++memory.maps_read;
    read_maps(memory);
  }
  memory.reading_maps.store(false, std::memory_order_release);
}

}  // namespace unlatch::probe::recorder
