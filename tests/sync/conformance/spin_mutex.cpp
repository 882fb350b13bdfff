// SPDX-License-Identifier: Apache-2.0
#include "unlatch/spin_mutex.hpp"

#include "any_lock.hpp"

namespace unlatch::testing {

std::vector<combination> combinations_of_spin_mutex() {
  return combine_everywhere<unlatch::spin_mutex>("spin_mutex");
}

}  // namespace unlatch::testing
