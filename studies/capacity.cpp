// SPDX-License-Identifier: Apache-2.0
//
// How much a transaction can write or read (Schrimpf 2014, sections 3.2.1 and 3.2.2, appendix C.2):
// one after the other, in strides, at random, in memory that was touched before or not.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "studies/attempts.hpp"
#include "studies/random.hpp"
#include "studies/studies.hpp"
#include "unlatch/platform.hpp"

namespace unlatch::studies {
namespace {

/// What the transactions of a case do.
struct access_pattern {
  bool writes = true;
  bool touched = true;  ///< the memory was written before
  bool random = false;
  std::uint64_t stride = 1;  ///< lines from one access to the next
};

access_pattern pattern_of(const std::string& case_name) {
  access_pattern pattern;
  pattern.writes = case_name.starts_with("write");
  pattern.touched = case_name.find("untouched") == std::string::npos;
  pattern.random = case_name.find("random") != std::string::npos;
  if (const auto at = case_name.find("stride-"); at != std::string::npos) {
    pattern.stride = std::strtoull(case_name.c_str() + at + 7, nullptr, 10);
  }
  return pattern;
}

struct alignas(cache_line) memory_line {
  volatile std::uint64_t word;
};

/// Hands out memory for one attempt after the other: the same each time, or always some that
/// nobody has touched.
class attempt_memory {
 public:
  attempt_memory(std::uint64_t lines, bool touched)
      : lines_(lines),
        touched_(touched),
        block_(static_cast<memory_line*>(
            std::aligned_alloc(page, round_up(lines * sizeof(memory_line))))) {
    if (block_ == nullptr) throw std::bad_alloc();
    if (touched) touch(lines);
  }
  attempt_memory(const attempt_memory&) = delete;
  attempt_memory& operator=(const attempt_memory&) = delete;
  ~attempt_memory() { std::free(block_); }

  memory_line* next(std::uint64_t lines) {
    if (touched_) {
      touch(lines);
      return block_;
    }
    const std::uint64_t whole_pages = round_up(lines * sizeof(memory_line)) / sizeof(memory_line);
    if (used_ + whole_pages > lines_) throw std::bad_alloc();
    return block_ + std::exchange(used_, used_ + whole_pages);
  }

 private:
  static constexpr std::uint64_t page = 4096;
  static std::uint64_t round_up(std::uint64_t bytes) { return (bytes + page - 1) / page * page; }
  void touch(std::uint64_t lines) {
    for (std::uint64_t i = 0; i < lines; ++i) block_[i].word = i;
  }

  std::uint64_t lines_;
  bool touched_;
  memory_line* block_;
  std::uint64_t used_ = 0;
};

/// One transaction over `count` lines, `stride` apart.
htm::status touch_in_transaction(memory_line* memory, std::uint64_t count,
                                 const access_pattern& pattern, random_numbers& random) {
  const std::uint64_t span = count * pattern.stride;
  return attempt([&] {
    if (pattern.random) {
      for (std::uint64_t i = 0; i < count; ++i) {
        memory_line& line = memory[random.below(span)];
        if (pattern.writes) {
          line.word = i;
        } else {
          (void)line.word;
        }
      }
    } else if (pattern.writes) {
      for (std::uint64_t i = 0; i < span; i += pattern.stride) memory[i].word = i;
    } else {
      for (std::uint64_t i = 0; i < span; i += pattern.stride) (void)memory[i].word;
    }
  });
}

class capacity_cell {
 public:
  explicit capacity_cell(const cell& one)
      : one_(one),
        pattern_(pattern_of(one.case_name)),
        attempts_(one.params.at("attempts")),
        most_((pattern_.writes ? most_written : most_read)),
        memory_(memory_lines(), pattern_.touched),
        random_(one.seed, 0) {}

  void operator()(measurement& measured, attempt_counts& total) {
    series curve(one_.case_name, "lines", "share aborted");
    const std::uint64_t step = most_ / points;
    for (std::uint64_t lines = step; lines <= most_; lines += step) {
      curve.add(static_cast<double>(lines), share_aborted(lines, total));
    }
    add_series(measured, curve);
    if (pattern_.writes && pattern_.touched && !pattern_.random) {
      add_figure(measured, "write_capacity_stride_" + std::to_string(pattern_.stride),
                 static_cast<double>(capacity(total)), "lines");
    }
  }

 private:
  static constexpr std::uint64_t points = 16;
  static constexpr std::uint64_t most_written = 1024;
  static constexpr std::uint64_t most_read = 16384;

  [[nodiscard]] std::uint64_t memory_lines() const {
    if (pattern_.touched) return most_ * pattern_.stride;
    return (points + 1) * points / 2 * (most_ / points + 64) * attempts_;
  }

  double share_aborted(std::uint64_t lines, attempt_counts& total) {
    attempt_counts counts;
    for (std::uint64_t i = 0; i < attempts_; ++i) {
      memory_line* const memory = memory_.next(lines * pattern_.stride);
      counts.count(touch_in_transaction(memory, lines, pattern_, random_));
    }
    total.add(counts);
    return counts.share_aborted();
  }

  /// The most lines with which some attempt commits.
  std::uint64_t capacity(attempt_counts& total) {
    std::uint64_t fits = 0;
    for (std::uint64_t too_many = most_ + 1; too_many - fits > 1;) {
      const std::uint64_t lines = (fits + too_many) / 2;
      (share_aborted(lines, total) < 1 ? fits : too_many) = lines;
    }
    return fits;
  }

  const cell& one_;
  access_pattern pattern_;
  std::uint64_t attempts_;
  std::uint64_t most_;
  attempt_memory memory_;
  random_numbers random_;
};

}  // namespace

study capacity_study() {
  study what;
  what.name = "capacity";
  what.description = "How many cache lines a transaction can write or read before it always aborts";
  what.cases = {{"write", "writes one line after the other"},
                {"write-stride-2", "writes every second line"},
                {"write-stride-3", "writes every third line"},
                {"write-stride-4", "writes every fourth line"},
                {"write-untouched", "writes memory that was not touched before"},
                {"write-random", "writes lines at random"},
                {"read", "reads one line after the other"},
                {"read-untouched", "reads memory that was not touched before"},
                {"read-random", "reads lines at random"}};
  what.modes = {bare_transactions()};
  what.parameters = {{"attempts", "transactions of each size", 100, 20, 1, 10'000, 10}};
  what.threads = {1};
  what.measure = [](const cell& one, const std::stop_token&) {
    capacity_cell run(one);
    return measure_attempts(std::ref(run));
  };
  return what;
}

}  // namespace unlatch::studies
