// SPDX-License-Identifier: Apache-2.0
#include "src/probe/profile/read_recording.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>

namespace unlatch::probe {
namespace {

using recording::block_bytes;
using recording::block_head;
using recording::content;

/// A file in memory.
class mapped_file {
 public:
  explicit mapped_file(const std::filesystem::path& file) {
    const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status = {};
    const bool opened = descriptor >= 0 && fstat(descriptor, &status) == 0;
    const bool empty = opened && status.st_size == 0;
    if (opened && !empty) {
      bytes_ = static_cast<std::size_t>(status.st_size);
      at_ = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, descriptor, 0);
    }
    const int error = errno;
    if (descriptor >= 0) close(descriptor);
    if (empty) throw recording_error(file.string() + ": this file is empty, not a recording");
    if (at_ == MAP_FAILED) throw recording_error(file.string() + ": " + std::strerror(error));
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  ~mapped_file() { munmap(at_, bytes_); }

  [[nodiscard]] std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(at_), bytes_};
  }

 private:
  void* at_ = MAP_FAILED;
  std::size_t bytes_ = 0;
};

/// What follows the head of a run of blocks, as far as the file has it.
std::span<const std::byte> contents_of(const block_head& head, std::span<const std::byte> run) {
  const std::uint64_t bytes =
      head.what == content::uses ? head.used * sizeof(recording::lock_use) : head.used.load();
  const auto behind = run.subspan(sizeof head);
  return behind.first(std::min<std::uint64_t>(bytes, behind.size()));
}

use_totals totals_of(const recording::lock_use& use) {
  use_totals totals;
  totals.acquired = use.acquired;
  totals.contended = use.contended;
  totals.contended_by_sample = use.contended_by_sample;
  totals.refused = use.refused;
  totals.wait_ticks = use.wait_ticks;
  if (use.kind != recording::lock_kind::condition) totals.contended_ticks = use.wait_ticks;
  totals.timed = use.timed;
  totals.held_ticks = use.held_ticks;
  for (unsigned i = 0; i < recording::duration_counts::classes; ++i) {
    totals.held.counts[i] = use.held.of[i];
  }
  return totals;
}

void read_uses(std::uint32_t process, std::span<const std::byte> from, recording_contents& into) {
  for (; from.size() >= sizeof(recording::lock_use);
       from = from.subspan(sizeof(recording::lock_use))) {
    const auto& use = *reinterpret_cast<const recording::lock_use*>(from.data());
    into.uses.push_back({process, use.thread, use.lock, use.site, use.kind, totals_of(use)});
  }
}

void read_modules(std::span<const std::byte> from, recorded_process& into) {
  while (from.size() >= sizeof(recording::module)) {
    const auto& module = *reinterpret_cast<const recording::module*>(from.data());
    const std::uint64_t bytes = (sizeof module + module.path_bytes + 7) / 8 * 8;
    if (bytes > from.size()) return;
    into.modules.push_back({module.begin, module.end, module.file_offset, module.executable != 0,
                            std::string(reinterpret_cast<const char*>(from.data()) + sizeof module,
                                        module.path_bytes)});
    from = from.subspan(bytes);
  }
}

void read_samples(std::uint32_t process, std::span<const std::byte> from,
                  recording_contents& into) {
  while (from.size() >= sizeof(recording::section_sample)) {
    const auto& of = *reinterpret_cast<const recording::section_sample*>(from.data());
    const std::uint64_t bytes = sizeof of + of.lines * sizeof(recording::touched_line);
    if (of.bytes != bytes || bytes > from.size()) return;
    const auto* const lines =
        reinterpret_cast<const recording::touched_line*>(from.data() + sizeof of);
    auto& sample = into.samples.emplace_back(
        recorded_sample{process, of, std::vector(lines, lines + of.lines)});
    std::sort(sample.lines.begin(), sample.lines.end(),
              [](const auto& a, const auto& b) { return a.line < b.line; });
    from = from.subspan(bytes);
  }
}

/// Reads the run that begins here; returns how many blocks to go on.
std::uint64_t read_run(std::span<const std::byte> from, recording_contents& into) {
  const auto& head = *reinterpret_cast<const block_head*>(from.data());
  const content what = head.what.load(std::memory_order_acquire);
  if (what == content::nothing || head.blocks == 0) return 1;
  const auto run = from.first(std::min<std::uint64_t>(head.blocks * block_bytes, from.size()));
  auto& process = into.processes[head.process];
  process.id = head.process_id;
  if (what == content::uses) read_uses(head.process, contents_of(head, run), into);
  if (what == content::samples) read_samples(head.process, contents_of(head, run), into);
  if (what == content::modules) read_modules(contents_of(head, run), process);
  return head.blocks;
}

}  // namespace

void durations::add(const durations& other) {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
}

std::uint64_t durations::total() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

double durations::percentile(double share) const {
  using classes = recording::duration_counts;
  const auto rank = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(total())));
  std::uint64_t seen = 0;
  for (unsigned i = 0; i < counts.size(); ++i) {
    seen += counts[i];
    if (counts[i] == 0 || seen < rank) continue;
    return std::midpoint(static_cast<double>(classes::least(i)),
                         static_cast<double>(classes::least(i + 1)));
  }
  return 0;
}

void use_totals::add(const use_totals& other) {
  acquired += other.acquired;
  contended += other.contended;
  contended_by_sample += other.contended_by_sample;
  refused += other.refused;
  wait_ticks += other.wait_ticks;
  contended_ticks += other.contended_ticks;
  timed += other.timed;
  held_ticks += other.held_ticks;
  held.add(other.held);
}

double use_totals::all_held_ticks() const {
  if (timed == 0) return 0;
  return static_cast<double>(held_ticks) * static_cast<double>(acquired) /
         static_cast<double>(timed);
}

recording_contents read_recording(const std::filesystem::path& file) {
  const mapped_file mapped(file);
  auto rest = mapped.bytes();
  const auto& header = *reinterpret_cast<const recording::header*>(rest.data());
  if (rest.size() < block_bytes || header.magic != recording::header::magic_number) {
    throw recording_error(file.string() +
                          ": not a recording of 'unlatch profile', or one of another version");
  }
  recording_contents contents;
  contents.ticks_per_us = static_cast<double>(header.tsc_per_ms) / 1000;
  contents.failure = static_cast<int>(header.failure.load());
  contents.lost_uses = header.lost_uses;
  contents.lost_threads = header.lost_threads;
  rest = rest.subspan(block_bytes);
  while (rest.size() >= block_bytes) {
    rest =
        rest.subspan(std::min<std::uint64_t>(read_run(rest, contents) * block_bytes, rest.size()));
  }
  std::uint64_t last = header.ended;
  for (const auto& sample : contents.samples) last = std::max(last, sample.of.when);
  if (last > header.began) contents.run_ticks = static_cast<double>(last - header.began);
  return contents;
}

}  // namespace unlatch::probe
