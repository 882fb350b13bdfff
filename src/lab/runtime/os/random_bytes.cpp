// SPDX-License-Identifier: Apache-2.0
//
// Random bytes from the kernel: in a simulation they come from the run's seed, so that a run can be
// repeated. (std::random_device gets its own from here.)
#include <sys/random.h>
#include <unistd.h>

#include <cstring>

#include "lab/runtime/os/interpose.hpp"
#include "lab/runtime/os/memory_access.hpp"
#include "lab/runtime/os/run_state.hpp"

using namespace unlatch::lab;      // NOLINT(google-build-using-namespace): definitions only
using namespace unlatch::lab::os;  // NOLINT(google-build-using-namespace)

namespace {

void fill(void* buffer, size_t size) noexcept {
  scheduler::enter_kernel();
  will_write(buffer, size);
  auto* at = static_cast<unsigned char*>(buffer);
  while (size != 0) {
    const std::uint64_t number = random_number();
    const size_t part = size < sizeof number ? size : sizeof number;
    std::memcpy(at, &number, part);
    at += part;
    size -= part;
  }
}

}  // namespace

UNLATCH_LAB_INTERPOSE ssize_t getrandom(void* buffer, size_t size, unsigned flags) {
  if (host_mode()) return UNLATCH_LAB_HOST(getrandom)(buffer, size, flags);
  fill(buffer, size);
  return static_cast<ssize_t>(size);
}

UNLATCH_LAB_INTERPOSE int getentropy(void* buffer, size_t size) {
  if (host_mode()) return UNLATCH_LAB_HOST(getentropy)(buffer, size);
  fill(buffer, size);
  return 0;
}

UNLATCH_LAB_INTERPOSE unsigned arc4random() noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(arc4random)();
  unsigned result;
  fill(&result, sizeof result);
  return result;
}
