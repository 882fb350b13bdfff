// SPDX-License-Identifier: Apache-2.0
//
// A thread's rows in the recording, by lock and call site.
//
// Thread safety: none; a thread's own. No library.
#pragma once

#include <cstdint>

#include "src/probe/profile/recording.hpp"

namespace unlatch::probe::recorder {

/// All zero: empty.
class lock_uses {
 public:
  static constexpr std::uint32_t most_rows = 1u << 14;

  /// The row of `lock` at `site`, made if there is none; null if there is no room for it, which is
  /// counted. Nanoseconds.
  [[nodiscard]] recording::lock_use* find(std::uint64_t lock, std::uint64_t site,
                                          recording::lock_kind kind,
                                          std::uint32_t thread) noexcept {
    if (places_ != nullptr) {
      std::uint32_t at = place_of(lock, site);
      for (; places_[at].use != nullptr; at = (at + 1) & mask_) {
        if (places_[at].lock == lock && places_[at].site == site) return places_[at].use;
      }
    }
    return add(lock, site, kind, thread);
  }

 private:
  struct place {
    std::uint64_t lock;
    std::uint64_t site;
    recording::lock_use* use;
  };

  [[nodiscard]] std::uint32_t place_of(std::uint64_t lock, std::uint64_t site) const noexcept {
    const std::uint64_t mixed = (lock ^ (site << 21 | site >> 43)) * 0x9e37'79b9'7f4a'7c15u;
    return static_cast<std::uint32_t>(mixed >> 32) & mask_;
  }
  recording::lock_use* add(std::uint64_t lock, std::uint64_t site, recording::lock_kind kind,
                           std::uint32_t thread) noexcept;
  recording::lock_use* new_row() noexcept;
  [[nodiscard]] bool grow() noexcept;

  place* places_;
  std::uint32_t mask_;
  std::uint32_t rows_;
  recording::block_head* block_;  ///< the last
};

}  // namespace unlatch::probe::recorder
