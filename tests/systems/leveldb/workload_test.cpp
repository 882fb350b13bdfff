// SPDX-License-Identifier: Apache-2.0
#include "systems/leveldb/ycsb/workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "goodness_of_fit.hpp"
#include "workload_of.hpp"

namespace unlatch::ycsb {
namespace {

using ::testing::HasSubstr;

std::string complaint_about(const std::string& text) {
  try {
    (void)workload_of(text);
  } catch (const property_error& error) {
    return error.what();
  }
  return "no complaint";
}

struct standard_workload {
  char letter;
  /// read, update, insert, scan, read-modify-write
  std::vector<double> proportions;
  request_distribution requests;
};

class StandardWorkloads : public ::testing::TestWithParam<standard_workload> {};

TEST_P(StandardWorkloads, perform_the_published_mix) {
  const auto file =
      std::filesystem::path(UNLATCH_YCSB_WORKLOADS) / (std::string("workload") + GetParam().letter);
  const workload described = workload::from(properties::read(file));
  EXPECT_EQ(described.requests, GetParam().requests);
  EXPECT_EQ(described.record_count, 1000u);
  EXPECT_EQ(described.operation_count, 1000u);
  EXPECT_EQ(described.field_count, 10u);
  EXPECT_EQ(described.field.most, 100u);
  random_engine random(unlatch::testing::new_seed());
  std::vector<std::uint64_t> counts(operations);
  for (int i = 0; i < 100'000; ++i) {
    ++counts.at(static_cast<std::size_t>(described.next_operation(random)));
  }
  if (GetParam().letter == 'c') {
    EXPECT_EQ(counts[0], 100'000u);
  } else {
    EXPECT_TRUE(unlatch::testing::follows(counts, GetParam().proportions));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Core, StandardWorkloads,
    ::testing::Values(standard_workload{'a', {0.5, 0.5, 0, 0, 0}, request_distribution::zipfian},
                      standard_workload{'b', {0.95, 0.05, 0, 0, 0}, request_distribution::zipfian},
                      standard_workload{'c', {1, 0, 0, 0, 0}, request_distribution::zipfian},
                      standard_workload{'d', {0.95, 0, 0.05, 0, 0}, request_distribution::latest},
                      standard_workload{'e', {0, 0, 0.05, 0.95, 0}, request_distribution::zipfian},
                      standard_workload{'f', {0.5, 0, 0, 0, 0.5}, request_distribution::zipfian}),
    [](const auto& instance) { return std::string(1, instance.param.letter); });

TEST(Workload, e_scans_up_to_a_hundred_records) {
  const auto file = std::filesystem::path(UNLATCH_YCSB_WORKLOADS) / "workloade";
  const workload described = workload::from(properties::read(file));
  EXPECT_EQ(described.scan.least, 1u);
  EXPECT_EQ(described.scan.most, 100u);
  EXPECT_EQ(described.scan.distribution, length_distribution::uniform);
}

TEST(Workload, takes_what_is_not_set_from_ycsbs_defaults) {
  const workload described = workload_of("recordcount=7");
  EXPECT_EQ(described.insert_count, 7u);
  EXPECT_DOUBLE_EQ(described.shares[0], 0.95);
  EXPECT_DOUBLE_EQ(described.shares[1], 1);
  EXPECT_EQ(described.requests, request_distribution::uniform);
  EXPECT_EQ(described.scan.most, 1000u);
  EXPECT_FALSE(described.ordered_inserts);
  EXPECT_FALSE(described.write_all_fields);
}

TEST(Properties, read_every_form_of_a_line) {
  const auto settings = properties::parse(
      "# a comment\n! another\n\n  recordcount = 5  \r\noperationcount:6\nrecordcount=8\n", "test");
  const workload described = workload::from(settings);
  EXPECT_EQ(described.record_count, 8u);
  EXPECT_EQ(described.operation_count, 6u);
}

TEST(Properties, name_file_line_field_and_the_nearest_name_of_an_unknown_one) {
  EXPECT_EQ(complaint_about("recordcount=5\n\nreadporportion=1\n"),
            "test:3: readporportion: there is no setting of this name; did you mean "
            "'readproportion'?");
}

TEST(Properties, name_file_line_field_and_value_of_a_malformed_one) {
  EXPECT_EQ(complaint_about("recordcount=12x"),
            "test:1: recordcount: '12x' is not a whole number of at least 1");
  EXPECT_EQ(complaint_about("recordcount=-1"),
            "test:1: recordcount: '-1' is not a whole number of at least 1");
  EXPECT_EQ(complaint_about("recordcount=5\nreadproportion=1.5"),
            "test:2: readproportion: '1.5' is not a number from 0 to 1");
  EXPECT_EQ(complaint_about("recordcount=5\nreadproportion=nan"),
            "test:2: readproportion: 'nan' is not a number from 0 to 1");
  EXPECT_EQ(complaint_about("recordcount=5\nwriteallfields=True"),
            "test:2: writeallfields: 'True' is none of false true; did you mean 'true'?");
  EXPECT_THAT(complaint_about("recordcount=5\nrequestdistribution=zipfan"),
              HasSubstr("test:2: requestdistribution: 'zipfan' is none of uniform zipfian latest "
                        "hotspot; did you mean 'zipfian'?"));
  EXPECT_THAT(complaint_about("recordcount"), HasSubstr("test:1: 'recordcount' is not a setting"));
  EXPECT_THAT(complaint_about("=5"), HasSubstr("test:1: '=5' is not a setting"));
}

TEST(Workload, rejects_settings_that_contradict_each_other) {
  EXPECT_THAT(complaint_about(""), HasSubstr("recordcount: is missing"));
  EXPECT_THAT(complaint_about("recordcount=5\nminscanlength=9\nmaxscanlength=3"),
              HasSubstr("test:3: maxscanlength: is less than minscanlength"));
  EXPECT_THAT(complaint_about("recordcount=5\ninsertstart=5"),
              HasSubstr("test:2: insertstart: leaves nothing to load"));
  EXPECT_THAT(complaint_about("recordcount=5\ninsertcount=6"),
              HasSubstr("test:2: insertcount: goes past recordcount"));
  EXPECT_THAT(complaint_about("recordcount=5\nreadproportion=0\nupdateproportion=0"),
              HasSubstr("test:2: readproportion: all proportions are 0"));
}

TEST(Properties, a_file_that_cannot_be_read_is_named) {
  try {
    (void)properties::read("no/such/workload");
    FAIL() << "read a file that is not there";
  } catch (const property_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no/such/workload: cannot read"));
  }
}

}  // namespace
}  // namespace unlatch::ycsb
