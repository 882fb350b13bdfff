// SPDX-License-Identifier: Apache-2.0
#include "studies/calibration.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <stdlib.h>

#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "sample.hpp"
#include "studies/models.hpp"
#include "studies/validation.hpp"

namespace unlatch::studies {
namespace {

using ::testing::HasSubstr;

calibration_row row_of(double published, const std::string& unit, double simulated) {
  const lab::calibration_figure figure{"f", published, unit, "a paper"};
  return {figure, simulated, tolerance_of(figure)};
}

/// A simulator that gives every figure the value 40 in one second of 1000 operations.
class constant_lab {
 public:
  constant_lab() {
    measurement answer;
    answer.ops = 1000;
    answer.seconds = 1;
    answer.transactions = {200, 150, {50, 0, 0, 0}};
    for (const char* figure : {"begin_commit", "begin_abort", "compare_exchange",
                               "atomic_increment", "hle_begin_commit"}) {
      answer.extra["figures"][figure] = {{"value", 40.0}, {"unit", "cycles"}};
    }
    answer.extra["machine"] = {{"cycles_busy", 400}, {"cycles_t", 100}, {"cycles_ct", 75}};
    const auto file = directory_.path() / "unlatch-lab";
    std::ofstream(file) << "#!/bin/sh\ncat > /dev/null\ncat <<'END'\n"
                        << to_json(answer).dump() << "\nEND\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    program_.emplace(file);
  }

  [[nodiscard]] const lab_program& program() const { return *program_; }

 private:
  testing::temporary_directory directory_;
  std::optional<lab_program> program_;
};

TEST(Calibration, cycles_may_be_5_percent_off_either_way) {
  EXPECT_TRUE(row_of(40, "cycles", 42).within());
  EXPECT_TRUE(row_of(42, "cycles", 40).within());
  EXPECT_FALSE(row_of(40, "cycles", 42.1).within());
  EXPECT_FALSE(row_of(40, "cycles", 38).within());
}

TEST(Calibration, counts_must_agree_and_shares_within_a_factor_of_one_and_a_half) {
  EXPECT_TRUE(row_of(512, "lines", 512).within());
  EXPECT_FALSE(row_of(512, "lines", 511).within());
  EXPECT_TRUE(row_of(0.1, "share aborted", 0.149).within());
  EXPECT_FALSE(row_of(0.1, "share aborted", 0.06).within());
}

TEST(Calibration, every_figure_of_the_built_in_models_is_measured_by_a_study) {
  const constant_lab lab;
  auto model = find_model("i7-4770");
  std::erase_if(model.calibration, [](const auto& figure) { return figure.unit != "cycles"; });
  std::vector<std::string> announced;
  const auto rows = check_calibration(model, lab.program(), {},
                                      [&](const std::string& name) { announced.push_back(name); });
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(announced.size(), rows.size());
  for (const auto& row : rows) EXPECT_EQ(row.simulated, 40) << row.published.figure;
  EXPECT_TRUE(rows.front().within());
}

TEST(Calibration, a_figure_that_no_study_measures_is_told) {
  const constant_lab lab;
  auto model = find_model("i7-4770");
  model.calibration = {{"colour", 1, "cycles", "a paper"}};
  try {
    (void)check_calibration(model, lab.program(), {});
    FAIL() << "it was measured";
  } catch (const study_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no study measures the calibration figure 'colour'"));
  }
}

TEST(Validation, puts_what_was_published_beside_what_is_simulated) {
  const constant_lab lab;
  simulator machine(lab.program());
  const auto rows = validate(find_model("i5-4670t"), machine, {});
  ASSERT_FALSE(rows.empty());
  std::size_t with_figures = 0;
  for (const auto& row : rows) {
    EXPECT_TRUE(row.published.has_value() || !row.said.empty()) << row.what;
    EXPECT_EQ(row.error().has_value(), row.published.has_value());
    if (row.published) ++with_figures;
    if (row.unit == "%") {
      EXPECT_EQ(row.simulated, 25) << row.what;
    }
  }
  EXPECT_GE(with_figures, 10U);
  EXPECT_EQ(rows.front().simulated, 100);
}

TEST(Validation, has_nothing_for_a_machine_that_no_study_used) {
  simulator machine;
  EXPECT_TRUE(validate(find_model("xeon-8480"), machine, {}).empty());
}

#ifdef UNLATCH_STUDIES_OF_LEVELDB
/// db_bench programs, of which one is said to be so many times as fast as stock.
class scripted_leveldb {
 public:
  scripted_leveldb() {
    for (const auto& [variant, rate] : {std::pair{"stock", 10}, {"xsync", 12}, {"unlatch", 15}}) {
      const auto file = directory_.path() / fmt::format("leveldb_db_bench_{}", variant);
      std::ofstream(file) << fmt::format(R"(#!/bin/sh
case $* in *benchmarks=fillseq*) name=fillseq ;; *) name=fillrandom ;; esac
echo "$name : 1.0 micros/op; {}.0 MB/s"
echo 'machine {{"started":3,"committed":1,"aborts":{{"conflict":2,"capacity":0,"explicit":0,'\
'"nested":0,"other":0}},"context_switches":0}}'
)",
                                         rate);
      std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    }
    ::setenv("UNLATCH_LAB_LEVELDB", directory_.path().c_str(), 1);
  }
  scripted_leveldb(const scripted_leveldb&) = delete;
  scripted_leveldb& operator=(const scripted_leveldb&) = delete;
  ~scripted_leveldb() { ::unsetenv("UNLATCH_LAB_LEVELDB"); }

 private:
  testing::temporary_directory directory_;
};

TEST(Validation, compares_leveldb_as_it_was_published_with_stock) {
  const scripted_leveldb programs;
  simulator machine;
  std::map<std::string, validation_row> rows;
  for (const auto& row : validate(find_model("i7-4770"), machine, {})) rows[row.what] = row;
  const auto& fillseq = rows.at("LevelDB fillseq, 8 threads: XSync against stock");
  EXPECT_EQ(fillseq.published, 1.225);
  EXPECT_DOUBLE_EQ(fillseq.simulated, 1.2);
  EXPECT_NEAR(fillseq.error().value(), 1.2 / 1.225 - 1, 1e-12);
  EXPECT_EQ(rows.at("LevelDB fillrandom, 8 threads: XSync against stock").published, 1.252);
  const auto& ours = rows.at("LevelDB fillrandom, 8 threads: unlatch against stock");
  EXPECT_FALSE(ours.published.has_value());
  EXPECT_DOUBLE_EQ(ours.simulated, 1.5);
}
#endif

}  // namespace
}  // namespace unlatch::studies
