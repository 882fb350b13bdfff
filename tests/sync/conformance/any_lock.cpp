// SPDX-License-Identifier: Apache-2.0
#include "any_lock.hpp"

#include <algorithm>
#include <iterator>
#include <ostream>

namespace unlatch::testing {

std::unique_ptr<any_lock> combination::make() const { return makers.front().make(); }

std::ostream& operator<<(std::ostream& out, const combination& c) {
  return out << c.lock << "_" << c.where;
}

std::vector<combination> every_combination() {
  std::vector<combination> all;
  for (auto* const combinations :
       {combinations_of_mutex, combinations_of_spin_mutex, combinations_of_ticket_mutex,
        combinations_of_mcs_mutex, combinations_of_shared_mutex, combinations_of_sr_latch,
        combinations_of_rw_semaphore})
    std::ranges::move(combinations(), std::back_inserter(all));
  return all;
}

std::vector<combination> isolating_combinations() {
  std::vector<combination> some = every_combination();
  std::erase_if(some, [](const combination& c) { return !c.isolates; });
  return some;
}

std::vector<combination> shared_combinations() {
  std::vector<combination> some = isolating_combinations();
  std::erase_if(some, [](const combination& c) { return !c.shared; });
  return some;
}

}  // namespace unlatch::testing
