// SPDX-License-Identifier: Apache-2.0
#include "src/lab/explore/attempt.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <system_error>

#include "src/lab/lab.hpp"

namespace unlatch::lab::exploring {

namespace {

// A schedule of code that computes without ever coming to a step ends after this time.
constexpr unsigned seconds_without_end = 20;

board* the_board = nullptr;

[[noreturn]] void complain(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

[[noreturn]] void be_the_child(board& shared, const model& machine,
                               const std::function<void()>& body, int errors) {
  ::dup2(errors, STDERR_FILENO);
  ::alarm(seconds_without_end);
  const strategy guide = strategy_of(shared);
  options how;
  how.blame = false;
  how.strategy = &guide;
  run(machine, how, [&] {
    try {
      body();
    } catch (const std::exception& left) {
      finish(shared, ending::failed, left.what());
    } catch (...) {
      finish(shared, ending::failed, "an exception that is not a std::exception left the body");
    }
  });
  finish(shared, ending::passed, "");
}

std::string read_all(int from) {
  std::string text;
  std::array<char, 4096> some;
  for (ssize_t n; (n = ::read(from, some.data(), some.size())) > 0;) text.append(some.data(), n);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string how_it_died(int status) {
  if (WIFEXITED(status))
    return "the program ended with status " + std::to_string(WEXITSTATUS(status));
  if (WTERMSIG(status) == SIGALRM) return "the schedule does not end";
  return std::string("the program died of ") + ::strsignal(WTERMSIG(status));
}

}  // namespace

attempt run_schedule(board& shared, const model& machine, const std::function<void()>& body) {
  shared.end = ending::none;
  shared.message[0] = '\0';
  shared.step_count = shared.thread_count = shared.taken_count = 0;

  int errors[2];
  if (::pipe(errors) != 0) complain("lab::explore: pipe");
  const pid_t child = ::fork();
  if (child < 0) complain("lab::explore: fork");
  if (child == 0) {
    ::close(errors[0]);
    be_the_child(shared, machine, body, errors[1]);
  }
  ::close(errors[1]);
  const std::string said = read_all(errors[0]);
  ::close(errors[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) complain("lab::explore: waitpid");

  if (shared.end != ending::none) return {shared.end, shared.message};
  const std::string died = how_it_died(status);
  return {ending::failed, said.empty() ? died : died + ": " + said};
}

board* current_board() noexcept { return the_board; }
void set_current_board(board* which) noexcept { the_board = which; }

}  // namespace unlatch::lab::exploring
