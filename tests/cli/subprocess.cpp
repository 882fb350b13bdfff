// SPDX-License-Identifier: Apache-2.0
#include "subprocess.hpp"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace unlatch::cli::testing {
namespace {

std::string contents_of(const std::filesystem::path& file) {
  std::ifstream input(file);
  return {std::istreambuf_iterator<char>(input), {}};
}

std::filesystem::path make_directory() {
  std::string name = (std::filesystem::temp_directory_path() / "unlatch-cli-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  return name;
}

/// Reads what was written to a terminal until its other end is closed.
std::string drain(int terminal) {
  std::string text;
  std::array<char, 4096> piece{};
  for (ssize_t count = 0; (count = read(terminal, piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

subprocess::subprocess(const std::vector<std::string>& arguments, bool error_terminal)
    : directory_(make_directory()) {
  std::vector<std::string> words{UNLATCH_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  constexpr int mode = 0600;
  const int out = open((directory_ / "out").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, mode);
  int err = -1;
  if (error_terminal) {
    if (openpty(&terminal_, &err, nullptr, nullptr, nullptr) != 0) {
      throw std::runtime_error("cannot open a terminal");
    }
  } else {
    err = open((directory_ / "err").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, mode);
  }
  id_ = fork();
  if (id_ == 0) {
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  close(out);
  close(err);
  if (id_ < 0) throw std::runtime_error("cannot start a process");
}

subprocess::~subprocess() {
  if (id_ > 0) {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  if (terminal_ >= 0) close(terminal_);
  std::filesystem::remove_all(directory_);
}

outcome subprocess::wait() {
  outcome ended;
  if (terminal_ >= 0) ended.err = drain(terminal_);
  int status = 0;
  waitpid(id_, &status, 0);
  id_ = -1;
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ended.out = contents_of(directory_ / "out");
  if (terminal_ < 0) ended.err = contents_of(directory_ / "err");
  return ended;
}

outcome run(const std::vector<std::string>& arguments) { return subprocess(arguments).wait(); }

}  // namespace unlatch::cli::testing
