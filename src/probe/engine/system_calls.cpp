// SPDX-License-Identifier: Apache-2.0
#include "src/probe/engine/system_calls.hpp"

#include <errno.h>
#include <linux/futex.h>
#include <time.h>

namespace unlatch::probe::engine {

bool futex_wait(std::uint32_t* word, std::uint32_t expected, std::uint32_t timeout_ms) noexcept {
  const timespec limit{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000L};
  return -ETIMEDOUT == system_call(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected,
                                   timeout_ms == 0 ? nullptr : &limit, 0L, 0L);
}

void futex_wake(std::uint32_t* word, int most) noexcept {
  system_call(SYS_futex, word, FUTEX_WAKE_PRIVATE, most, nullptr, 0L, 0L);
}

void complain(const char* text) noexcept {
  const auto write = [](const char* part) {
    long length = 0;
    while (part[length] != 0) ++length;
    system_call(SYS_write, 2, part, length);
  };
  write(complaint_prefix);
  write(text);
  write("\n");
}

}  // namespace unlatch::probe::engine
