// SPDX-License-Identifier: Apache-2.0
#include "src/probe/engine/footprint.hpp"

#include "src/probe/engine/accesses.hpp"
#include "src/probe/engine/program_memory.hpp"
#include "src/probe/engine/random.hpp"

namespace unlatch::probe::engine {
namespace {

/// A line in the cache. It is there if `epoch` is the running transaction's.
struct cached_line {
  std::uint64_t line;
  std::uint64_t last_use;
  std::uint32_t epoch;
  bool written;
};

struct saved_line {
  std::uint64_t line;
  std::uint64_t content[8];
};

/// A line that has been read and has left the cache.
struct tracked_line {
  std::uint64_t line;
  std::uint32_t epoch;
};

constexpr unsigned tracked_places = 2 * most_read_lines;

cached_line cache[most_cache_lines];
saved_line undo_log[most_cache_lines];
tracked_line tracked[tracked_places];

const emulation_settings* settings;
random_numbers chance;
std::uint64_t now;
std::uint32_t epoch;
std::uint32_t saved;
std::uint32_t tracked_count;

/// False if no more lines can be tracked, or if the line is lost.
bool track(std::uint64_t line) noexcept {
  constexpr std::uint32_t million = 1'000'000;
  if (settings->read_loss_per_million != 0 &&
      chance.next() % million < settings->read_loss_per_million) {
    return false;
  }
  unsigned place = static_cast<unsigned>(line * 0x9e37'79b9'7f4a'7c15u >> 40) % tracked_places;
  while (tracked[place].epoch == epoch) {
    if (tracked[place].line == line) return true;
    place = (place + 1) % tracked_places;
  }
  if (tracked_count == settings->read_lines) return false;
  tracked[place] = {line, epoch};
  ++tracked_count;
  return true;
}

/// The line in the cache, brought there if need be; null if that evicts a written line, or a read
/// one that cannot be tracked.
cached_line* bring(std::uint64_t line) noexcept {
  cached_line* const set = cache + line % settings->cache_sets * settings->cache_ways;
  cached_line* victim = set;
  for (unsigned i = 0; i < settings->cache_ways; ++i) {
    cached_line& each = set[i];
    if (each.epoch == epoch && each.line == line) return &each;
    if (victim->epoch != epoch) continue;
    if (each.epoch != epoch || each.last_use < victim->last_use) victim = &each;
  }
  if (victim->epoch == epoch && (victim->written || !track(victim->line))) return nullptr;
  *victim = {line, now, epoch, false};
  return victim;
}

bool note_line(std::uint64_t line, bool written) noexcept {
  cached_line* const found = bring(line);
  if (found == nullptr) return false;
  found->last_use = ++now;
  if (!written || found->written) return true;
  undo_log[saved].line = line * line_bytes;
  load_line(line * line_bytes, undo_log[saved].content);  // may fault; then nothing is saved
  ++saved;
  found->written = true;
  return true;
}

}  // namespace

void prepare_footprint(const emulation_settings& given) noexcept {
  settings = &given;
  chance.seed(given.seed ^ 0x6c6f7373);
}

void begin_footprint() noexcept {
  if (++epoch == 0) {  // after 2^32 transactions old entries would look new
    for (cached_line& each : cache) each.epoch = 0;
    for (tracked_line& each : tracked) each.epoch = 0;
    epoch = 1;
  }
  saved = 0;
  tracked_count = 0;
}

bool note_access(std::uint64_t address, std::uint64_t bytes, bool written) noexcept {
  if (bytes == 0) return true;
  const std::uint64_t last = (address + bytes - 1) / line_bytes;
  for (std::uint64_t line = address / line_bytes; line <= last; ++line) {
    if (!note_line(line, written)) return false;
  }
  return true;
}

void undo_writes() noexcept {
  while (saved > 0) {
    --saved;
    restore_line(undo_log[saved].line, undo_log[saved].content);
  }
}

}  // namespace unlatch::probe::engine
