// SPDX-License-Identifier: Apache-2.0
#include "src/probe/profile/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#ifdef UNLATCH_HAS_SOURCE_LINES
#include "src/lab/source_lines.hpp"
#else
namespace unlatch::lab {
class source_lines {};
}  // namespace unlatch::lab
#endif

namespace unlatch::probe {
namespace {

#ifdef UNLATCH_HAS_SOURCE_LINES
template <class Objects>
std::unique_ptr<lab::source_lines> open_lines(const Objects& objects) {
  std::vector<lab::loaded_object> loaded;
  for (const auto& [begin, rest] : objects) loaded.push_back({rest.second, begin});
  return std::make_unique<lab::source_lines>(loaded);
}
std::string line_at(const lab::source_lines& lines, std::uint64_t address) {
  return lines.known_line_of(address);
}
std::string outermost_line_at(const lab::source_lines& lines, std::uint64_t address) {
  return lines.outermost_line_of(address);
}
std::string function_at(const lab::source_lines& lines, std::uint64_t address) {
  return lines.function_at(address);
}
std::string variable_at(const lab::source_lines& lines, std::uint64_t address) {
  return lines.variable_at(address);
}
#else
template <class Objects>
std::unique_ptr<lab::source_lines> open_lines(const Objects&) {
  return std::make_unique<lab::source_lines>();
}
std::string line_at(const lab::source_lines&, std::uint64_t) { return {}; }
std::string outermost_line_at(const lab::source_lines&, std::uint64_t) { return {}; }
std::string function_at(const lab::source_lines&, std::uint64_t) { return {}; }
std::string variable_at(const lab::source_lines&, std::uint64_t) { return {}; }
#endif

std::string last_part(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

/// "db::(anonymous namespace)::table<int>::insert(int) const" is "table::insert": namespaces and
/// arguments make lines long.
std::string short_name(const std::string& function) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (std::size_t i = 0; i < function.size(); ++i) {
    constexpr std::string_view anonymous = "(anonymous namespace)";
    const std::string_view rest = std::string_view(function).substr(i);
    if (depth == 0 && rest.starts_with(anonymous)) {
      i += anonymous.size() - 1;
    } else if (rest.front() == '<') {
      ++depth;
    } else if (rest.front() == '>') {
      --depth;
    } else if (depth == 0 && rest.starts_with("::")) {
      if (!parts.back().empty()) parts.emplace_back();
      ++i;
    } else if (depth == 0 && rest.front() == '(') {
      break;
    } else if (depth == 0) {
      parts.back() += rest.front();
    }
  }
  // An operator's own signs are not brackets: then the whole name is more use than a wrong one.
  if (depth != 0 || parts.back().empty()) return function;
  return parts.size() < 2 ? parts.back() : parts[parts.size() - 2] + "::" + parts.back();
}

}  // namespace

std::string object_place::text() const {
  return file.empty() ? fmt::format("{:#x}", offset)
                      : fmt::format("{}+{:#x}", last_part(file), offset);
}

process_names::process_names(const recorded_process& process) : process_(process) {
  std::map<std::string, std::uint64_t> begin_of;
  for (const auto& module : process.modules) {
    if (module.path.empty()) continue;
    if (module.file_offset == 0) begin_of.try_emplace(module.path, module.begin);
    const auto known = begin_of.find(module.path);
    if (known == begin_of.end()) continue;
    auto& object = objects_[known->second];
    object = {std::max(object.first, module.end), module.path};
  }
  lines_ = open_lines(objects_);
}

process_names::~process_names() = default;
process_names::process_names(process_names&&) noexcept = default;

object_place process_names::place_of(std::uint64_t address) const {
  for (const auto& module : process_.modules) {
    if (address < module.begin || address >= module.end || module.path.empty()) continue;
    return {module.path, address - module.begin + module.file_offset};
  }
  // What a program's file does not hold, because it is zero at first, lies behind what it does.
  const auto above = objects_.upper_bound(address);
  if (above == objects_.begin()) return {"", address};
  const auto& [begin, object] = *std::prev(above);
  const std::uint64_t zeros_end = object.first + (std::uint64_t{1} << 24);
  if (address >= zeros_end || variable(address).empty()) return {"", address};
  return {object.second, address - begin};
}

std::string process_names::named(std::uint64_t address, std::uint64_t shown,
                                 const std::string& line) const {
  const std::string function = short_name(function_at(*lines_, address));
  const std::string where = line.empty() ? place_of(shown).text() : last_part(line);
  if (function.empty()) return where;
  return fmt::format("{} at {}", function, where);
}

std::string process_names::code(std::uint64_t address) const {
  auto& known = code_[address];
  if (known.empty()) known = named(address, address, line_at(*lines_, address));
  return known;
}

std::string process_names::call(std::uint64_t address) const {
  if (address == 0) return "?";
  return named(address - 1, address, outermost_line_at(*lines_, address - 1));
}

std::string process_names::variable(std::uint64_t address) const {
  return variable_at(*lines_, address);
}

program_names::program_names(const std::map<std::uint32_t, recorded_process>& processes) {
  for (const auto& [number, process] : processes) {
    const auto same = std::find_if(opened_.begin(), opened_.end(), [&p = process](auto& each) {
      return each.first->modules == p.modules;
    });
    if (same != opened_.end()) {
      of_[number] = same->second.get();
      continue;
    }
    opened_.emplace_back(&process, std::make_unique<process_names>(process));
    of_[number] = opened_.back().second.get();
  }
}

}  // namespace unlatch::probe
