// SPDX-License-Identifier: Apache-2.0
//
// A doubly linked list under one lock (Schrimpf 2014, section 3.3.3): look-ups read half of it, so
// every update is in their way.
#include "studies/list_workload.hpp"
#include "studies/sections.hpp"
#include "studies/studies.hpp"
#include "studies/tail_list.hpp"

namespace unlatch::studies {
namespace {

template <class Sections>
struct one_list {
  Sections sections;
  alignas(cache_line) tail_list list;

  Sections& sections_of(std::uint64_t) { return sections; }
  tail_list& list_of(std::uint64_t) { return list; }
  [[nodiscard]] std::size_t size() const { return list.size(); }
};

}  // namespace

study list_study() {
  study what;
  what.name = "list";
  what.description = "Look-ups, inserts and removals in a doubly linked list under one lock";
  what.cases = {{"reads-100", "look-ups only"},
                {"reads-50", "50 % look-ups, the others insert or remove"},
                {"reads-0", "inserts and removals only"}};
  what.modes = section_modes();
  what.parameters = {{"values", "values in the list", 100, 100, 1, 1'000'000},
                     {"range", "range of the values", 1000, 1000, 1},
                     {"window_ms", "length of a cell in milliseconds", 200, 100, 1, 600'000, 2}};
  what.threads = {1, 2, 4};
  what.measure = [](const cell& one, const std::stop_token& stop) {
    return with_section_type(one, [&]<class Sections> {
      one_list<Sections> place;
      return measure_lists(place, one, stop);
    });
  };
  return what;
}

}  // namespace unlatch::studies
