// SPDX-License-Identifier: Apache-2.0
#include "studies/blame_keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample.hpp"

namespace unlatch::studies {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// With every key that is described.
json full_blame() {
  return json::parse(R"({
    "conflicts": [{
      "owner": {"line": "a.cpp:1", "function": "f", "text": "x = 1;", "access": "write",
                "bytes": [[0, 7], [63, 63]]},
      "requester": {"line": "b.cpp:2", "function": "g", "access": "read", "bytes": []},
      "begun_at": "a.cpp:9", "object": "64 bytes allocated at c.cpp:3",
      "allocation": {"line": "c.cpp:3", "text": "new node"},
      "sharing": "false", "true_sharing": 1, "requester_in_transaction": 0,
      "count": 4, "wasted_cycles": 900}],
    "capacities": [{
      "line": "a.cpp:1", "function": "f", "text": "x = 1;", "begun_at": "a.cpp:9",
      "access": "write", "set": 3, "lines_in_set": 9, "tracked_lines": 40,
      "filled_by": [{"line": "a.cpp:1", "text": "x = 1;", "lines": 9}],
      "count": 1, "wasted_cycles": 5}],
    "others": [{
      "line": "a.cpp:1", "function": "f", "begun_at": "a.cpp:9", "reason": "lock held",
      "object": "64 bytes allocated at c.cpp:3", "allocation": {"line": "c.cpp:3"},
      "count": 1, "wasted_cycles": 5}]})");
}

std::string fault_with(const char* pointer, const json& value) {
  json blame = full_blame();
  blame[json::json_pointer(pointer)] = value;
  const auto fault = find_fault(blame);
  return fault ? fault->key + ": " + fault->what : "none";
}

std::string fault_without(const char* parent, const char* key) {
  json blame = full_blame();
  blame[json::json_pointer(parent)].erase(key);
  const auto fault = find_fault(blame);
  return fault ? fault->key + ": " + fault->what : "none";
}

TEST(BlameKeys, are_as_described_or_fewer_where_records_had_them_not_always) {
  EXPECT_FALSE(find_fault(full_blame()));
  EXPECT_EQ(fault_without("/conflicts/0/owner", "text"), "none");
  EXPECT_EQ(fault_without("/conflicts/0/owner", "bytes"), "none");
  EXPECT_EQ(fault_without("/conflicts/0", "true_sharing"), "none");
  EXPECT_EQ(fault_without("/conflicts/0", "allocation"), "none");
  EXPECT_EQ(fault_without("/capacities/0", "filled_by"), "none");
  EXPECT_EQ(fault_without("/others/0", "object"), "none");
  EXPECT_EQ(fault_without("/others/0", "allocation"), "none");
  EXPECT_EQ(fault_with("/others/0/note", 7), "none");
}

TEST(BlameKeys, must_be_there) {
  EXPECT_EQ(fault_without("", "others"), "others: is missing");
  EXPECT_EQ(fault_without("/conflicts/0", "owner"), "conflicts[0].owner: is missing");
  EXPECT_EQ(fault_without("/conflicts/0/requester", "line"),
            "conflicts[0].requester.line: is missing");
  EXPECT_EQ(fault_without("/capacities/0", "set"), "capacities[0].set: is missing");
  EXPECT_EQ(fault_without("/others/0", "wasted_cycles"), "others[0].wasted_cycles: is missing");
}

TEST(BlameKeys, must_have_the_right_type) {
  EXPECT_EQ(fault_with("/conflicts", 1), "conflicts: is 1, must be a list");
  EXPECT_EQ(fault_with("/conflicts/0", "x"), "conflicts[0]: is \"x\", must be an object");
  EXPECT_EQ(fault_with("/conflicts/0/owner/text", 1),
            "conflicts[0].owner.text: is 1, must be a string");
  EXPECT_EQ(fault_with("/conflicts/0/owner/access", "prefetch"),
            "conflicts[0].owner.access: is \"prefetch\", must be \"read\" or \"write\"");
  EXPECT_EQ(fault_with("/others/0/count", -1),
            "others[0].count: is -1, must be a whole number, 0 or more");
  EXPECT_EQ(fault_with("/capacities/0/filled_by/0/lines", "x"),
            "capacities[0].filled_by[0].lines: is \"x\", must be a whole number, 0 or more");
  EXPECT_TRUE(find_fault(json::array()));
}

TEST(BlameKeys, give_bytes_as_ranges_in_a_cache_line) {
  for (const json& wrong : {json("0-7"), json({0, 7}), json::parse("[[7, 0]]"),
                            json::parse("[[0, 64]]"), json::parse("[[0, 1, 2]]")}) {
    EXPECT_THAT(fault_with("/conflicts/0/owner/bytes", wrong),
                HasSubstr("must be a list of [first, last] byte of a cache line"));
  }
}

TEST(BlameKeys, are_checked_where_records_are_read) {
  json object = to_json(testing::full_record());
  object["blame"] = full_blame();
  EXPECT_EQ(parse_record(object.dump(), "run.jsonl:7").extra.at("blame"), full_blame());
  object["blame"]["conflicts"][0]["owner"]["line"] = 5;
  try {
    static_cast<void>(parse_record(object.dump(), "run.jsonl:7"));
    FAIL() << "nothing was thrown";
  } catch (const record_error& error) {
    EXPECT_STREQ(error.what(),
                 "run.jsonl:7: field 'blame.conflicts[0].owner.line': is 5, must be a string; "
                 "delete the line and run its cell again");
  }
}

}  // namespace
}  // namespace unlatch::studies
