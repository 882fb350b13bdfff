// SPDX-License-Identifier: Apache-2.0
#include "waiting.hpp"

#include "explore.hpp"

namespace unlatch::lab::waiting {

void pause(std::uintptr_t code) noexcept {
  *unlatch_lab_fast.clock += the.rules.core.pause;
  if (the.strategy != nullptr) {
    explore::consider(scheduling_point::kind::pause, 0, 0, code);
    return;
  }
  synchronize(code);
}

}  // namespace unlatch::lab::waiting
