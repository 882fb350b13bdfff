// SPDX-License-Identifier: Apache-2.0
//
// A hash map under one lock (Schrimpf 2014, chapter 3).
#include "unlatch/structures/hash_map.hpp"

#include <cstdint>

#include "studies/map_workload.hpp"
#include "studies/studies.hpp"

namespace unlatch::studies {
namespace {

template <class Sections>
measurement measure_hash_map(Sections& sections, const cell& one, const std::stop_token& stop) {
  const auto range = one.params.at("keys");
  basic_hash_map<std::uint64_t, std::uint64_t> map(one.params.at("buckets"));
  fill_half(map, range, one.seed);
  std::uint64_t size = 0;
  auto measured = measure_map(map, sections, one, stop, range, size);
  plain_tx tx;
  require_size(one, map.size(tx, 0, map.bucket_count()), size);
  return measured;
}

}  // namespace

study hash_map_study() {
  study what;
  what.name = "hash_map";
  what.description = "Look-ups, inserts and erases in a chained hash map under one lock";
  what.cases = {{"reads-100", "look-ups only"},
                {"reads-90", "90 % look-ups, the others insert or erase"},
                {"reads-50", "50 % look-ups, the others insert or erase"}};
  what.modes = section_modes(section_kind::allocating);
  what.parameters = {{"buckets", "number of buckets", 1000, 1000, 1, 100'000'000},
                     {"keys", "range of the keys, half of it present", 2000, 2000, 2, 100'000'000},
                     {"window_ms", "length of a cell in milliseconds", 200, 100, 1, 600'000, 2}};
  what.threads = {1, 2, 4};
  what.measure = [](const cell& one, const std::stop_token& stop) {
    return with_sections(one,
                         [&](auto& sections) { return measure_hash_map(sections, one, stop); });
  };
  return what;
}

}  // namespace unlatch::studies
