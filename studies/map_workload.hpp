// SPDX-License-Identifier: Apache-2.0
//
// The workload of the map studies: look up, insert and erase keys drawn uniformly from a range of
// which half is in the map. Inserts and erases balance, so the map keeps its size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "studies/random.hpp"
#include "studies/sections.hpp"
#include "studies/window.hpp"
#include "unlatch/structures/plain_tx.hpp"

namespace unlatch::studies {

/// The share of look-ups that the case "reads-90" names, in percent.
[[nodiscard]] std::uint64_t reads_percent(const std::string& case_name);

/// Fills `map` with random keys up to half of `range`.
template <class Map>
void fill_half(Map& map, std::uint64_t range, std::uint64_t seed) {
  random_numbers random(seed, 0);
  plain_tx tx;
  for (std::uint64_t present = 0; present < range / 2;) {
    const auto key = random.below(range);
    present += map.insert(tx, key, key) ? 1 : 0;
  }
}

/// Throws study_error unless `map` holds `expected` keys.
void require_size(const cell& one, std::uint64_t found, std::uint64_t expected);

/// Runs the workload on `map`, which holds half of `range`, in a window. Returns the measurement;
/// sets `size` to the number of keys that must now be in the map.
template <class Map, class Sections>
measurement measure_map(Map& map, Sections& sections, const cell& one, const std::stop_token& stop,
                        std::uint64_t range, std::uint64_t& size) {
  const auto reads = reads_percent(one.case_name);
  window during(std::chrono::milliseconds(one.params.at("window_ms")));
  std::vector<std::int64_t> grown(one.threads);
  auto measured = during.run(one.threads, stop, [&](unsigned thread) {
    random_numbers random(one.seed, thread + 1);
    std::uint64_t seen = 0;
    std::int64_t more = 0;
    const auto counted = count_operations(during, [&] {
      const auto key = random.below(range);
      const auto dice = random.below(200);
      if (dice < 2 * reads) {
        seen += sections.read([&map, key](auto& tx) { return map.find(tx, key); }).value_or(0);
      } else if (dice % 2 == 0) {
        more += sections.update([&map, key](auto& tx) { return map.insert(tx, key, key); }) ? 1 : 0;
      } else {
        more -= sections.update([&map, key](auto& tx) { return map.erase(tx, key); }) ? 1 : 0;
      }
    });
    asm volatile("" : : "r"(seen));  // the look-ups must not be optimized away
    grown[thread] = more;
    return counted;
  });
  size = range / 2;
  for (const auto more : grown) size += static_cast<std::uint64_t>(more);
  return measured;
}

}  // namespace unlatch::studies
