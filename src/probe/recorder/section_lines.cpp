// SPDX-License-Identifier: Apache-2.0
#include "src/probe/recorder/section_lines.hpp"

#include "src/probe/engine/accesses.hpp"
#include "src/probe/engine/context.hpp"

namespace unlatch::probe::recorder {
namespace {

constexpr std::uint64_t line_bytes = 64;
constexpr std::uint32_t places = 2 * most_section_lines;

/// Where a line is in `lines`, from 1, if `epoch` is the running section's.
struct place {
  std::uint32_t epoch;
  std::uint32_t number;
};
place index[places];
recording::touched_line lines[most_section_lines];
std::uint32_t epoch;
std::uint32_t count;
std::uint32_t lost;
accessor who_accesses;

recording::touched_line* find(std::uint64_t line) noexcept {
  auto at = static_cast<std::uint32_t>(line * 0x9e37'79b9'7f4a'7c15u >> 40) % places;
  for (; index[at].epoch == epoch; at = (at + 1) % places) {
    recording::touched_line& known = lines[index[at].number];
    if (known.line == line) return &known;
  }
  if (count == most_section_lines) return nullptr;
  index[at] = {epoch, count};
  lines[count] = {};
  lines[count].line = line;
  return &lines[count++];
}

/// Bits for the bytes of `line` from `begin` up to `end`.
std::uint64_t mask_of(std::uint64_t line, std::uint64_t begin, std::uint64_t end) noexcept {
  const std::uint64_t first = begin > line ? begin - line : 0;
  const std::uint64_t last = end - line < line_bytes ? end - line : line_bytes;
  const std::uint64_t bytes = last - first;
  const std::uint64_t ones =
      bytes == line_bytes ? ~std::uint64_t{0} : (std::uint64_t{1} << bytes) - 1;
  return ones << first;
}

}  // namespace

void begin_section_lines() noexcept {
  if (epoch == 0) {
    // A write each page is enough, but a volatile one: zeros are there already.
    for (place& each : index) *const_cast<volatile std::uint32_t*>(&each.epoch) = 0;
    for (auto& each : lines) *const_cast<volatile std::uint64_t*>(&each.line) = 0;
  }
  if (++epoch == 0) {
    for (place& each : index) each.epoch = 0;
    epoch = 1;
  }
  count = lost = 0;
  who_accesses = accessor::nobody;
}

void note_accesses_of(accessor who) noexcept { who_accesses = who; }

std::uint32_t section_line_count() noexcept { return count; }
const recording::touched_line* section_lines() noexcept { return lines; }
std::uint32_t lost_section_lines() noexcept { return lost; }

}  // namespace unlatch::probe::recorder

namespace unlatch::probe::engine {

bool note_access(std::uint64_t address, std::uint64_t bytes, bool written) noexcept {
  using namespace recorder;
  if (who_accesses == accessor::nobody || bytes == 0) return true;
  const std::uint64_t end = address + bytes;
  const std::uint64_t ip = unlatch_context.program.ip;
  for (std::uint64_t line = address & ~(line_bytes - 1); line < end; line += line_bytes) {
    recording::touched_line* const touched = find(line);
    if (touched == nullptr) {
      ++lost;
      return true;
    }
    std::uint64_t& mask = written ? touched->written : touched->read;
    std::uint64_t& by = written ? touched->writer : touched->reader;
    if (mask == 0) by = ip;
    mask |= mask_of(line, address, end);
    (who_accesses == accessor::allocator ? touched->by_allocator : touched->by_program) = 1;
  }
  return true;
}

}  // namespace unlatch::probe::engine
