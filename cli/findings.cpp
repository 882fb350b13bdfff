// SPDX-License-Identifier: Apache-2.0
#include "cli/findings.hpp"

#include <fmt/format.h>

#include <vector>

namespace unlatch::cli {
namespace {

using nlohmann::json;

constexpr std::size_t most_of_a_name = 60;

std::string heading(const studies::record& record) {
  const auto mode =
      record.policy == "none" ? record.mode : fmt::format("{}/{}", record.mode, record.policy);
  const auto where =
      record.simulated() ? fmt::format(", SIMULATED on {}", record.where) : std::string();
  return fmt::format("\n{} {}, {}, {} thread{}{}\n", record.study, record.case_name, mode,
                     record.threads, record.threads == 1 ? "" : "s", where);
}

std::string number(const json& value) { return fmt::format("{:.4g}", value.get<double>()); }

std::string figures(const json& list) {
  std::string text;
  for (const auto& [name, figure] : list.items()) {
    text += fmt::format("  {}: {} {}\n", name, number(figure.at("value")),
                        figure.at("unit").get<std::string>());
  }
  return text;
}

std::string curve(const json& series) {
  std::string text =
      fmt::format("  {}, {} by {}:", series.at("name").get<std::string>(),
                  series.at("y").get<std::string>(), series.at("x").get<std::string>());
  for (const auto& point : series.at("points")) {
    text += fmt::format(" {}:{}", number(point.at(0)), number(point.at(1)));
  }
  return text + "\n";
}

/// "studies/list.cpp:12"; with the function where the compiler gave the code no line.
std::string place_of(const json& place) {
  auto line = place.at("line").get<std::string>();
  const auto function = place.at("function").get<std::string>();
  if (!line.ends_with(":0") || function.empty()) return line;
  line.resize(line.size() - 2);
  return fmt::format("{}, in {}", line, function.substr(0, most_of_a_name));
}

std::string side(const json& place) {
  return fmt::format("{} at {}", place.at("access").get<std::string>(), place_of(place));
}

std::string conflicts(const json& list) {
  std::string text;
  for (const auto& one : list) {
    text += fmt::format("  {:>10} {:>8}  {} sharing of {}\n", one.at("wasted_cycles").get<long>(),
                        one.at("count").get<long>(), one.at("sharing").get<std::string>(),
                        one.at("object").get<std::string>());
    text += fmt::format("  {:>20} lost by the {}\n", "", side(one.at("owner")));
    text += fmt::format("  {:>20} taken by the {}\n", "", side(one.at("requester")));
  }
  return text;
}

std::string capacities(const json& list) {
  std::string text;
  for (const auto& one : list) {
    text += fmt::format("  {:>10} {:>8}  capacity: {} lines in set {}, {} in all, at the {}\n",
                        one.at("wasted_cycles").get<long>(), one.at("count").get<long>(),
                        one.at("lines_in_set").get<long>(), one.at("set").get<long>(),
                        one.at("tracked_lines").get<long>(), side(one));
  }
  return text;
}

std::string others(const json& list) {
  std::string text;
  for (const auto& one : list) {
    text += fmt::format("  {:>10} {:>8}  {} at {}\n", one.at("wasted_cycles").get<long>(),
                        one.at("count").get<long>(), one.at("reason").get<std::string>(),
                        place_of(one));
    if (one.contains("object")) {
      text += fmt::format("  {:>20} the lock: {}\n", "", one.at("object").get<std::string>());
    }
  }
  return text;
}

std::string blame(const json& found) {
  const auto text = conflicts(found.at("conflicts")) + capacities(found.at("capacities")) +
                    others(found.at("others"));
  if (text.empty()) return "  no transaction aborted\n";
  return fmt::format("  {:>10} {:>8}  why transactions aborted\n", "cycles lost", "aborts") + text;
}

}  // namespace

std::string to_findings(std::span<const studies::record> records) {
  std::string text;
  for (const auto& record : records) {
    std::string found;
    if (record.extra.contains("figures")) found += figures(record.extra.at("figures"));
    if (record.extra.contains("series")) {
      for (const auto& series : record.extra.at("series")) found += curve(series);
    }
    if (record.extra.contains("blame")) found += blame(record.extra.at("blame"));
    if (!found.empty()) text += heading(record) + found;
  }
  return text;
}

}  // namespace unlatch::cli
