// SPDX-License-Identifier: Apache-2.0
#include "unlatch/rw_semaphore.hpp"

#include "any_lock.hpp"

namespace unlatch::testing {

std::vector<combination> combinations_of_rw_semaphore() {
  return combine_everywhere<unlatch::rw_semaphore>("rw_semaphore");
}

}  // namespace unlatch::testing
