// SPDX-License-Identifier: Apache-2.0
#include "cli/findings.hpp"

#include <gmock/gmock.h>

#include "../studies/sample.hpp"

namespace unlatch::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

studies::record simulated_record() {
  auto record = studies::testing::full_record();
  record.where = "i7-4770";
  record.extra = nlohmann::json::object();
  return record;
}

TEST(Findings, are_empty_where_records_tell_throughput_only) {
  const std::vector<studies::record> records{simulated_record()};
  EXPECT_EQ(to_findings(records), "");
}

TEST(Findings, give_figures_with_their_units_and_say_that_they_are_simulated) {
  std::vector<studies::record> records{simulated_record()};
  records.front().extra["figures"]["nesting"] = {{"value", 7}, {"unit", "transactions"}};
  EXPECT_THAT(to_findings(records), HasSubstr("SIMULATED on i7-4770"));
  EXPECT_THAT(to_findings(records), HasSubstr("nesting: 7 transactions"));
  records.front().where = "native";
  EXPECT_THAT(to_findings(records), Not(HasSubstr("SIMULATED")));
}

TEST(Findings, give_curves_point_by_point) {
  std::vector<studies::record> records{simulated_record()};
  records.front().extra["series"] = {{{"name", "write"},
                                      {"x", "lines"},
                                      {"y", "share aborted"},
                                      {"points", {{512, 0}, {513, 1}}}}};
  EXPECT_THAT(to_findings(records), HasSubstr("write, share aborted by lines: 512:0 513:1"));
}

TEST(Findings, name_both_sides_of_a_conflict_and_the_object) {
  std::vector<studies::record> records{simulated_record()};
  const nlohmann::json owner = {{"line", "a.cpp:1"}, {"function", "f"}, {"access", "write"}};
  const nlohmann::json taker = {{"line", "b.cpp:2"}, {"function", "g"}, {"access", "read"}};
  records.front().extra["blame"] = {{"conflicts",
                                     {{{"owner", owner},
                                       {"requester", taker},
                                       {"object", "counter"},
                                       {"sharing", "false"},
                                       {"count", 3},
                                       {"wasted_cycles", 900}}}},
                                    {"capacities", nlohmann::json::array()},
                                    {"others", nlohmann::json::array()}};
  const auto text = to_findings(records);
  EXPECT_THAT(text, HasSubstr("false sharing of counter"));
  EXPECT_THAT(text, HasSubstr("lost by the write at a.cpp:1"));
  EXPECT_THAT(text, HasSubstr("taken by the read at b.cpp:2"));
}

TEST(Findings, name_the_lock_that_a_section_found_held) {
  std::vector<studies::record> records{simulated_record()};
  records.front().extra["blame"] = {{"conflicts", nlohmann::json::array()},
                                    {"capacities", nlohmann::json::array()},
                                    {"others",
                                     {{{"line", "a.cpp:1"},
                                       {"function", "f"},
                                       {"reason", "lock held"},
                                       {"object", "latch"},
                                       {"count", 3},
                                       {"wasted_cycles", 900}}}}};
  const auto text = to_findings(records);
  EXPECT_THAT(text, HasSubstr("lock held at a.cpp:1\n"));
  EXPECT_THAT(text, HasSubstr("the lock: latch\n"));
}

}  // namespace
}  // namespace unlatch::cli
