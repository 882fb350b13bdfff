// SPDX-License-Identifier: Apache-2.0
#include "unlatch/shared_mutex.hpp"

#include "any_lock.hpp"

namespace unlatch::testing {

std::vector<combination> combinations_of_shared_mutex() {
  return combine_everywhere<unlatch::shared_mutex>("shared_mutex");
}

}  // namespace unlatch::testing
