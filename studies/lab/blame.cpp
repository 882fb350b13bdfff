// SPDX-License-Identifier: Apache-2.0
#include "studies/lab/blame.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "src/lab/source_lines.hpp"
#include "unlatch/htm.hpp"

namespace unlatch::studies {
namespace {

using nlohmann::json;

constexpr std::size_t most_listed = 20;

std::uint64_t whole(const json& value) { return value.get<std::uint64_t>(); }

/// Adds `line` and, where it is known, its `text`.
void put_line(json& object, const lab::source_lines& names, std::uintptr_t code) {
  object["line"] = names.line_of_call(code);
  if (auto text = names.text_of_call(code); !text.empty()) object["text"] = std::move(text);
}

json place_of(const lab::source_lines& names, std::uintptr_t code) {
  json object = {{"function", names.function_at(code)}};
  put_line(object, names, code);
  return object;
}

/// What is at `address`, of which `object` is known.
std::string name_of(const lab::source_lines& names, const lab::object_record& object,
                    std::uintptr_t address) {
  if (object.begin != 0) {
    return std::to_string(object.bytes) + " bytes allocated at " + names.line_of_call(object.code);
  }
  if (object.thread != ~0U) return "the stack of thread " + std::to_string(object.thread);
  const auto variable = names.variable_at(address);
  if (!variable.empty()) return variable;
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%#zx", static_cast<std::size_t>(address));
  return text.data();
}

/// [first, last] of each run of ones in `mask`, a bit a byte of a cache line.
json ranges_of(std::uint64_t mask) {
  json ranges = json::array();
  for (int first = 0; first < 64; ++first) {
    if ((mask >> first & 1) == 0) continue;
    int last = first;
    while (last < 63 && (mask >> (last + 1) & 1) != 0) ++last;
    ranges.push_back({first, last});
    first = last;
  }
  return ranges;
}

/// Adds the object at `address` and, if it was allocated, where.
void put_object(json& one, const lab::source_lines& names, const lab::object_record& object,
                std::uintptr_t address) {
  one["object"] = name_of(names, object, address);
  if (object.begin != 0) put_line(one["allocation"], names, object.code);
}

json to_json(const lab::source_lines& names, const lab::conflict_side& side) {
  json object = place_of(names, side.code);
  object["access"] = side.write ? "write" : "read";
  object["bytes"] = side.bytes;  // a mask until finish()
  return object;
}

json to_json(const lab::source_lines& names, const lab::conflict_record& conflict) {
  json object = {{"owner", to_json(names, conflict.owner)},
                 {"requester", to_json(names, conflict.requester)},
                 {"begun_at", names.line_of_call(conflict.begun_at)},
                 {"true_sharing", conflict.true_sharing},
                 {"requester_in_transaction", conflict.in_transaction},
                 {"count", conflict.count},
                 {"wasted_cycles", conflict.wasted_cycles}};
  const std::uint64_t wanted = conflict.requester.bytes;
  put_object(object, names, conflict.object,
             conflict.line + static_cast<unsigned>(wanted == 0 ? 0 : std::countr_zero(wanted)));
  return object;
}

/// The lines of source that first touched the cache lines in the set, the busiest first.
json fillers_of(const lab::source_lines& names, const lab::capacity_record& capacity) {
  std::map<std::string, json> by_line;
  for (std::uint32_t i = 0; i < capacity.lines_count; ++i) {
    if (capacity.lines_code[i] == 0) continue;
    json& one = by_line[names.line_of_call(capacity.lines_code[i])];
    if (one.is_null()) {
      put_line(one, names, capacity.lines_code[i]);
      one["lines"] = 0;
    }
    one["lines"] = whole(one["lines"]) + 1;
  }
  std::vector<json> fillers;
  for (auto& [line, one] : by_line) fillers.push_back(std::move(one));
  std::ranges::stable_sort(fillers, std::ranges::greater{},
                           [](const json& one) { return whole(one.at("lines")); });
  return fillers;
}

json to_json(const lab::source_lines& names, const lab::capacity_record& capacity) {
  json object = place_of(names, capacity.code);
  object["begun_at"] = names.line_of_call(capacity.begun_at);
  object["access"] = capacity.reads ? "read" : "write";
  object["set"] = capacity.set;
  object["lines_in_set"] = capacity.lines_count;
  object["tracked_lines"] = capacity.tracked_lines;
  object["filled_by"] = fillers_of(names, capacity);
  object["count"] = capacity.count;
  object["wasted_cycles"] = capacity.wasted_cycles;
  return object;
}

json to_json(const lab::source_lines& names, const lab::abort_record& abort) {
  constexpr std::array<const char*, 10> reasons{
      "conflict",    "write capacity", "read capacity", "explicit abort", "nesting",
      "instruction", "system call",    "page fault",    "interrupt",      "injected"};
  std::array<std::uintptr_t, 1 + lab::call_chain::most> returns{abort.code};
  std::ranges::copy(abort.callers.code, returns.begin() + 1);
  json object = place_of(names, names.outside_library(returns));
  object["reason"] = abort.reason < reasons.size() ? reasons[abort.reason] : "unknown";
  if (htm::status(abort.status).lock_held()) {
    // Elision looks at its lock and then gives up.
    object["reason"] = "lock held";
    put_object(object, names, abort.object, abort.last_access);
  }
  object["begun_at"] = names.line_of_call(abort.begun_at);
  object["count"] = abort.count;
  object["wasted_cycles"] = abort.wasted_cycles;
  return object;
}

/// What entries of one list have in common if a reader would take them for the same.
std::string key_of(const json& one) {
  if (one.contains("owner")) {
    const auto side = [](const json& s) {
      return s.at("line").get<std::string>() + '\n' + s.at("access").get<std::string>() + '\n';
    };
    return side(one.at("owner")) + side(one.at("requester")) + one.at("object").get<std::string>();
  }
  return one.at("line").get<std::string>() + '\n' + one.value("access", "") +
         one.value("reason", "") + '\n' + one.value("object", "");
}

/// Adds what `more` counts to `sum`, which has the same key.
void add(json& sum, const json& more) {
  for (const char* key : {"count", "wasted_cycles", "true_sharing", "requester_in_transaction"}) {
    if (sum.contains(key)) sum[key] = whole(sum[key]) + whole(more.at(key));
  }
  for (const char* side : {"owner", "requester"}) {
    if (!sum.contains(side)) continue;
    sum[side]["bytes"] = whole(sum[side]["bytes"]) | whole(more.at(side).at("bytes"));
  }
}

/// Completes what depends on the sums.
void finish(json& one) {
  if (!one.contains("owner")) return;
  one["sharing"] = 2 * whole(one.at("true_sharing")) >= whole(one.at("count")) ? "true" : "false";
  for (const char* side : {"owner", "requester"}) {
    json& bytes = one[side]["bytes"];
    bytes = ranges_of(whole(bytes));
  }
}

/// The costliest entries, the costliest first. Several instructions of one line make one entry.
template <class Record>
json list_of(const lab::source_lines& names, const Record* records, std::uint64_t count) {
  std::vector<json> list;
  std::map<std::string, std::size_t> places;
  for (std::uint64_t i = 0; i < count; ++i) {
    json one = to_json(names, records[i]);
    const auto [known, is_new] = places.try_emplace(key_of(one), list.size());
    if (is_new) {
      list.push_back(std::move(one));
    } else {
      add(list[known->second], one);
    }
  }
  std::ranges::stable_sort(list, std::ranges::greater{},
                           [](const json& one) { return whole(one.at("wasted_cycles")); });
  if (list.size() > most_listed) list.resize(most_listed);
  for (json& one : list) finish(one);
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
