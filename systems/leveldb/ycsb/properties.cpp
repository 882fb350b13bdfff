// SPDX-License-Identifier: Apache-2.0
#include "systems/leveldb/ycsb/properties.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

namespace unlatch::ycsb {
namespace {

constexpr std::string_view blanks = " \t\r\f";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Letters to insert, delete or replace to turn one into the other (Levenshtein).
std::size_t edits(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[to.size()];
}

template <class Names>
std::string did_you_mean(std::string_view name, const Names& known) {
  const auto nearest = std::ranges::min_element(
      known, {}, [&](std::string_view candidate) { return edits(name, candidate); });
  return "; did you mean '" + std::string(*nearest) + "'?";
}

bool parse_number(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// libc++ has no std::from_chars for it.
bool parse_number(const std::string& text, double& number) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text.front())) != 0) return false;
  char* end = nullptr;
  number = std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size();
}

}  // namespace

properties properties::read(const std::filesystem::path& file) {
  std::ifstream input(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
  if (!input.is_open() || input.bad() || std::filesystem::is_directory(file)) {
    throw property_error(file.string() + ": cannot read this property file: " +
                         std::strerror(errno) + "; give the path of a YCSB workload");
  }
  return parse(text, file.string());
}

properties properties::parse(std::string_view text, const std::string& origin) {
  properties result;
  result.origin_ = origin;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
    if (line.empty() || line.front() == '#' || line.front() == '!') continue;
    result.set(line, origin + ":" + std::to_string(number));
  }
  return result;
}

void properties::set(std::string_view assignment, const std::string& origin) {
  const std::size_t separator = assignment.find_first_of("=:");
  const std::string name(trimmed(assignment.substr(0, separator)));
  if (separator == std::string_view::npos || name.empty()) {
    throw property_error(origin + ": '" + std::string(assignment) +
                         "' is not a setting; write name=value");
  }
  settings_[name] = {std::string(trimmed(assignment.substr(separator + 1))), origin};
}

std::uint64_t properties::whole_number(const std::string& name, std::uint64_t otherwise,
                                       std::uint64_t least) const {
  const setting* found = find(name);
  if (found == nullptr) return otherwise;
  std::uint64_t number = 0;
  if (!parse_number(found->value, number) || number < least) {
    reject(name,
           "'" + found->value + "' is not a whole number of at least " + std::to_string(least));
  }
  return number;
}

double properties::fraction(const std::string& name, double otherwise) const {
  const setting* found = find(name);
  if (found == nullptr) return otherwise;
  double number = 0;
  if (!parse_number(found->value, number) || !(number >= 0 && number <= 1)) {
    reject(name, "'" + found->value + "' is not a number from 0 to 1");
  }
  return number;
}

bool properties::truth(const std::string& name, bool otherwise) const {
  return choice(name, otherwise ? "true" : "false", {"false", "true"}) == 1;
}

std::size_t properties::choice(const std::string& name, std::string_view otherwise,
                               const std::vector<std::string_view>& choices) const {
  const setting* found = find(name);
  const std::string_view value = found == nullptr ? otherwise : found->value;
  const auto position = std::ranges::find(choices, value);
  if (position == choices.end()) {
    std::string complaint = "'" + std::string(value) + "' is none of";
    for (const std::string_view each : choices) complaint += " " + std::string(each);
    reject(name, complaint + did_you_mean(value, choices));
  }
  return static_cast<std::size_t>(position - choices.begin());
}

void properties::require_known() const {
  for (const auto& [name, setting] : settings_) {
    if (known_.contains(name)) continue;
    reject(name, "there is no setting of this name" +
                     (known_.empty() ? std::string() : did_you_mean(name, known_)));
  }
}

void properties::reject(const std::string& name, const std::string& complaint) const {
  const auto found = settings_.find(name);
  const std::string& place = found == settings_.end() ? origin_ : found->second.place;
  throw property_error(place + ": " + name + ": " + complaint);
}

const properties::setting* properties::find(const std::string& name) const {
  known_.insert(name);
  const auto found = settings_.find(name);
  return found == settings_.end() ? nullptr : &found->second;
}

}  // namespace unlatch::ycsb
