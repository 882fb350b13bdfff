// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "studies/nearest_name.hpp"
#include "studies/studies.hpp"
#include "studies/study.hpp"

namespace unlatch::studies {

const study_mode& study::mode(std::string_view wanted) const {
  const auto found = std::ranges::find(modes, wanted, &study_mode::name);
  if (found == modes.end()) throw unknown_name("mode", wanted, names_of(modes));
  return *found;
}

const std::vector<study>& registry() {
  static const std::vector<study> studies{
#ifdef UNLATCH_STUDIES_OF_LEVELDB
      leveldb_study(),    ycsb_study(),
#endif
      counters_study(),   hash_map_study(),      red_black_tree_study(), bank_study(),
      mpsc_queue_study(), core_counters_study(), list_study(),           bucket_map_study(),
      random_study(),     lock_word_study(),     overhead_study(),       policies_study(),
      primitives_study(), capacity_study(),      duration_study(),       nesting_study(),
      prefixes_study(),   allocation_study(),    abort_cost_study()};
  return studies;
}

const study& find_study(std::string_view name) {
  const auto& studies = registry();
  const auto found = std::ranges::find(studies, name, &study::name);
  if (found == studies.end()) throw unknown_name("study", name, names_of(studies));
  return *found;
}

}  // namespace unlatch::studies
