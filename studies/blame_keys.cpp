// SPDX-License-Identifier: Apache-2.0
#include "studies/blame_keys.hpp"

#include <fmt/core.h>

#include <string_view>

namespace unlatch::studies {
namespace {

using nlohmann::json;

/// One JSON value, with the path that leads to it. Throws blame_fault.
class node {
 public:
  node(const json& value, std::string path) : value_(value), path_(std::move(path)) {}

  template <class Check>
  void each(const char* key, Check check) const {
    const json& list = at(key);
    if (!list.is_array()) wrong(key, list, "a list");
    for (std::size_t i = 0; i != list.size(); ++i) {
      const node entry(list[i], fmt::format("{}[{}]", below(key), i));
      if (!list[i].is_object()) entry.fail("an object");
      check(entry);
    }
  }

  template <class Check>
  void object(const char* key, Check check) const {
    if (!at(key).is_object()) wrong(key, at(key), "an object");
    check(node(at(key), below(key)));
  }

  void text(const char* key) const {
    if (!at(key).is_string()) wrong(key, at(key), "a string");
  }

  void whole(const char* key) const {
    if (!at(key).is_number_unsigned()) wrong(key, at(key), "a whole number, 0 or more");
  }

  void one_of(const char* key, std::string_view first, std::string_view second) const {
    if (at(key) != first && at(key) != second) {
      wrong(key, at(key), fmt::format("\"{}\" or \"{}\"", first, second));
    }
  }

  /// [[0, 7], [16, 23]]: first and last byte in a cache line.
  void ranges(const char* key) const {
    constexpr unsigned line_bytes = 64;
    const json& list = at(key);
    bool good = list.is_array();
    for (const json& range : list) {
      good = good && range.is_array() && range.size() == 2 && range[0].is_number_unsigned() &&
             range[1].is_number_unsigned() && range[0] <= range[1] && range[1] < line_bytes;
    }
    if (!good) wrong(key, list, "a list of [first, last] byte of a cache line");
  }

  [[nodiscard]] bool has(const char* key) const { return value_.contains(key); }

 private:
  [[nodiscard]] const json& at(const char* key) const {
    const auto found = value_.find(key);
    if (found == value_.end()) throw blame_fault{below(key), "is missing"};
    return *found;
  }

  [[nodiscard]] std::string below(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  }

  void fail(std::string_view wanted) const {
    throw blame_fault{path_, fmt::format("is {}, must be {}", value_.dump(), wanted)};
  }

  void wrong(const char* key, const json& value, std::string_view wanted) const {
    throw blame_fault{below(key), fmt::format("is {}, must be {}", value.dump(), wanted)};
  }

  const json& value_;
  std::string path_;
};

void check_line(const node& one) {
  one.text("line");
  if (one.has("text")) one.text("text");
}

void check_place(const node& one) {
  check_line(one);
  one.text("function");
}

void check_counts(const node& one) {
  one.whole("count");
  one.whole("wasted_cycles");
  if (one.has("begun_at")) one.text("begun_at");
}

void check_side(const node& side) {
  check_place(side);
  side.one_of("access", "read", "write");
  if (side.has("bytes")) side.ranges("bytes");
}

void check_conflict(const node& one) {
  one.object("owner", check_side);
  one.object("requester", check_side);
  one.text("object");
  if (one.has("allocation")) one.object("allocation", check_line);
  one.one_of("sharing", "true", "false");
  for (const char* key : {"true_sharing", "requester_in_transaction"}) {
    if (one.has(key)) one.whole(key);
  }
  check_counts(one);
}

void check_capacity(const node& one) {
  check_place(one);
  one.one_of("access", "read", "write");
  for (const char* key : {"set", "lines_in_set", "tracked_lines"}) one.whole(key);
  if (one.has("filled_by")) {
    one.each("filled_by", [](const node& filler) {
      check_line(filler);
      filler.whole("lines");
    });
  }
  check_counts(one);
}

void check_other(const node& one) {
  check_place(one);
  one.text("reason");
  if (one.has("object")) one.text("object");
  if (one.has("allocation")) one.object("allocation", check_line);
  check_counts(one);
}

}  // namespace

std::optional<blame_fault> find_fault(const json& blame) {
  if (!blame.is_object()) return blame_fault{"", "must be an object"};
  try {
    const node root(blame, "");
    root.each("conflicts", check_conflict);
    root.each("capacities", check_capacity);
    root.each("others", check_other);
    return std::nullopt;
  } catch (const blame_fault& fault) {
    return fault;
  }
}

}  // namespace unlatch::studies
