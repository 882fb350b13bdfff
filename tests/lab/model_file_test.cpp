// SPDX-License-Identifier: Apache-2.0
#include "src/lab/model_file.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "src/lab/model_fields.hpp"

namespace unlatch::lab {
namespace {

using nlohmann::ordered_json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const model_file& builtin(const std::string& name) {
  for (const auto& file : builtin_models()) {
    if (file.name == name) return file;
  }
  throw std::runtime_error("no built-in model " + name);
}

ordered_json sample() { return to_json(builtin("i7-4770")); }

std::string error_of_text(const std::string& text) {
  try {
    (void)parse_model(text, "m.json");
  } catch (const model_error& error) {
    return error.what();
  }
  return "no error";
}

std::string error_of(const ordered_json& object) { return error_of_text(object.dump()); }

TEST(ModelFile, the_machines_of_the_studies_are_built_in) {
  std::vector<std::string> names;
  for (const auto& file : builtin_models()) names.push_back(file.name);
  EXPECT_THAT(names, testing::ElementsAre("2x-xeon-gold-6226", "i5-4670t", "i7-4770", "xeon-8480",
                                          "xeon-e3-1270v3"));
}

TEST(ModelFile, a_model_reads_back_what_it_writes) {
  for (const auto& file : builtin_models()) {
    const auto again = parse_model(to_json(file).dump(2), "again");
    EXPECT_EQ(again.name, file.name);
    EXPECT_EQ(again.listed, file.listed) << file.name;
    EXPECT_EQ(again.calibration, file.calibration) << file.name;
  }
}

TEST(ModelFile, every_constant_reaches_its_own_member) {
  const auto original = sample();
  for (const auto& field : model_fields()) {
    if (field.number == nullptr) continue;
    auto file = parse_model(original.dump(), "m.json");
    std::vector<std::uint32_t> before;
    for (const auto& other : model_fields()) {
      if (other.number != nullptr) before.push_back(other.number(file.constants));
    }
    field.number(file.constants) += 1;
    std::size_t changed = 0;
    std::size_t at = 0;
    for (const auto& other : model_fields()) {
      if (other.number == nullptr) continue;
      changed += other.number(file.constants) != before[at++] ? 1 : 0;
    }
    EXPECT_EQ(changed, 1U) << field.path;
  }
}

TEST(ModelFile, the_cpus_of_the_two_socket_machine_are_numbered_as_in_its_study) {
  const auto& machine = builtin("2x-xeon-gold-6226").constants;
  EXPECT_EQ(machine.cpus(), 48U);
  EXPECT_EQ(machine.core_of(0), machine.core_of(12));
  EXPECT_NE(machine.core_of(0), machine.core_of(11));
  EXPECT_EQ(machine.socket_of(23), 0U);
  EXPECT_EQ(machine.socket_of(24), 1U);
  EXPECT_EQ(machine.core_of(24), machine.core_of(36));
  EXPECT_EQ(machine.core_of(47), 23U);
}

TEST(ModelFile, a_malformed_text_is_told_with_its_line) {
  EXPECT_THAT(error_of_text("{\n\"name\": \"x\",\n oops}"),
              AllOf(StartsWith("m.json:3: "), HasSubstr("no JSON")));
}

TEST(ModelFile, a_missing_constant_is_named) {
  auto object = sample();
  object["constants"]["l1d"].erase("ways");
  EXPECT_EQ(error_of(object), "m.json: field 'constants.l1d.ways': is missing");
}

TEST(ModelFile, an_unknown_constant_is_named_with_what_is_allowed) {
  auto object = sample();
  object["constants"]["l1d"]["way"] = 1;
  EXPECT_EQ(error_of(object),
            "m.json: field 'constants.l1d.way': is not known; allowed here are bytes, ways, "
            "latency, inclusive");
}

TEST(ModelFile, a_value_out_of_its_range_is_told_with_the_range) {
  auto object = sample();
  object["constants"]["transactions"]["begin"]["value"] = -1;
  EXPECT_EQ(error_of(object),
            "m.json: field 'constants.transactions.begin': is -1; must be a whole number from 0 "
            "to 10000 (cycles)");
}

TEST(ModelFile, a_wrong_unit_is_told) {
  auto object = sample();
  object["constants"]["mhz"]["unit"] = "GHz";
  EXPECT_EQ(error_of(object), "m.json: field 'constants.mhz.unit': is 'GHz'; must be 'MHz'");
}

TEST(ModelFile, a_constant_without_a_source_is_refused) {
  auto object = sample();
  object["constants"]["mhz"]["source"] = "";
  EXPECT_THAT(error_of(object), HasSubstr("'constants.mhz.source': must be a text"));
  object["constants"]["mhz"].erase("source");
  EXPECT_THAT(error_of(object), HasSubstr("'constants.mhz.source': is missing"));
}

TEST(ModelFile, a_cache_whose_sets_are_no_power_of_two_is_refused_where_address_bits_choose) {
  auto object = sample();
  object["constants"]["l1d"]["bytes"]["value"] = 40960;
  EXPECT_THAT(error_of(object), AllOf(HasSubstr("'constants.l1d.bytes': is 40960"),
                                      HasSubstr("512 (8 ways of 64-byte lines)")));
}

TEST(ModelFile, more_cpus_than_can_be_simulated_are_refused) {
  auto object = sample();
  object["constants"]["cores_per_socket"]["value"] = 128;
  object["constants"]["sockets"]["value"] = 8;
  EXPECT_THAT(error_of(object), HasSubstr("2048 logical CPUs on 1024 cores; at most 128 on 64"));
}

TEST(ModelFile, a_file_that_is_not_there_is_named) {
  try {
    (void)read_model("/nowhere/m.json");
    FAIL() << "it was read";
  } catch (const model_error& error) {
    EXPECT_THAT(error.what(), StartsWith("/nowhere/m.json: cannot be read"));
  }
}

}  // namespace
}  // namespace unlatch::lab
