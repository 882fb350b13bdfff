// SPDX-License-Identifier: Apache-2.0
#include "report/report.hpp"

#include <ctime>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <utility>

// The page without title and data, put into the program by template.S.
extern "C" const char unlatch_report_template[];
extern "C" const char unlatch_report_template_end[];

namespace unlatch::report {
namespace {

using nlohmann::json;

constexpr std::string_view title_placeholder = "<!--unlatch:title-->";
constexpr std::string_view data_placeholder = "<!--unlatch:data-->";

std::string_view page_template() { return {unlatch_report_template, unlatch_report_template_end}; }

[[noreturn]] void reject(std::size_t index, const std::string& what) {
  throw std::invalid_argument("record " + std::to_string(index + 1) + " " + what +
                              "; docs/records.md describes the keys of a record");
}

void require(const json& record, std::size_t index, const char* key, bool is_number) {
  const auto found = record.find(key);
  if (found == record.end()) reject(index, std::string("lacks the key \"") + key + '"');
  if (is_number ? !found->is_number() : !found->is_string()) {
    reject(index,
           std::string("has a \"") + key + "\" that is not a " + (is_number ? "number" : "string"));
  }
}

void validate(const std::vector<json>& records) {
  if (records.empty()) {
    throw std::invalid_argument("there are no records to report; run a study first");
  }
  for (std::size_t i = 0; i != records.size(); ++i) {
    if (!records[i].is_object()) reject(i, "is not a JSON object");
    for (const char* key : {"study", "case", "mode", "where"}) require(records[i], i, key, false);
    for (const char* key : {"threads", "throughput"}) require(records[i], i, key, true);
  }
}

std::string utc_text(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[sizeof "2026-01-31 23:59 UTC"];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

std::string replace_each(std::string_view text,
                         std::initializer_list<std::pair<char, std::string_view>> replacements) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    std::string_view piece(&c, 1);
    for (const auto& [from, to] : replacements) {
      if (c == from) piece = to;
    }
    result += piece;
  }
  return result;
}

std::string html_text(std::string_view text) {
  return replace_each(text, {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}});
}

// JSON inside a script element ends at "</script" and changes meaning at "<!--"; both need a '<',
// which JSON has in strings alone and there may be written as an escape.
std::string script_json(const json& value) {
  constexpr bool ensure_ascii = false;
  return replace_each(value.dump(-1, ' ', ensure_ascii, json::error_handler_t::replace),
                      {{'<', "\\u003c"}});
}

}  // namespace

std::string render(const std::vector<json>& records, const options& options) {
  validate(records);
  const std::string data = script_json(
      {{"title", options.title}, {"generated", utc_text(options.generated)}, {"records", records}});
  const std::string_view page = page_template();
  const std::size_t title_at = page.find(title_placeholder);
  const std::size_t data_at = page.find(data_placeholder, title_at);

  std::string result;
  result.reserve(page.size() + options.title.size() + data.size());
  result += page.substr(0, title_at);
  result += html_text(options.title);
  result += page.substr(title_at + title_placeholder.size(),
                        data_at - title_at - title_placeholder.size());
  result += data;
  result += page.substr(data_at + data_placeholder.size());
  return result;
}

}  // namespace unlatch::report
