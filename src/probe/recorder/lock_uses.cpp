// SPDX-License-Identifier: Apache-2.0
#include "src/probe/recorder/lock_uses.hpp"

#include <sys/mman.h>

#include "src/probe/engine/system_calls.hpp"
#include "src/probe/recorder/file.hpp"
#include "src/probe/recorder/modules.hpp"
#include "src/probe/recorder/process.hpp"

namespace unlatch::probe::recorder {

using engine::system_call;

bool lock_uses::grow() noexcept {
  constexpr std::uint32_t first_places = 256;
  const std::uint32_t old_places = places_ == nullptr ? 0 : mask_ + 1;
  const std::uint32_t new_places = old_places == 0 ? first_places : 2 * old_places;
  const long at =
      system_call(SYS_mmap, 0L, new_places * sizeof(place), long{PROT_READ | PROT_WRITE},
                  long{MAP_PRIVATE | MAP_ANONYMOUS}, -1L, 0L);
  if (at < 0 && at > -4096) return false;
  place* const before = places_;
  places_ = reinterpret_cast<place*>(at);
  mask_ = new_places - 1;
  for (std::uint32_t i = 0; i < old_places; ++i) {
    if (before[i].use == nullptr) continue;
    std::uint32_t to = place_of(before[i].lock, before[i].site);
    while (places_[to].use != nullptr) to = (to + 1) & mask_;
    places_[to] = before[i];
  }
  if (before != nullptr) system_call(SYS_munmap, before, old_places * sizeof(place));
  return true;
}

recording::lock_use* lock_uses::new_row() noexcept {
  if (block_ == nullptr ||
      block_->used.load(std::memory_order_relaxed) == recording::uses_in_block) {
    recording::block_head* const taken = take_blocks(1, process_number());
    if (taken == nullptr) return nullptr;
    taken->what.store(recording::content::uses, std::memory_order_release);
    block_ = taken;
  }
  auto* const rows = reinterpret_cast<recording::lock_use*>(block_ + 1);
  return rows + block_->used.load(std::memory_order_relaxed);
}

recording::lock_use* lock_uses::add(std::uint64_t lock, std::uint64_t site,
                                    recording::lock_kind kind, std::uint32_t thread) noexcept {
  const bool room = places_ != nullptr && 2 * rows_ < mask_;
  recording::lock_use* const row = rows_ < most_rows && (room || grow()) ? new_row() : nullptr;
  if (row == nullptr) {
    header().lost_uses.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  note_module_of(site);
  row->lock = lock;
  row->site = site;
  row->kind = kind;
  row->thread = thread;
  block_->used.fetch_add(1, std::memory_order_release);
  std::uint32_t at = place_of(lock, site);
  while (places_[at].use != nullptr) at = (at + 1) & mask_;
  places_[at] = {lock, site, row};
  ++rows_;
  return row;
}

}  // namespace unlatch::probe::recorder
