// SPDX-License-Identifier: Apache-2.0
#include "unlatch/sr_latch.hpp"

#include "any_lock.hpp"

namespace unlatch::testing {

std::vector<combination> combinations_of_sr_latch() {
  return combine_everywhere<unlatch::sr_latch>("sr_latch");
}

}  // namespace unlatch::testing
