// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_line.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace unlatch::cli {
namespace {

constexpr std::string_view clear_line = "\r\x1b[K";
constexpr std::size_t usual_columns = 80;

std::string minutes(double seconds) {
  const auto whole = static_cast<long>(seconds);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::size_t terminal_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual_columns;
  return size.ws_col;
}

}  // namespace

std::string progress_line(const studies::progress& now, std::size_t columns) {
  const auto total = std::to_string(now.total);
  std::string line = fmt::format("[{:>{}}/{}]", now.done, total.size(), total);
  if (now.next != nullptr) {
    line += fmt::format(" {}, {}, {} thread{};", now.next->case_name, now.next->recorded_mode(),
                        now.next->threads, now.next->threads == 1 ? "" : "s");
  }
  line += fmt::format(" {} gone", minutes(now.elapsed));
  if (now.done > 0 && now.done < now.total) {
    line += fmt::format(", about {} left", minutes(now.remaining));
  }
  return line.substr(0, columns);
}

progress_display::progress_display() : terminal_(isatty(STDERR_FILENO) == 1) {}

progress_display::~progress_display() {
  if (terminal_) fmt::print(stderr, "{}", clear_line);
}

void progress_display::operator()(const studies::progress& now) {
  if (!terminal_) return;
  // A line as long as the terminal is wide would make it scroll.
  fmt::print(stderr, "{}{}", clear_line, progress_line(now, terminal_columns() - 1));
  std::fflush(stderr);
}

}  // namespace unlatch::cli
