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

/// What some row of a table has and the others leave empty.
struct shown_columns {
  bool ranges = false;  ///< of several repeats
  bool control = false;
  bool switches = false;
};

shown_columns columns_of(std::span<const summary_row> rows) {
  shown_columns shown;
  for (const auto& row : rows) {
    shown.ranges |= row.repeats > 1;
    shown.control |= row.control.has_value();
    shown.switches |= row.context_switches.has_value();
  }
  return shown;
}

line titles_of(const shown_columns& shown) {
  line titles{"case", "threads", "mode", "ops/s"};
  if (shown.ranges) titles.emplace_back("least..most");
  titles.emplace_back("speed-up");
  if (shown.ranges) titles.emplace_back("spread");
  if (shown.control) titles.emplace_back("control");
  if (shown.switches) titles.emplace_back("switches");
  titles.emplace_back("verdict");
  return titles;
}

line cells_of(const summary_row& row, const shown_columns& shown) {
  line cells{row.case_name, std::to_string(row.threads),
             row.policy == "none" ? row.mode : row.mode + "/" + row.policy,
             amount(row.throughput.median)};
  if (shown.ranges) cells.push_back(range(row.throughput));
  cells.push_back(ratio(row.speedup));
  if (shown.ranges) cells.push_back(ratio_range(row.speedup));
  if (shown.control) cells.push_back(ratio(row.control));
  if (shown.switches) cells.push_back(row.context_switches ? amount(*row.context_switches) : "");
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
    const auto shown = columns_of({first, last});
    std::vector<line> lines{titles_of(shown)};
    for (auto row = first; row != last; ++row) lines.push_back(cells_of(*row, shown));
    text += heading(*first) + render(lines);
    first = last;
    if (first != rows.end()) text += '\n';
  }
  return text;
}

}  // namespace unlatch::cli
