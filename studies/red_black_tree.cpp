// SPDX-License-Identifier: Apache-2.0
//
// A red-black tree under one lock: deeper than a hash chain, and its updates write far from the
// leaf.
#include "unlatch/structures/red_black_tree.hpp"

#include <cstdint>

#include "studies/formatted.hpp"
#include "studies/map_workload.hpp"
#include "studies/studies.hpp"

namespace unlatch::studies {
namespace {

// A tree's sections are long to compile, once for each policy; the other studies have them all.
using tree_policies = policies_by_name<policy::list<policy::adaptive>>;

template <class Sections>
measurement measure_tree(Sections& sections, const cell& one, const std::stop_token& stop) {
  const auto range = 2 * one.params.at("keys");
  basic_red_black_tree<std::uint64_t, std::uint64_t> tree;
  fill_half(tree, range, one.seed);
  std::uint64_t size = 0;
  auto measured = measure_map(tree, sections, one, stop, range, size);
  plain_tx tx;
  if (const auto violated = tree.violated_invariant(tx)) {
    throw study_error(
        formatted("mode {}, policy {}: {}; sections ran into each other, please "
                  "report this",
                  one.mode, one.policy, *violated));
  }
  require_size(one, tree.size(tx), size);
  return measured;
}

}  // namespace

study red_black_tree_study() {
  study what;
  what.name = "red_black_tree";
  what.description = "Look-ups, inserts and erases in a red-black tree under one lock";
  what.cases = {{"reads-100", "look-ups only"},
                {"reads-90", "90 % look-ups, the others insert or erase"}};
  what.modes = section_modes<tree_policies>(section_kind::allocating);
  what.parameters = {
      {"keys", "keys in the tree, drawn from twice as many", 100'000, 100'000, 1, 100'000'000},
      {"window_ms", "length of a cell in milliseconds", 200, 100, 1, 600'000, 2}};
  what.threads = {1, 2, 4};
  what.measure = [](const cell& one, const std::stop_token& stop) {
    return with_sections<tree_policies>(
        one, [&](auto& sections) { return measure_tree(sections, one, stop); });
  };
  return what;
}

}  // namespace unlatch::studies
