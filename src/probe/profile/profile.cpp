// SPDX-License-Identifier: Apache-2.0
#include "src/probe/profile/profile.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <thread>

#include "src/probe/preloading_program.hpp"

namespace unlatch::probe {
namespace {

namespace fs = std::filesystem;

constexpr preloaded_object profiler = {"the profiler", "unlatch-profiler.so", "UNLATCH_PROFILER",
                                       "install Zydis (libzydis-dev on Debian) and build again"};

std::uint64_t time_stamp_counter() {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc();
#else
  return 0;  // no program can be profiled here; recordings from elsewhere can be read
#endif
}

/// The rate of the time-stamp counter, to a thousandth.
std::uint64_t measured_ticks_per_ms() {
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  const std::uint64_t from = time_stamp_counter();
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const std::uint64_t ticks = time_stamp_counter() - from;
  const std::chrono::duration<double, std::milli> took = clock::now() - begin;
  return static_cast<std::uint64_t>(static_cast<double>(ticks) / took.count());
}

/// Makes a file with a header and nothing else. `file` is not overwritten unless it is a recording
/// or empty, so that no mistyped command line costs a file of another kind.
void make_recording(const fs::path& file, std::uint32_t sampling_permille) {
  const auto fail = [&file](int error) {
    throw recording_error(file.string() + ": cannot record there: " + std::strerror(error));
  };
  std::error_code ignored;
  if (fs::file_size(file, ignored) > 0 && !ignored) static_cast<void>(read_recording(file));
  constexpr mode_t mode = 0600;
  const int made = open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (made < 0) fail(errno);
  std::vector<char> block(recording::block_bytes, 0);
  auto* const header = new (block.data()) recording::header{};
  header->magic = recording::header::magic_number;
  header->tsc_per_ms = measured_ticks_per_ms();
  header->began = time_stamp_counter();
  header->sampling_permille = sampling_permille;
  header->next_block = 1;
  const ssize_t written = write(made, block.data(), block.size());
  const int error = written < 0 ? errno : ENOSPC;
  close(made);
  if (written != static_cast<ssize_t>(block.size())) fail(error);
}

/// Writes into the header when the program ended. What cannot be written is not known later.
void note_end(const fs::path& file) {
  const int opened = open(file.c_str(), O_WRONLY | O_CLOEXEC);
  const std::uint64_t now = time_stamp_counter();
  static_cast<void>(!pwrite(opened, &now, sizeof now, offsetof(recording::header, ended)));
  if (opened >= 0) close(opened);
}

std::uint32_t permille_of(double percent) {
  constexpr double most = 50;
  if (percent >= 0 && percent <= most) return static_cast<std::uint32_t>(std::lround(percent * 10));
  throw std::invalid_argument("the share of time for stepping sections lies between 0 and 50 %");
}

/// A name for a recording that nobody asked to keep. It stays behind if this process is killed.
fs::path temporary_recording() {
  return fs::temp_directory_path() / ("unlatch-" + std::to_string(getpid()) + ".profile");
}

/// Removes a file when it goes.
class removed_file {
 public:
  explicit removed_file(fs::path file) : file_(std::move(file)) {}
  removed_file(const removed_file&) = delete;
  removed_file& operator=(const removed_file&) = delete;
  ~removed_file() {
    std::error_code ignored;
    fs::remove(file_, ignored);
  }

 private:
  fs::path file_;
};

}  // namespace

profile_report profile(const profile_request& request) {
  if (request.command.empty()) throw std::invalid_argument("no program to profile");
  const preloading_program program(request.command, profiler);
  const bool keep = !request.recording.empty();
  const fs::path file = fs::absolute(keep ? request.recording : temporary_recording());
  std::optional<removed_file> removed;
  if (!keep) removed.emplace(file);
  make_recording(file, permille_of(request.sampling_percent));
  const int exit_status = program.run({{recording::file_variable, file.string()}});
  note_end(file);
  auto report = read_profile(file, request.machine);
  report.exit_status = exit_status;
  return report;
}

profile_report read_profile(const fs::path& recording, const lab::model& machine) {
  return report_of(read_recording(recording), machine);
}

}  // namespace unlatch::probe
