// SPDX-License-Identifier: Apache-2.0
#include "unlatch/platform.hpp"

#include <cstdio>
#include <cstdlib>

namespace unlatch::detail {

void misuse(const char* what, const void* lock) noexcept {
  std::fprintf(stderr, "unlatch: lock %p: %s\n", lock, what);
  std::abort();
}

}  // namespace unlatch::detail
