// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <numeric>
#include <stdexcept>

#include "src/probe/emulation.hpp"
#include "src/probe/emulation_area.hpp"

namespace unlatch::probe {
namespace {

std::uint64_t aborted(const transaction_totals& of) {
  return std::accumulate(of.aborted.begin(), of.aborted.end(), std::uint64_t{0});
}

/// "12 explicit, 3 capacity"; empty if nothing aborted.
std::string causes(const transaction_totals& of) {
  std::string text;
  for (std::size_t i = 0; i < of.aborted.size(); ++i) {
    if (of.aborted[i] == 0) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", of.aborted[i], abort_names()[i]);
  }
  return text;
}

std::string line_of(const std::string& place, const transaction_totals& of,
                    const std::string& blocker) {
  std::string why = causes(of);
  if (!blocker.empty()) why += fmt::format(" (first: {})", blocker);
  auto line = fmt::format("{:<34} {:>10} {:>10} {:>10}  {}", place, of.begun, of.committed,
                          aborted(of), why);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string place_of(const call_site_totals& site) {
  const std::string name = std::filesystem::path(site.file).filename().string();
  return fmt::format("{}+{:#x}", name.empty() ? "(no file)" : name, site.offset);
}

/// What the place is called: "insert(int)+0x1a at src/table.cpp:41", as much of it as is known.
std::string name_of(const call_site_totals& site) {
  const bool both = !site.function.empty() && !site.source.empty();
  return site.function + (both ? " at " : "") + site.source;
}

nlohmann::ordered_json to_json(const transaction_totals& of) {
  nlohmann::ordered_json causes;
  for (std::size_t i = 0; i < of.aborted.size(); ++i) {
    causes[std::string(abort_names()[i])] = of.aborted[i];
  }
  return {{"begun", of.begun},
          {"committed", of.committed},
          {"aborted", causes},
          {"instructions", of.instructions}};
}

struct status_name {
  std::string_view name;
  std::uint32_t word;
};
constexpr std::array status_names{
    status_name{"interrupt", 0},      status_name{"retry", 1u << 1},
    status_name{"conflict", 1u << 2}, status_name{"capacity", 1u << 3},
    status_name{"debug", 1u << 4},    status_name{"nested", 1u << 5}};

std::uint32_t number(std::string_view text, std::string_view whole) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  std::uint32_t word = 0;
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, word, hexadecimal ? 16 : 10);
  if (!text.empty() && read.ec == std::errc() && read.ptr == end) return word;
  throw std::invalid_argument(
      fmt::format("'{}' is no status of an abort: give a number, or words of interrupt, retry, "
                  "conflict, capacity, debug, nested and explicit:CODE joined by '+'",
                  whole));
}

std::uint32_t word_of(std::string_view part, std::string_view whole) {
  for (const auto& [name, word] : status_names) {
    if (part == name) return word;
  }
  constexpr std::string_view explicit_code = "explicit:";
  if (!part.starts_with(explicit_code)) return number(part, whole);
  const auto code = number(part.substr(explicit_code.size()), whole);
  if (code > 255) throw std::invalid_argument("the code of an explicit abort is at most 255");
  return code << 24 | 1u;
}

}  // namespace

const std::vector<std::string_view>& abort_names() {
  static const std::vector<std::string_view> names{"explicit",    "capacity",   "unfriendly",
                                                   "fault",       "nesting",    "injected",
                                                   "not_stepped", "not_stopped"};
  return names;
}

std::uint32_t status_word(std::string_view text) {
  std::uint32_t word = 0;
  for (std::string_view rest = text;;) {
    const auto end = rest.find('+');
    word |= word_of(rest.substr(0, end), text);
    if (end == std::string_view::npos) return word;
    rest.remove_prefix(end + 1);
  }
}

std::string to_table(const emulation_outcome& outcome) {
  std::string text = fmt::format("{:<34} {:>10} {:>10} {:>10}  {}\n", "call site", "begun",
                                 "committed", "aborted", "by cause");
  for (const auto& site : outcome.sites) {
    text += line_of(place_of(site), site.totals, site.blocker);
    if (const auto name = name_of(site); !name.empty()) text += fmt::format("  {}\n", name);
  }
  text += line_of("all", outcome.all, "");
  const auto ended = outcome.all.committed + aborted(outcome.all);
  if (ended > 0) {
    text += fmt::format("{} instructions in transactions, {:.1f} each; {} process{}\n",
                        outcome.all.instructions,
                        static_cast<double>(outcome.all.instructions) / static_cast<double>(ended),
                        outcome.processes, outcome.processes == 1 ? "" : "es");
  }
  if (outcome.without_site > 0) {
    text += fmt::format("{} transactions began at places that found no room in the table\n",
                        outcome.without_site);
  }
  return text;
}

nlohmann::ordered_json to_json(const emulation_outcome& outcome) {
  nlohmann::ordered_json sites = nlohmann::ordered_json::array();
  for (const auto& site : outcome.sites) {
    nlohmann::ordered_json entry{{"file", site.file}, {"offset", site.offset}};
    if (!site.function.empty()) entry["function"] = site.function;
    if (!site.source.empty()) entry["source"] = site.source;
    if (!site.blocker.empty()) entry["first_unfriendly"] = site.blocker;
    entry["transactions"] = to_json(site.totals);
    sites.push_back(std::move(entry));
  }
  return {{"exit_status", outcome.exit_status},
          {"processes", outcome.processes},
          {"transactions", to_json(outcome.all)},
          {"call_sites", std::move(sites)},
          {"without_call_site", outcome.without_site}};
}

}  // namespace unlatch::probe
