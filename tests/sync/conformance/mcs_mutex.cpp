// SPDX-License-Identifier: Apache-2.0
#include "unlatch/mcs_mutex.hpp"

#include "any_lock.hpp"

namespace unlatch::testing {

std::vector<combination> combinations_of_mcs_mutex() {
  return combine_everywhere<unlatch::mcs_mutex>("mcs_mutex");
}

}  // namespace unlatch::testing
