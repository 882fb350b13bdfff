// SPDX-License-Identifier: Apache-2.0
#include "cli/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace unlatch::cli {
namespace {

using studies::summary_row;

/// Three significant digits with a unit: "585k", "1.84M".
std::string amount(double value) {
  constexpr std::array<const char*, 4> units{"", "k", "M", "G"};
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f}{}", value, value < 10 ? 2 : value < 100 ? 1 : 0, units[unit]);
}

std::string range(const studies::spread& values) {
  return fmt::format("{}..{}", amount(values.least), amount(values.most));
}

std::string ratio(const std::optional<studies::spread>& values) {
  return values ? fmt::format("{:.2f}x", values->median) : "";
}

std::string ratio_range(const std::optional<studies::spread>& values) {
  return values ? fmt::format("{:.2f}..{:.2f}", values->least, values->most) : "";
}

using line = std::vector<std::string>;

line cells_of(const summary_row& row, bool switches) {
  line cells{row.case_name,
             std::to_string(row.threads),
             row.policy == "none" ? row.mode : row.mode + "/" + row.policy,
             amount(row.throughput.median),
             range(row.throughput),
             ratio(row.speedup),
             ratio_range(row.speedup),
             ratio(row.control)};
  if (switches) cells.push_back(row.context_switches ? amount(*row.context_switches) : "");
  cells.emplace_back(row.outcome ? to_string(*row.outcome) : "baseline");
  return cells;
}

std::string heading(const summary_row& row) {
  std::string text = row.study;
  if (row.where != "native") text += fmt::format(" (SIMULATED on {})", row.where);
  for (const auto& [name, value] : row.params) text += fmt::format(", {}={}", name, value);
  return text + fmt::format(", {} repeat{}\n", row.repeats, row.repeats == 1 ? "" : "s");
}

bool same_heading(const summary_row& a, const summary_row& b) {
  return a.study == b.study && a.where == b.where && a.params == b.params;
}

std::string render(const std::vector<line>& lines) {
  constexpr std::array<bool, 3> left_aligned{true, false, true};
  std::vector<std::size_t> widths(lines.front().size(), 0);
  for (const auto& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  std::string text;
  for (const auto& cells : lines) {
    std::string row;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool left = (i < left_aligned.size() && left_aligned[i]) || i + 1 == cells.size();
      row += left ? fmt::format("  {:<{}}", cells[i], widths[i])
                  : fmt::format("  {:>{}}", cells[i], widths[i]);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + '\n';
  }
  return text;
}

}  // namespace

std::string to_table(std::span<const summary_row> rows) {
  std::string text;
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last = std::find_if(
        first, rows.end(), [&](const summary_row& row) { return !same_heading(*first, row); });
    const bool switches = std::any_of(
        first, last, [](const summary_row& row) { return row.context_switches.has_value(); });
    line titles{"case", "threads", "mode", "ops/s", "least..most", "speed-up", "spread", "control"};
    if (switches) titles.emplace_back("switches");
    titles.emplace_back("verdict");
    std::vector<line> lines{std::move(titles)};
    for (auto row = first; row != last; ++row) lines.push_back(cells_of(*row, switches));
    text += heading(*first) + render(lines);
    first = last;
    if (first != rows.end()) text += '\n';
  }
  return text;
}

}  // namespace unlatch::cli
