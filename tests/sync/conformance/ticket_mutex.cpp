// SPDX-License-Identifier: Apache-2.0
#include "unlatch/ticket_mutex.hpp"

#include "any_lock.hpp"

namespace unlatch::testing {

std::vector<combination> combinations_of_ticket_mutex() {
  return combine_everywhere<unlatch::ticket_mutex>("ticket_mutex");
}

}  // namespace unlatch::testing
