// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>

namespace unlatch::lab {

/// Runs both at the same time; returns when both have ended.
template <class First, class Second>
void at_once(First&& first, Second&& second) {
  std::thread other(second);
  first();
  other.join();
}

}  // namespace unlatch::lab
