// SPDX-License-Identifier: Apache-2.0
#include "systems/leveldb/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "src/programs/nearby.hpp"

extern char** environ;

namespace unlatch::leveldb_driver {
namespace {

namespace fs = std::filesystem;

class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() { close(); }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  int get() const { return number_; }

 private:
  int number_ = -1;
};

struct output_pipe {
  output_pipe() {
    std::array<int, 2> ends;
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe");
    }
    read = descriptor(ends[0]);
    write = descriptor(ends[1]);
  }
  descriptor read;
  descriptor write;
};

pid_t start(const fs::path& program, const std::vector<std::string>& arguments, output_pipe& output,
            output_pipe& errors) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output.write.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.write.get(), STDERR_FILENO);
  pid_t child = 0;
  const int failure = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    throw program_error("cannot start " + program.string() + ": " + std::strerror(failure));
  }
  return child;
}

/// Appends what can be read; false at the end of the stream.
bool drain(const descriptor& source, std::string& text) {
  std::array<char, 4096> buffer;
  const ssize_t count = ::read(source.get(), buffer.data(), buffer.size());
  if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

/// Reads both streams until both end. Of the errors only the last part is kept.
void read_streams(output_pipe& output, output_pipe& errors, std::string& text, std::string& tail) {
  constexpr std::size_t kept = 2000;
  std::array<pollfd, 2> sources = {pollfd{output.read.get(), POLLIN, 0},
                                   pollfd{errors.read.get(), POLLIN, 0}};
  while (sources[0].fd >= 0 || sources[1].fd >= 0) {
    if (poll(sources.data(), sources.size(), -1) < 0 && errno != EINTR) break;
    if (sources[0].revents != 0 && !drain(output.read, text)) sources[0].fd = -1;
    if (sources[1].revents != 0 && !drain(errors.read, tail)) sources[1].fd = -1;
    if (tail.size() > 2 * kept) tail.erase(0, tail.size() - kept);
  }
}

/// The lines of `errors` that stay on a terminal: progress that overwrites itself is dropped.
std::string visible(const std::string& errors) {
  std::string lines;
  std::string line;
  for (const char c : errors) {
    if (c == '\r') {
      line.clear();
    } else if (c == '\n') {
      lines += line + "; ";
      line.clear();
    } else {
      line += c;
    }
  }
  return lines + line;
}

std::string exit_of(int status) {
  if (WIFSIGNALED(status)) return std::string("was killed: ") + strsignal(WTERMSIG(status));
  return "exited with code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

std::string_view name_of(variant which) noexcept {
  return which == variant::stock ? "stock" : "unlatch";
}

fs::path find_program(const std::string& name, const fs::path& directory) {
  std::error_code ignored;
  if (!directory.empty()) {
    if (fs::exists(directory / name, ignored)) return directory / name;
    throw program_error("there is no " + name + " in " + directory.string() +
                        "; name the directory that the LevelDB programs were built into");
  }
  fs::path found = programs::find_nearby(name, {"systems/leveldb", "libexec/unlatch"});
  if (!found.empty()) return found;
  throw program_error("cannot find " + name + " near " + programs::this_program().string() +
                      "; build it (UNLATCH_BUILD_SYSTEMS, and UNLATCH_LEVELDB_STOCK for the stock "
                      "programs), or name the directory that has it");
}

fs::path find_simulated_program(const std::string& name) {
  if (const char* named = std::getenv("UNLATCH_LAB_LEVELDB"); named != nullptr && *named != 0) {
    return find_program(name, named);
  }
  fs::path found = programs::find_nearby(
      name, {"lab/systems/leveldb", "build/lab/systems/leveldb", "libexec/unlatch/lab"});
  if (!found.empty()) return found;
  throw program_error(
      "cannot find a simulated " + name + " near " + programs::this_program().string() +
      "; build it with 'cmake --preset lab && cmake --build --preset lab --target " + name +
      "' (it needs clang 19)");
}

std::vector<std::string> simulated_machine::flags() const {
  return {"--machine=" + model.string(), "--machine-seed=" + std::to_string(seed),
          "--virtual-limit=" + std::to_string(virtual_limit_ms)};
}

program_output run_program(const fs::path& program, const std::vector<std::string>& arguments,
                           const std::stop_token& stop) {
  output_pipe output;
  output_pipe errors;
  const pid_t child = start(program, arguments, output, errors);
  output.write.close();
  errors.write.close();
  program_output result;
  std::string tail;
  {
    // It goes before the child is waited for, and its process id with that.
    const std::stop_callback killer(stop, [child] { kill(child, SIGKILL); });
    read_streams(output, errors, result.text, tail);
  }
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, 0, &usage) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "wait4");
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const std::string said = visible(tail);
    const std::string what = program.string() + " " + exit_of(status) + ": " + said;
    if (!WIFEXITED(status)) throw program_error(what);
    throw program_failed(what, WEXITSTATUS(status), said);
  }
  result.switches = {static_cast<std::uint64_t>(usage.ru_nvcsw),
                     static_cast<std::uint64_t>(usage.ru_nivcsw)};
  return result;
}

scratch_directory::scratch_directory(const fs::path& parent) {
  std::string pattern =
      ((parent.empty() ? fs::temp_directory_path() : parent) / "unlatch-leveldb-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw program_error("cannot make a directory for the database, " + pattern + ": " +
                        std::strerror(errno) + "; name one that can be written");
  }
  path_ = pattern;
}

scratch_directory::~scratch_directory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace unlatch::leveldb_driver
