// SPDX-License-Identifier: Apache-2.0
#include "studies/map_workload.hpp"

#include <charconv>

#include "studies/formatted.hpp"

namespace unlatch::studies {

std::uint64_t reads_percent(const std::string& case_name) {
  std::uint64_t percent = 0;
  const auto digits = case_name.find_first_of("0123456789");
  std::from_chars(case_name.data() + digits, case_name.data() + case_name.size(), percent);
  return percent;
}

void require_size(const cell& one, std::uint64_t found, std::uint64_t expected) {
  if (found == expected) return;
  throw study_error(
      formatted("mode {}, policy {}: the map holds {} keys and should hold {}; sections ran into "
                "each other, please report this",
                one.mode, one.policy, found, expected));
}

}  // namespace unlatch::studies
