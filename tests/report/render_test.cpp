// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "report/report.hpp"
#include "sample_records.hpp"

namespace unlatch::report {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The data that the page's script will read, out of the page as a browser would cut it.
std::string data_of(const std::string& page) {
  const std::string opening = R"(<script type="application/json" id="data">)";
  const std::size_t begin = page.find(opening) + opening.size();
  return page.substr(begin, page.find("</script", begin) - begin);
}

std::string message_of(const std::vector<json>& records) {
  try {
    render(records);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Render, makes_one_html_page_with_script_and_style_in_it) {
  const std::string page = render({testing::minimal_record()});
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, Not(HasSubstr("<link")));
  EXPECT_THAT(page, Not(HasSubstr("src=\"")));
  EXPECT_THAT(page, Not(HasSubstr("<!--unlatch:")));
  EXPECT_GT(page.size(), 200'000u) << "the charting library is missing";
}

TEST(Render, embeds_every_record_unchanged) {
  const std::vector<json> records = testing::full_records();
  EXPECT_EQ(json::parse(data_of(render(records))).at("records"), json(records));
}

TEST(Render, embeds_why_transactions_aborted) {
  const std::vector<json> records = testing::lab_records();
  const json page = json::parse(data_of(render(records))).at("records");
  EXPECT_EQ(page.at(1).at("blame"), records.at(1).at("blame"));
}

TEST(Render, embeds_the_modes_of_all_records) {
  const std::string data = data_of(render(testing::full_records()));
  for (const char* mode : {"stock", "stock-control", "unlatch", "libitm", "elided"}) {
    EXPECT_THAT(data, HasSubstr('"' + std::string(mode) + '"'));
  }
}

TEST(Render, keeps_markup_in_records_from_ending_the_data) {
  json record = testing::minimal_record("</script><!--<script>");
  const std::string data = data_of(render({record}));
  EXPECT_EQ(std::count(data.begin(), data.end(), '<'), 0);
  EXPECT_EQ(json::parse(data).at("records").at(0), record);
}

TEST(Render, escapes_the_title_in_the_head) {
  const std::string page = render({testing::minimal_record()}, {.title = "a </title> & <b>"});
  EXPECT_THAT(page, HasSubstr("<title>a &lt;/title&gt; &amp; &lt;b&gt;</title>"));
  EXPECT_EQ(json::parse(data_of(page)).at("title"), "a </title> & <b>");
}

TEST(Render, keeps_a_title_that_names_a_placeholder) {
  const std::string page = render({testing::minimal_record()}, {.title = "<!--unlatch:data-->"});
  EXPECT_EQ(json::parse(data_of(page)).at("title"), "<!--unlatch:data-->");
}

TEST(Render, keeps_text_that_is_not_ascii) {
  const json record = testing::minimal_record("größer·锁·🔒");
  EXPECT_THAT(data_of(render({record})), HasSubstr("größer·锁·🔒"));
}

TEST(Render, replaces_bytes_that_are_not_utf8) {
  const json record = testing::minimal_record("bad\xff");
  EXPECT_THAT(data_of(render({record})), HasSubstr("bad\xEF\xBF\xBD"));
}

TEST(Render, states_when_the_report_was_made_in_utc) {
  const options options{.title = "t",
                        .generated = std::chrono::system_clock::from_time_t(951782400)};
  const std::string page = render({testing::minimal_record()}, options);
  EXPECT_EQ(json::parse(data_of(page)).at("generated"), "2000-02-29 00:00 UTC");
}

TEST(Render, rejects_an_empty_set_of_records) {
  EXPECT_THAT(message_of({}), HasSubstr("no records"));
}

TEST(Render, names_the_record_and_the_key_that_is_missing) {
  for (const char* key : {"study", "case", "mode", "where", "threads", "throughput"}) {
    json record = testing::minimal_record();
    record.erase(key);
    EXPECT_THAT(message_of({testing::minimal_record(), record}),
                AllOf(HasSubstr("record 2"), HasSubstr('"' + std::string(key) + '"')));
  }
}

TEST(Render, names_the_record_and_the_key_of_the_wrong_type) {
  json record = testing::minimal_record();
  record["threads"] = "two";
  EXPECT_THAT(message_of({record}),
              AllOf(HasSubstr("record 1"), HasSubstr("\"threads\""), HasSubstr("not a number")));
  EXPECT_THAT(message_of({json::array()}), HasSubstr("not a JSON object"));
}

}  // namespace
}  // namespace unlatch::report
