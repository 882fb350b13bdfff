// SPDX-License-Identifier: Apache-2.0
#include "studies/lab/blame.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "src/lab/source_lines.hpp"

namespace unlatch::studies {
namespace {

using nlohmann::json;

constexpr std::size_t most_listed = 20;

/// Pointers to the costliest records, the costliest first.
template <class Record>
std::vector<const Record*> costliest(const Record* records, std::uint64_t count) {
  std::vector<const Record*> sorted;
  for (std::uint64_t i = 0; i < count; ++i) sorted.push_back(&records[i]);
  std::ranges::stable_sort(
      sorted, [](const Record* a, const Record* b) { return a->wasted_cycles > b->wasted_cycles; });
  if (sorted.size() > most_listed) sorted.resize(most_listed);
  return sorted;
}

json place_of(const lab::source_lines& names, std::uintptr_t code) {
  return {{"line", names.line_of_call(code)}, {"function", names.function_at(code)}};
}

std::string object_of(const lab::source_lines& names, const lab::conflict_record& conflict) {
  const auto& object = conflict.object;
  if (object.begin != 0) {
    return std::to_string(object.bytes) + " bytes allocated at " + names.line_of_call(object.code);
  }
  if (object.thread != ~0U) return "the stack of thread " + std::to_string(object.thread);
  const auto variable = names.variable_at(conflict.line);
  if (!variable.empty()) return variable;
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%#zx", static_cast<std::size_t>(conflict.line));
  return text.data();
}

json to_json(const lab::source_lines& names, const lab::conflict_side& side) {
  json object = place_of(names, side.code);
  object["access"] = side.write ? "write" : "read";
  return object;
}

json to_json(const lab::source_lines& names, const lab::conflict_record& conflict) {
  return {{"owner", to_json(names, conflict.owner)},
          {"requester", to_json(names, conflict.requester)},
          {"begun_at", names.line_of_call(conflict.begun_at)},
          {"object", object_of(names, conflict)},
          {"sharing", 2 * conflict.true_sharing >= conflict.count ? "true" : "false"},
          {"requester_in_transaction", conflict.in_transaction},
          {"count", conflict.count},
          {"wasted_cycles", conflict.wasted_cycles}};
}

json to_json(const lab::source_lines& names, const lab::capacity_record& capacity) {
  json object = place_of(names, capacity.code);
  object["begun_at"] = names.line_of_call(capacity.begun_at);
  object["access"] = capacity.reads ? "read" : "write";
  object["set"] = capacity.set;
  object["lines_in_set"] = capacity.lines_count;
  object["tracked_lines"] = capacity.tracked_lines;
  object["count"] = capacity.count;
  object["wasted_cycles"] = capacity.wasted_cycles;
  return object;
}

json to_json(const lab::source_lines& names, const lab::abort_record& abort) {
  constexpr std::array<const char*, 10> reasons{
      "conflict",    "write capacity", "read capacity", "explicit abort", "nesting",
      "instruction", "system call",    "page fault",    "interrupt",      "injected"};
  json object = place_of(names, abort.code);
  object["reason"] = abort.reason < reasons.size() ? reasons[abort.reason] : "unknown";
  object["begun_at"] = names.line_of_call(abort.begun_at);
  object["count"] = abort.count;
  object["wasted_cycles"] = abort.wasted_cycles;
  return object;
}

template <class Record>
json list_of(const lab::source_lines& names, const Record* records, std::uint64_t count) {
  json list = json::array();
  for (const Record* record : costliest(records, count)) list.push_back(to_json(names, *record));
  return list;
}

}  // namespace

json blame_of(const lab::blame_lists& blame) {
  const lab::source_lines names;
  return {{"conflicts", list_of(names, blame.conflicts, blame.conflicts_count)},
          {"capacities", list_of(names, blame.capacities, blame.capacities_count)},
          {"others", list_of(names, blame.aborts, blame.aborts_count)}};
}

}  // namespace unlatch::studies
