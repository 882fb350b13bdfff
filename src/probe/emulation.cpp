// SPDX-License-Identifier: Apache-2.0
#include "src/probe/emulation.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "src/probe/emulation_area.hpp"
#include "src/probe/program_file.hpp"

namespace unlatch::probe {
namespace {

namespace fs = std::filesystem;

constexpr char preload_variable[] = "LD_PRELOAD";
constexpr char emulator_variable[] = "UNLATCH_EMULATOR";
constexpr char emulator_name[] = "unlatch-emulator.so";

fs::path find_emulator() {
  std::error_code ignored;
  if (const char* named = std::getenv(emulator_variable); named != nullptr && *named != 0) {
    if (fs::exists(named, ignored)) return fs::absolute(named);
    throw program_error(std::string(emulator_variable) + " names " + named +
                        ", which is not there; name the object or unset it");
  }
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  for (fs::path above = self.parent_path();; above = above.parent_path()) {
    for (const char* room : {"", "libexec/unlatch", "src/probe"}) {
      const fs::path file = above / room / emulator_name;
      if (fs::exists(file, ignored)) return file;
    }
    if (above == above.parent_path()) break;
  }
  throw program_error(std::string("the emulator is not built: there is no ") + emulator_name +
                      " near this program; install Zydis (libzydis-dev on Debian) and build again, "
                      "or name the object in " +
                      emulator_variable);
}

[[noreturn]] void fail(const std::string& what) {
  throw program_error(what + ": " + std::strerror(errno));
}

/// The area, in a memory file that the program opens by the name it has in this process.
class shared_area {
 public:
  shared_area() : file_(memfd_create("unlatch-emulation", MFD_CLOEXEC)) {
    if (file_ < 0 || ftruncate(file_, sizeof(emulation_area)) != 0) fail("cannot share memory");
    void* const mapped =
        mmap(nullptr, sizeof(emulation_area), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (mapped == MAP_FAILED) fail("cannot share memory");
    area_ = static_cast<emulation_area*>(mapped);
  }
  shared_area(const shared_area&) = delete;
  shared_area& operator=(const shared_area&) = delete;
  ~shared_area() {
    munmap(area_, sizeof(emulation_area));
    close(file_);
  }

  emulation_area& operator*() { return *area_; }
  emulation_area* operator->() { return area_; }
  [[nodiscard]] std::string name() const {
    return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file_);
  }

 private:
  int file_;
  emulation_area* area_ = nullptr;
};

std::uint64_t instruction_number(const std::string& text) {
  std::uint64_t number = 0;
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number == 0) {
    throw std::invalid_argument("'" + text +
                                "' is no instruction to abort at: give its number, from 1, or "
                                "'each'");
  }
  return number;
}

emulation_settings settings_of(const emulation_request& request) {
  const auto& cache = request.machine.l1d;
  const auto& unit = request.machine.transactions;
  if (!unit.rtm) throw std::invalid_argument("this model has no RTM");
  if (cache.sets() * cache.ways > most_cache_lines || unit.read_lines > most_read_lines) {
    throw std::invalid_argument(
        "this model's transactions are larger than the emulator has room for: a first-level cache "
        "of 1 MiB and 131072 tracked lines");
  }
  if (!(request.abort_rate >= 0 && request.abort_rate <= 1)) {
    throw std::invalid_argument("a rate of aborts lies between 0 and 1");
  }
  emulation_settings settings{};
  settings.cache_sets = cache.sets();
  settings.cache_ways = cache.ways;
  settings.read_lines = unit.read_lines;
  settings.read_loss_per_million = unit.read_loss;
  settings.nesting_limit = unit.nesting_limit;
  settings.injected_status = status_word(request.status);
  settings.abort_each = request.abort_at == "each";
  if (!request.abort_at.empty() && !settings.abort_each) {
    settings.abort_at = instruction_number(request.abort_at);
  }
  settings.abort_chance = static_cast<std::uint64_t>(request.abort_rate * 4294967296.0);
  settings.seed = request.seed;
  settings.patch = request.patch;
  return settings;
}

/// In the child: never returns. What fails is written to `told` as an errno.
[[noreturn]] void become(const fs::path& program, const std::vector<char*>& words,
                         const std::vector<char*>& environment, int told) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // the program does not outlive this one
  execve(program.c_str(), words.data(), environment.data());
  const int error = errno;
  static_cast<void>(!write(told, &error, sizeof error));
  _exit(127);
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_with(const fs::path& emulator, const std::string& area) {
  std::vector<std::string> words;
  std::string preload = std::string(preload_variable) + "=" + emulator.string();
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view word(*each);
    const auto names = [word](std::string_view name) {
      return word.starts_with(name) && word.substr(name.size()).starts_with('=');
    };
    if (names(area_variable)) continue;
    if (names(preload_variable)) {
      preload += ":" + std::string(word.substr(std::strlen(preload_variable) + 1));
    } else {
      words.emplace_back(word);
    }
  }
  words.push_back(std::move(preload));
  words.push_back(std::string(area_variable) + "=" + area);
  return words;
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

int run(const fs::path& program, std::vector<std::string> command,
        std::vector<std::string> environment) {
  std::array<int, 2> failure{};
  if (pipe2(failure.data(), O_CLOEXEC) != 0) fail("cannot start a program");
  const auto words = pointers_to(command);
  const auto variables = pointers_to(environment);
  terminal_signals_ignored ignored;
  const pid_t child = fork();
  if (child == 0) {
    ignored.restore();
    become(program, words, variables, failure[1]);
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

transaction_totals totals_of(const transaction_counts& counts) {
  transaction_totals totals;
  totals.begun = counts.begun;
  totals.committed = counts.ended[static_cast<std::size_t>(ending::committed)];
  for (std::uint32_t i = 1; i < endings; ++i) totals.aborted.push_back(counts.ended[i]);
  totals.instructions = counts.instructions;
  return totals;
}

emulation_outcome outcome_of(emulation_area& area, int exit_status) {
  emulation_outcome outcome;
  outcome.exit_status = exit_status;
  outcome.processes = area.processes;
  outcome.without_site = area.lost_sites;
  outcome.all = totals_of(area.all);
  for (const call_site& site : area.sites) {
    if (site.ready == 0) continue;
    outcome.sites.push_back({site.file, site.file_offset,
                             site.blocker_state == 2 ? site.blocker : "", totals_of(site.counts)});
  }
  std::sort(outcome.sites.begin(), outcome.sites.end(), [](const auto& a, const auto& b) {
    return std::tie(b.totals.begun, a.file, a.offset) < std::tie(a.totals.begun, b.file, b.offset);
  });
  return outcome;
}

}  // namespace

emulation_outcome emulate(const emulation_request& request) {
  if (request.command.empty()) throw std::invalid_argument("no program to emulate");
  const auto settings = settings_of(request);
  const fs::path program = find_program(request.command.front());
  require_preloadable(program);
  const fs::path emulator = find_emulator();

  shared_area area;
  area->settings = settings;
  area->magic = emulation_area::magic_number;
  const int exit_status = run(program, request.command, environment_with(emulator, area.name()));
  return outcome_of(*area, exit_status);
}

}  // namespace unlatch::probe
