// SPDX-License-Identifier: Apache-2.0
#include "unlatch/path_choice.hpp"

#include <algorithm>

namespace unlatch::detail {

constinit path_choice path_choices[max_rows];

namespace {

constexpr std::uint64_t least_sections = 16;  ///< of a trial
constexpr double cost_share = 0.01;           ///< of the time, for what the slower trials lose
constexpr double shortest_run = 1e6;          ///< ticks
constexpr double longest_run = 2e8;           ///< and ten times the race before
constexpr std::uint64_t idle = 100'000'000;   ///< nobody's sections for so many ticks do not count
constexpr double broken_promise = 1.5;        ///< a run so many times slower than its trials

/// A race is over once one path is so many times as fast.
constexpr double clear_lead[path_choice::rounds] = {3, 2, 1.5, 1.25, 1.1, 1};

constexpr path other_than(path one) noexcept {
  return one == path::speculative ? path::direct : path::speculative;
}

}  // namespace

path path_choice::look(thread_row& row, std::uint64_t now) noexcept {
  memory& seen = memory_in(row);
  const std::uint64_t count = row.count(statistics::counter::sections);
  const std::uint32_t word = word_.load(std::memory_order_acquire);
  if (seen.word() == word) {
    const std::uint64_t silence = now - last_look_.exchange(now, std::memory_order_relaxed);
    if (silence > idle && silence < now) began_.fetch_add(silence, std::memory_order_relaxed);
    const std::uint64_t own = count - seen.from;
    const std::uint64_t done = done_.fetch_add(own, std::memory_order_relaxed) + own;
    const bool is_over =
        done >= least_.load(std::memory_order_relaxed) &&
        now - began_.load(std::memory_order_relaxed) >= length_.load(std::memory_order_relaxed);
    if (is_over) end_period(word, now);
  }
  // A period that another thread begins right now is met at the next section.
  const std::uint32_t next = word_.load(std::memory_order_acquire);
  seen.from = count;
  seen.until = moment(next, count + step_.load(std::memory_order_relaxed));
  return path_in(next);
}

void path_choice::end_period(std::uint32_t word, std::uint64_t now) noexcept {
  if (busy_.exchange(true, std::memory_order_acquire)) return;
  if (word_.load(std::memory_order_relaxed) == word) {
    last_look_.store(now, std::memory_order_relaxed);
    const auto ticks = static_cast<double>(now - began_.load(std::memory_order_relaxed));
    const auto sections = static_cast<double>(done_.load(std::memory_order_relaxed));
    began_.store(now, std::memory_order_relaxed);
    done_.store(0, std::memory_order_relaxed);
    switch (stage_) {
      case stage::none:
        begin_race(path::direct);
        break;
      case stage::trying_other:
      case stage::trying_last:
        score_of(path_).ticks += ticks;
        score_of(path_).sections += sections;
        if (stage_ == stage::trying_other)
          begin_trial(stage::trying_last, other_than(path_));
        else
          end_round();
        break;
      case stage::running:
        typical_ = ticks / sections;
        judge_run();
        begin_race(path_);
        break;
    }
    word_.store(((word >> 2) + 1) << 2 | static_cast<std::uint32_t>(path_),
                std::memory_order_release);
  }
  busy_.store(false, std::memory_order_release);
}

/// Once is no reason: the lock may have been idle for a while.
void path_choice::judge_run() noexcept {
  if (typical_ <= broken_promise * promised_) {
    ++kept_promises_;
    if (first_round_ > 0) --first_round_;
    return;
  }
  if (kept_promises_ < 8) first_round_ = std::min(first_round_ + 2, rounds - 1);
  kept_promises_ = 0;
}

/// `last` is what has run until now.
void path_choice::begin_race(path last) noexcept {
  scores_ = {};
  round_ = first_round_;
  begin_trial(stage::trying_other, other_than(last));
}

void path_choice::begin_trial(stage which, path to_try) noexcept {
  stage_ = which;
  begin_period(to_try, trial_ticks(round_), least_sections);
}

void path_choice::end_round() noexcept {
  const double speculative = score_of(path::speculative).ticks_per_section();
  const double direct = score_of(path::direct).ticks_per_section();
  typical_ = std::min(speculative, direct);
  const double lead = std::max(speculative, direct) / typical_;
  if (lead < clear_lead[round_]) {
    ++round_;
    begin_trial(stage::trying_other, other_than(path_));
    return;
  }
  const path winner = speculative < direct ? path::speculative : path::direct;
  promised_ = typical_;
  begin_run(winner, score_of(other_than(winner)).ticks * (1 - 1 / lead));
}

/// `lost` are the ticks that the slower path's trials took longer.
void path_choice::begin_run(path winner, double lost) noexcept {
  stage_ = stage::running;
  const double longest = longest_run + 10 * (scores_[0].ticks + scores_[1].ticks);
  const double ticks = std::clamp(lost / cost_share, shortest_run, longest);
  begin_period(winner, static_cast<std::uint64_t>(ticks), 1);
}

void path_choice::begin_period(path which, std::uint64_t ticks, std::uint64_t least) noexcept {
  path_ = which;
  length_.store(ticks, std::memory_order_relaxed);
  least_.store(least, std::memory_order_relaxed);
  // So few that what threads have not reported yet does not matter even if there are many.
  const double sections = typical_ > 0 ? static_cast<double>(ticks) / typical_ : 0;
  step_.store(static_cast<std::uint32_t>(std::clamp(sections / 256, 1.0, double{longest_step})),
              std::memory_order_relaxed);
}

}  // namespace unlatch::detail
