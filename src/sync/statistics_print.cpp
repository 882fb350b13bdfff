// SPDX-License-Identifier: Apache-2.0
//
// A snapshot as a value: sums, differences, the table for people and the JSON for machines.
#include <algorithm>
#include <map>
#include <utility>

#include "unlatch/statistics.hpp"

namespace unlatch::statistics {
namespace {

constexpr std::array<std::string_view, counter_count> names = {
    "sections",          "elided",           "started",
    "committed",         "aborted_conflict", "aborted_capacity",
    "aborted_lock_held", "aborted_explicit", "aborted_nested",
    "aborted_other",     "fallbacks",        "skipped",
    "coarsened",         "software_started", "software_committed",
    "software_aborted",  "wasted_ticks"};

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr std::string_view hex = "0123456789abcdef";
      out += "\\u00";
      out += hex[static_cast<unsigned char>(c) >> 4];
      out += hex[c & 0xf];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string padded_left(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

std::string padded_right(const std::string& text, std::size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

}  // namespace

std::string_view to_string(counter c) noexcept { return names[static_cast<std::size_t>(c)]; }

row snapshot_type::total() const {
  row sum;
  sum.lock = "total";
  for (const row& r : rows)
    for (std::size_t c = 0; c < counter_count; ++c) sum.values[c] += r.values[c];
  return sum;
}

snapshot_type snapshot_type::operator-(const snapshot_type& earlier) const {
  std::map<std::pair<std::string_view, std::string_view>, const row*> before;
  for (const row& r : earlier.rows) before[{r.lock, r.site}] = &r;
  snapshot_type result;
  for (row r : rows) {
    if (const auto found = before.find({r.lock, r.site}); found != before.end())
      for (std::size_t c = 0; c < counter_count; ++c)
        r.values[c] -= std::min(r.values[c], found->second->values[c]);  // reset() in between: 0
    if (std::ranges::any_of(r.values, [](std::uint64_t v) { return v != 0; }))
      result.rows.push_back(std::move(r));
  }
  return result;
}

std::string snapshot_type::to_table() const {
  const row sum = total();
  std::vector<std::vector<std::string>> lines(1, {"lock", "site"});
  for (std::size_t c = 0; c < counter_count; ++c)
    if (sum.values[c] != 0) lines[0].emplace_back(names[c]);
  const auto add_line = [&](const row& r) {
    std::vector<std::string> line = {r.lock, r.site};
    for (std::size_t c = 0; c < counter_count; ++c)
      if (sum.values[c] != 0) line.push_back(std::to_string(r.values[c]));
    lines.push_back(std::move(line));
  };
  for (const row& r : rows) add_line(r);
  if (rows.size() > 1) add_line(sum);

  std::vector<std::size_t> widths(lines[0].size());
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string out;
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i)
      out += i < 2 ? padded_right(line[i], widths[i] + 2) : padded_left(line[i], widths[i]) + "  ";
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

std::string snapshot_type::to_json() const {
  std::string out = "[";
  for (const row& r : rows) {
    if (out.size() > 1) out += ',';
    out += "\n  {\"lock\": " + quoted(r.lock) + ", \"site\": " + quoted(r.site);
    for (std::size_t c = 0; c < counter_count; ++c)
      out += ", " + quoted(names[c]) + ": " + std::to_string(r.values[c]);
    out += '}';
  }
  return out + (rows.empty() ? "]" : "\n]");
}

}  // namespace unlatch::statistics
