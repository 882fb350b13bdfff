// SPDX-License-Identifier: Apache-2.0
#include "lab/runtime/os/interpose.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "lab/runtime/os/complain.hpp"

namespace unlatch::lab::os {

void* host_symbol(const char* name) noexcept {
  // Condition variables have an older version under the same name, with another layout.
  if (std::strncmp(name, "pthread_cond_", 13) == 0) {
    if (void* const found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2")) return found;
  }
  if (void* const found = dlsym(RTLD_NEXT, name)) return found;
  stop("the C library has no %s", name);
}

}  // namespace unlatch::lab::os
