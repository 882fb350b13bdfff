// SPDX-License-Identifier: Apache-2.0
#include "src/probe/recorder/allocation_functions.hpp"

#include <dlfcn.h>

namespace unlatch::probe::recorder {
namespace {

// C's, and C++'s operators new and delete in their usual forms.
constexpr const char* names[] = {"malloc",
                                 "calloc",
                                 "realloc",
                                 "free",
                                 "posix_memalign",
                                 "_Znwm",
                                 "_Znam",
                                 "_ZdlPv",
                                 "_ZdaPv",
                                 "_ZdlPvm",
                                 "_ZdaPvm",
                                 "aligned_alloc",
                                 "memalign",
                                 "_ZnwmSt11align_val_t",
                                 "_ZdlPvmSt11align_val_t",
                                 "reallocarray"};
constexpr unsigned count = sizeof names / sizeof names[0];
std::uint64_t addresses[count];

}  // namespace

void find_allocation_functions() noexcept {
  for (unsigned i = 0; i < count; ++i) {
    addresses[i] = reinterpret_cast<std::uint64_t>(dlsym(RTLD_DEFAULT, names[i]));
  }
}

bool is_allocation_function(std::uint64_t ip) noexcept {
  for (const std::uint64_t each : addresses) {
    if (each == ip) return true;
  }
  return false;
}

}  // namespace unlatch::probe::recorder
