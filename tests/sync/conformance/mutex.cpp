// SPDX-License-Identifier: Apache-2.0
#include "unlatch/mutex.hpp"

#include "any_lock.hpp"

namespace unlatch::testing {

std::vector<combination> combinations_of_mutex() {
  return combine_everywhere<unlatch::mutex>("mutex");
}

}  // namespace unlatch::testing
