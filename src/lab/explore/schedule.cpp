// SPDX-License-Identifier: Apache-2.0
#include "src/lab/explore/schedule.hpp"

#include <charconv>
#include <stdexcept>

#include "src/lab/source_lines.hpp"

namespace unlatch::lab::exploring {

namespace {

std::string in_hexadecimal(std::uint32_t value) {
  char text[8];
  return "0x" + std::string(text, std::to_chars(text, text + sizeof(text), value, 16).ptr);
}

[[noreturn]] void complain(std::string_view text, std::size_t at) {
  throw std::invalid_argument("schedule \"" + std::string(text) + "\", character " +
                              std::to_string(at + 1) +
                              ": expected STEP>THREAD or STEP!0xSTATUS, separated by one blank, "
                              "steps in increasing order");
}

const char* verb_of(scheduling_point::kind what) {
  switch (what) {
    case scheduling_point::kind::read:
      return "reads";
    case scheduling_point::kind::write:
      return "writes";
    case scheduling_point::kind::atomic:
      return "accesses atomically";
    case scheduling_point::kind::fence:
      return "executes a fence";
    case scheduling_point::kind::pause:
      return "pauses";
    case scheduling_point::kind::begin:
      return "begins a transaction";
    case scheduling_point::kind::commit:
      return "commits";
    case scheduling_point::kind::kernel:
      break;
  }
  return "calls the system";
}

bool has_address(scheduling_point::kind what) {
  using kind = scheduling_point::kind;
  return what == kind::read || what == kind::write || what == kind::atomic;
}

std::string describe(const step& at, const source_lines& lines) {
  std::string text = std::string(verb_of(at.what));
  if (has_address(at.what)) {
    const std::string variable = lines.variable_at(at.address);
    text += ' ' + (variable.empty() ? "memory" : variable);
  }
  return text + " at " + lines.line_of_call(at.code);
}

}  // namespace

std::string to_text(const schedule& what) {
  std::string text;
  for (const deviation& one : what) {
    if (!text.empty()) text += ' ';
    text += std::to_string(one.step);
    text += one.status == strategy::no_abort ? '>' + std::to_string(one.thread)
                                             : '!' + in_hexadecimal(one.status);
  }
  return text;
}

schedule parse_schedule(std::string_view text) {
  schedule parsed;
  const char* const end = text.data() + text.size();
  const char* at = text.data();
  const auto number = [&](int base) {
    std::uint32_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value, base);
    if (error != std::errc()) complain(text, at - text.data());
    at = next;
    return value;
  };
  while (at != end) {
    if (!parsed.empty() && *at++ != ' ') complain(text, at - 1 - text.data());
    deviation one{number(10), 0, strategy::no_abort};
    if (!parsed.empty() && one.step <= parsed.back().step) complain(text, at - text.data());
    if (at == end) complain(text, text.size());
    if (*at == '>') {
      ++at;
      one.thread = number(10);
    } else if (end - at > 3 && std::string_view(at, 3) == "!0x") {
      at += 3;
      one.status = number(16);
    } else {
      complain(text, at - text.data());
    }
    parsed.push_back(one);
  }
  return parsed;
}

std::string tell(const board& last) {
  const source_lines lines;
  std::string story;
  for (std::uint32_t i = 0; i < last.taken_count; ++i) {
    const deviation& one = last.taken[i];
    const step& at = last.steps[one.step];
    story += "  step " + std::to_string(one.step) + ": ";
    if (one.status == strategy::no_abort)
      story += "before thread " + std::to_string(at.thread) + ' ' + describe(at, lines) +
               ", thread " + std::to_string(one.thread) + " goes on\n";
    else
      story += "where thread " + std::to_string(at.thread) + ' ' + describe(at, lines) +
               ", its transaction aborts with status " + in_hexadecimal(one.status) + '\n';
  }
  if (last.step_count != 0) {
    const step& at = last.steps[std::min(last.step_count, most_recorded_steps) - 1];
    story += "  step " + std::to_string(last.step_count - 1) + ", the last: thread " +
             std::to_string(at.thread) + ' ' + describe(at, lines) + '\n';
  }
  return story;
}

}  // namespace unlatch::lab::exploring
