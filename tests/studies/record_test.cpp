// SPDX-License-Identifier: Apache-2.0
#include "studies/record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "sample.hpp"

namespace unlatch::studies {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of(std::string_view line) {
  try {
    static_cast<void>(parse_record(line, "run.jsonl:7"));
  } catch (const record_error& error) {
    return error.what();
  }
  return "no error";
}

std::string error_with(const char* pointer, const json& value) {
  json object = to_json(testing::full_record());
  object[json::json_pointer(pointer)] = value;
  return error_of(object.dump());
}

TEST(Record, comes_back_from_json_as_it_was_with_the_keys_of_the_study) {
  const record one = testing::full_record();
  EXPECT_EQ(parse_record(to_json(one).dump(), "x"), one);
}

TEST(Record, needs_no_key_that_only_some_studies_write) {
  record one = testing::full_record();
  one.latency_us.clear();
  one.software.reset();
  one.context_switches.reset();
  one.baseline.clear();
  one.command.clear();
  one.host.kernel.clear();
  one.extra = json::object();
  const json object = to_json(one);
  for (const char* key : {"latency_us", "software", "context_switches", "baseline", "command"}) {
    EXPECT_FALSE(object.contains(key)) << key;
  }
  EXPECT_EQ(parse_record(object.dump(), "x"), one);
}

TEST(Record, keeps_the_documented_names_of_its_keys) {
  const json object = to_json(testing::full_record());
  EXPECT_EQ(object.at("case"), "fillrandom");
  EXPECT_EQ(object.at("transactions").at("aborted").at("explicit"), 3);
  EXPECT_EQ(object.at("software").at("aborted"), 9);
  EXPECT_EQ(object.at("host").at("cpus"), 2);
  EXPECT_EQ(object.at("note"), "kept");
}

TEST(Record, names_file_line_and_field_of_each_key_that_is_missing) {
  for (const char* key :
       {"study", "case", "mode", "policy", "params", "where", "threads", "repeat", "seed", "ops",
        "seconds", "throughput", "transactions", "fallbacks", "build", "host"}) {
    json object = to_json(testing::full_record());
    object.erase(key);
    EXPECT_EQ(error_of(object.dump()), std::string("run.jsonl:7: field '") + key +
                                           "': is missing; delete the line and run its cell again");
  }
}

TEST(Record, names_the_path_of_a_nested_field) {
  json object = to_json(testing::full_record());
  object["transactions"]["aborted"].erase("capacity");
  EXPECT_THAT(error_of(object.dump()),
              StartsWith("run.jsonl:7: field 'transactions.aborted.capacity': is missing"));
}

TEST(Record, rejects_a_field_of_the_wrong_type_and_says_what_it_must_be) {
  EXPECT_EQ(error_with("/study", 3),
            "run.jsonl:7: field 'study': is 3, must be a string; correct it or delete the line");
  EXPECT_THAT(error_with("/threads", "two"),
              HasSubstr("field 'threads': is \"two\", must be a whole"));
  EXPECT_THAT(error_with("/threads", 1.5), HasSubstr("field 'threads': is 1.5, must be a whole"));
  EXPECT_THAT(error_with("/ops", -1), HasSubstr("field 'ops': is -1, must be a whole number"));
  EXPECT_THAT(error_with("/seconds", "long"), HasSubstr("field 'seconds'"));
  EXPECT_THAT(error_with("/params", json::array()), HasSubstr("field 'params': is [], must be an"));
  EXPECT_THAT(error_with("/params/value_size", "big"), HasSubstr("field 'params.value_size'"));
  EXPECT_THAT(error_with("/latency_us/p50", nullptr), HasSubstr("field 'latency_us.p50'"));
  EXPECT_THAT(error_with("/transactions", 0), HasSubstr("field 'transactions'"));
  EXPECT_THAT(error_with("/software/started", "x"), HasSubstr("field 'software.started'"));
  EXPECT_THAT(error_with("/context_switches", 0.5), HasSubstr("field 'context_switches'"));
  EXPECT_THAT(error_with("/host/load", "low"), HasSubstr("field 'host.load'"));
  EXPECT_THAT(error_with("/host", "here"), HasSubstr("field 'host'"));
  EXPECT_THAT(error_with("/command", 5), HasSubstr("field 'command'"));
}

TEST(Record, rejects_a_value_out_of_its_range) {
  EXPECT_THAT(error_with("/threads", 0), HasSubstr("field 'threads': 0 is outside 1 to"));
  EXPECT_THAT(error_with("/throughput", -2.0), HasSubstr("field 'throughput': -2 is no finite"));
  EXPECT_THAT(error_with("/mode", ""), HasSubstr("field 'mode': is empty"));
}

TEST(Record, rejects_a_line_that_is_no_json_object) {
  EXPECT_EQ(error_of("{\"study\": "), "run.jsonl:7: byte 11 is no valid JSON; delete the line");
  EXPECT_EQ(error_of("[1]"), "run.jsonl:7: is no JSON object; delete the line");
}

TEST(RecordFiles, are_read_in_the_order_of_their_names_without_empty_lines) {
  const testing::temporary_directory directory;
  record one = testing::full_record();
  one.study = "b";
  std::ofstream(directory.path() / "b.jsonl") << to_json(one) << "\n\n";
  one.study = "a";
  std::ofstream(directory.path() / "a.jsonl") << "\n" << to_json(one) << '\n' << to_json(one);
  std::ofstream(directory.path() / "a.jsonl.previous") << "not read";
  const auto records = read_run(directory.path());
  ASSERT_EQ(records.size(), 3);
  EXPECT_EQ(records[0].study, "a");
  EXPECT_EQ(records[2].study, "b");
}

std::string run_error(const std::filesystem::path& directory) {
  try {
    static_cast<void>(read_run(directory));
  } catch (const record_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(RecordFiles, name_the_line_that_is_malformed) {
  const testing::temporary_directory directory;
  std::ofstream(directory.path() / "a.jsonl") << to_json(testing::full_record()) << '\n'
                                              << "half a rec";
  EXPECT_THAT(run_error(directory.path()),
              StartsWith((directory.path() / "a.jsonl:2: byte ").string()));
}

TEST(RecordFiles, must_be_there) {
  const testing::temporary_directory directory;
  EXPECT_THAT(run_error(directory.path()), HasSubstr("holds no records"));
  EXPECT_THAT(run_error(directory.path() / "absent"), HasSubstr("No such file or directory"));
  EXPECT_THROW(static_cast<void>(read_records(directory.path() / "absent.jsonl")), record_error);
}

}  // namespace
}  // namespace unlatch::studies
