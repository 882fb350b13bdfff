// SPDX-License-Identifier: Apache-2.0
#include "src/probe/preloading_program.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "src/probe/program_file.hpp"
#include "src/programs/nearby.hpp"

namespace unlatch::probe {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view preload_variable = "LD_PRELOAD";

fs::path find_object(const preloaded_object& object) {
  fs::path found = programs::find_nearby_or_named(object.variable, object.file,
                                                  {"", "libexec/unlatch", "src/probe"});
  if (!found.empty()) return found;
  throw program_error(std::string(object.what) + " is not built: there is no " + object.file +
                      " near this program; " + object.remedy + ", or name the object in " +
                      object.variable);
}

/// Whether `word` of an environment sets the variable `name`.
bool sets(std::string_view word, std::string_view name) {
  return word.starts_with(name) && word.substr(name.size()).starts_with('=');
}

/// This process's environment with `variables` set and `object` loaded before what is already
/// preloaded.
std::vector<std::string> environment_with(
    const fs::path& object, const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> words;
  std::string preload = std::string(preload_variable) + "=" + object.string();
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view word(*each);
    if (sets(word, preload_variable)) {
      preload += ":" + std::string(word.substr(preload_variable.size() + 1));
    } else if (std::none_of(variables.begin(), variables.end(),
                            [word](const auto& variable) { return sets(word, variable.first); })) {
      words.emplace_back(word);
    }
  }
  words.push_back(std::move(preload));
  for (const auto& [name, value] : variables) words.push_back(name + "=" + value);
  return words;
}

/// What execve() wants: pointers to the words, and a null behind them.
std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Ignores what a terminal sends to both this process and the program.
class terminal_signals_ignored {
 public:
  terminal_signals_ignored() {
    for (std::size_t i = 0; i < numbers.size(); ++i) before_[i] = std::signal(numbers[i], SIG_IGN);
  }
  terminal_signals_ignored(const terminal_signals_ignored&) = delete;
  terminal_signals_ignored& operator=(const terminal_signals_ignored&) = delete;
  ~terminal_signals_ignored() { restore(); }
  void restore() {
    for (std::size_t i = 0; i < numbers.size(); ++i) std::signal(numbers[i], before_[i]);
  }

 private:
  static constexpr std::array numbers{SIGINT, SIGQUIT};
  std::array<void (*)(int), numbers.size()> before_{};
};

/// In the child: never returns. What fails is written to `told` as an errno.
[[noreturn]] void become(const fs::path& program, const std::vector<char*>& words,
                         const std::vector<char*>& environment, int told) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // the program does not outlive this one
  execve(program.c_str(), words.data(), environment.data());
  const int error = errno;
  static_cast<void>(!write(told, &error, sizeof error));
  _exit(127);
}

/// Runs the program and waits for its end.
int run_to_its_end(const fs::path& program, std::vector<std::string> command,
                   std::vector<std::string> environment) {
  std::array<int, 2> failure{};
  if (pipe2(failure.data(), O_CLOEXEC) != 0) {
    throw program_error(std::string("cannot start a program: ") + std::strerror(errno));
  }
  const auto words = pointers_to(command);
  const auto environment_words = pointers_to(environment);
  terminal_signals_ignored ignored;
  const pid_t child = fork();
  if (child == 0) {
    ignored.restore();
    become(program, words, environment_words, failure[1]);
  }
  close(failure[1]);
  int error = child < 0 ? errno : 0;
  const bool told = child > 0 && read(failure[0], &error, sizeof error) == sizeof error;
  close(failure[0]);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child < 0 || told) throw program_error(program.string() + ": " + std::strerror(error));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

preloading_program::preloading_program(std::vector<std::string> command,
                                       const preloaded_object& object)
    : command_(std::move(command)), program_(find_program(command_.front())) {
  require_preloadable(program_);
  object_ = find_object(object);
}

int preloading_program::run(
    const std::vector<std::pair<std::string, std::string>>& variables) const {
  return run_to_its_end(program_, command_, environment_with(object_, variables));
}

int run_as_it_is(const std::vector<std::string>& command) {
  const fs::path program = find_program(command.front());
  require_executable(program);
  std::vector<std::string> environment;
  for (char** each = environ; *each != nullptr; ++each) environment.emplace_back(*each);
  return run_to_its_end(program, command, std::move(environment));
}

}  // namespace unlatch::probe
