// SPDX-License-Identifier: Apache-2.0
#include "studies/summary.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace unlatch::studies {
namespace {

using cell_key = std::tuple<std::string, std::string, std::string,
                            std::map<std::string, std::uint64_t>, unsigned>;
using row_key = std::tuple<cell_key, std::string, std::string>;

cell_key cell_of(const record& one) {
  return {one.study, one.where, one.case_name, one.params, one.threads};
}

/// The runs of one mode and policy in one cell, in the order they came.
struct group {
  const record* first = nullptr;
  std::vector<const record*> runs;
};

/// throughput(run) / throughput(baseline run of the same repeat and seed).
std::optional<spread> paired_ratio(const group& runs, const group& baseline) {
  std::vector<double> ratios;
  for (const record* run : runs.runs) {
    const auto partner = std::ranges::find_if(baseline.runs, [&](const record* other) {
      return other->repeat == run->repeat && other->seed == run->seed;
    });
    if (partner == baseline.runs.end() || (*partner)->throughput <= 0) continue;
    ratios.push_back(run->throughput / (*partner)->throughput);
  }
  if (ratios.empty()) return std::nullopt;
  return spread_of(std::move(ratios));
}

nlohmann::json to_json(const spread& value) {
  return {{"median", value.median}, {"least", value.least}, {"most", value.most}};
}

}  // namespace

spread spread_of(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("the spread of no values");
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

verdict judge(double speedup) {
  if (speedup < losing_ratio) return verdict::loses;
  return speedup > gaining_ratio ? verdict::gains : verdict::equal;
}

std::string_view to_string(verdict value) {
  switch (value) {
    case verdict::gains:
      return "gains";
    case verdict::equal:
      return "equal";
    case verdict::loses:
      return "LOSES";
  }
  return "";
}

std::vector<summary_row> summarize(std::span<const record> records) {
  std::map<row_key, group> groups;
  std::vector<row_key> order;
  for (const record& one : records) {
    row_key key{cell_of(one), one.mode, one.policy};
    group& runs = groups[key];
    if (runs.first == nullptr) {
      runs.first = &one;
      order.push_back(std::move(key));
    }
    runs.runs.push_back(&one);
  }

  std::vector<summary_row> rows;
  for (const row_key& key : order) {
    const group& runs = groups.at(key);
    const record& first = *runs.first;
    if (first.mode.ends_with(control_suffix)) continue;
    summary_row row;
    std::tie(row.study, row.where, row.case_name, row.params, row.threads) = std::get<0>(key);
    row.mode = first.mode;
    row.policy = first.policy;
    row.repeats = static_cast<unsigned>(runs.runs.size());
    std::vector<double> throughputs;
    std::vector<double> switches;
    for (const record* run : runs.runs) {
      throughputs.push_back(run->throughput);
      if (run->context_switches) switches.push_back(static_cast<double>(*run->context_switches));
    }
    row.throughput = spread_of(std::move(throughputs));
    if (!switches.empty()) row.context_switches = spread_of(std::move(switches)).median;

    const auto find = [&](const std::string& mode) {
      return groups.find(row_key{std::get<0>(key), mode, "none"});
    };
    const auto baseline = find(first.baseline);
    if (baseline != groups.end()) {
      if (first.mode != first.baseline) row.speedup = paired_ratio(runs, baseline->second);
      const auto control = find(first.baseline + std::string(control_suffix));
      if (control != groups.end()) row.control = paired_ratio(control->second, baseline->second);
    }
    if (row.speedup) row.outcome = judge(row.speedup->median);
    rows.push_back(std::move(row));
  }
  return rows;
}

nlohmann::json to_json(const summary_row& row) {
  nlohmann::json object = {
      {"study", row.study},   {"where", row.where},     {"case", row.case_name},
      {"params", row.params}, {"threads", row.threads}, {"mode", row.mode},
      {"policy", row.policy}, {"repeats", row.repeats}, {"throughput", to_json(row.throughput)}};
  if (row.speedup) object["speedup"] = to_json(*row.speedup);
  if (row.control) object["control"] = to_json(*row.control);
  if (row.context_switches) object["context_switches"] = *row.context_switches;
  if (row.outcome) object["verdict"] = to_string(*row.outcome);
  return object;
}

}  // namespace unlatch::studies
