// SPDX-License-Identifier: Apache-2.0
#include "studies/nearest_name.hpp"

#include <algorithm>
#include <utility>

#include "studies/formatted.hpp"

namespace unlatch::studies {
namespace {

std::string joined(const std::vector<std::string>& names, std::string_view between) {
  std::string all;
  for (const auto& name : names) {
    if (!all.empty()) all += between;
    all += name;
  }
  return all;
}

std::string message(std::string_view kind, std::string_view name,
                    const std::vector<std::string>& known) {
  const auto near = nearest_names(name, known);
  if (!near.empty()) {
    return formatted("unknown {} '{}'; did you mean {}?", kind, name, joined(near, " or "));
  }
  if (known.empty()) return formatted("unknown {} '{}'; there is none to choose", kind, name);
  return formatted("unknown {} '{}'; there is {}", kind, name, joined(known, ", "));
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::vector<std::string> nearest_names(std::string_view name,
                                       const std::vector<std::string>& known) {
  const std::size_t limit = std::max<std::size_t>(2, name.size() / 3);
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const auto& candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    const bool begins = !name.empty() && candidate.starts_with(name);
    if (begins || (distance <= limit && distance < candidate.size())) {
      near.emplace_back(begins ? 0 : distance, candidate);
    }
  }
  std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> names;
  for (auto& [distance, candidate] : near) {
    if (names.size() == 3) break;
    names.push_back(std::move(candidate));
  }
  return names;
}

unknown_name::unknown_name(std::string_view kind, std::string_view name,
                           const std::vector<std::string>& known)
    : std::invalid_argument(message(kind, name, known)) {}

void require_name(std::string_view kind, std::string_view name,
                  const std::vector<std::string>& known) {
  if (std::ranges::find(known, name) == known.end()) throw unknown_name(kind, name, known);
}

}  // namespace unlatch::studies
