// SPDX-License-Identifier: Apache-2.0
#include "studies/lab_program.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "src/lab/given_up.hpp"
#include "src/programs/nearby.hpp"

extern char** environ;

namespace unlatch::studies {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view program_name = "unlatch-lab";

fs::path find_lab_program() {
  fs::path found =
      programs::find_nearby_or_named("UNLATCH_LAB_PROGRAM", program_name,
                                     {"", "libexec/unlatch", "lab/studies", "build/lab/studies"});
  if (!found.empty()) return found;
  throw study_error(
      "the lab is not built: there is no unlatch-lab near this program; build it with 'cmake "
      "--preset lab && cmake --build --preset lab' (it needs clang 19), or name it in "
      "UNLATCH_LAB_PROGRAM");
}

/// A file descriptor that is closed at the end of its life.
class descriptor {
 public:
  explicit descriptor(int number) : number_(number) {
    if (number_ < 0) {
      throw study_error(fmt::format("cannot talk to unlatch-lab: {}", std::strerror(errno)));
    }
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() { close(); }
  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

/// A file in memory that holds `text`: standard input for a program, however long the text is.
int input_of(const std::string& text) {
  const int file = memfd_create("unlatch-lab-request", MFD_CLOEXEC);
  for (std::size_t done = 0; file >= 0 && done < text.size();) {
    const auto count = ::write(file, text.data() + done, text.size() - done);
    if (count > 0) done += static_cast<std::size_t>(count);
    if (count < 0 && errno != EINTR) break;
  }
  if (file >= 0) ::lseek(file, 0, SEEK_SET);
  return file;
}

std::string contents_of(int file) {
  ::lseek(file, 0, SEEK_SET);
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const auto count = ::read(file, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

pid_t start(const fs::path& program, int input, int output, int errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  std::array<char*, 2> arguments{const_cast<char*>(program.c_str()), nullptr};
  pid_t child = 0;
  const int failure =
      posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    throw study_error(
        fmt::format("{} cannot be started: {}", program.string(), std::strerror(failure)));
  }
  return child;
}

int wait_for(pid_t child, const std::stop_token& stop) {
  siginfo_t ended{};
  {
    const std::stop_callback killer(stop, [child] { kill(child, SIGKILL); });
    while (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR) {
    }
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

lab_program::lab_program() : file_(find_lab_program()) {}

measurement lab_program::measure(const lab_request& request, const std::stop_token& stop) const {
  const descriptor input(input_of(to_json(request).dump()));
  const descriptor output(memfd_create("unlatch-lab-result", MFD_CLOEXEC));
  const descriptor errors(memfd_create("unlatch-lab-errors", MFD_CLOEXEC));
  const int status = wait_for(start(file_, input.get(), output.get(), errors.get()), stop);
  if (stop.stop_requested()) throw interrupted();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::string said = contents_of(errors.get());
    while (said.ends_with('\n')) said.pop_back();
    const std::string cell = describe(request.study, request.what, request.on.name);
    if (WIFEXITED(status) && WEXITSTATUS(status) == lab::given_up_status) {
      throw given_up(fmt::format("{}: {}", cell, said));
    }
    throw study_error(fmt::format("{}: {} {}: {}", cell, file_.string(),
                                  WIFSIGNALED(status)
                                      ? fmt::format("was killed ({})", strsignal(WTERMSIG(status)))
                                      : fmt::format("exited with code {}", WEXITSTATUS(status)),
                                  said.empty() ? "it said nothing" : said));
  }
  const std::string text = contents_of(output.get());
  try {
    return parse_measurement(text);
  } catch (const nlohmann::json::exception& error) {
    throw study_error(fmt::format(
        "{} answered what cannot be read ({}); build it from the same sources as this program",
        file_.string(), error.what()));
  }
}

measurement simulator::measure(const study& what, const cell& one, const lab::model_file& on,
                               bool blame, const std::stop_token& stop) {
  if (what.measure_on) return what.measure_on(one, on, stop);
  if (!lab_) lab_.emplace();
  return lab_->measure({what.name, one, on, blame}, stop);
}

}  // namespace unlatch::studies
