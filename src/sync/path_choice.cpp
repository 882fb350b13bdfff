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

/// A path leaves the race in a round once another one is so many times as fast.
constexpr double clear_lead[path_choice::rounds] = {2.5, 1.4, 1.15, 1.05, 1};

constexpr path all_paths[] = {path::direct, path::speculative, path::joined, path::in_turns};

constexpr bool joins(path one) noexcept { return one >= path::joined; }

/// All paths in turn.
constexpr path after(path one) noexcept {
  return one == path::in_turns ? path::direct : static_cast<path>(static_cast<unsigned>(one) + 1);
}

}  // namespace

path path_choice::look(thread_row& row, std::uint64_t now, bool can_join) noexcept {
  if (can_join && !can_join_.load(std::memory_order_relaxed))
    can_join_.store(true, std::memory_order_relaxed);
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
    if (last_tried_ != path::undecided) {
      score_of(path_).ticks += ticks;
      score_of(path_).sections += sections;
      end_trial();
    } else {
      if (path_ != path::undecided) {
        typical_ = ticks / sections;
        judge_run();
      }
      begin_race();
    }
    word_.store((word / one_period + 1) * one_period + static_cast<std::uint32_t>(path_),
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

/// What has run until now comes last in each round: so the next path has warm caches, too.
void path_choice::begin_race() noexcept {
  scores_ = {};
  round_ = first_round_;
  const bool can_join = can_join_.load(std::memory_order_relaxed);
  last_tried_ = path_ == path::undecided ? path::direct : path_;
  for (const path one : all_paths) in_race(one) = can_join || !joins(one);
  begin_trial(after(last_tried_));
}

/// Of `to_try` or the first one after it that is still in the race.
void path_choice::begin_trial(path to_try) noexcept {
  while (!in_race(to_try)) to_try = after(to_try);
  begin_period(to_try, trial_ticks(round_), least_sections);
}

void path_choice::end_trial() noexcept {
  if (path_ == last_tried_)
    end_round();
  else
    begin_trial(after(path_));
}

/// Those that are far behind leave the race.
void path_choice::end_round() noexcept {
  path best = last_tried_;
  for (path one = after(best); one != last_tried_; one = after(one))
    if (in_race(one) && score_of(one).ticks_per_section() < score_of(best).ticks_per_section())
      best = one;
  typical_ = score_of(best).ticks_per_section();
  unsigned left = 0;
  for (const path one : all_paths) {
    if (one != best && score_of(one).ticks_per_section() >= clear_lead[round_] * typical_)
      in_race(one) = false;
    left += in_race(one);
  }
  if (left == 1) return begin_run(best);
  if (!in_race(last_tried_)) last_tried_ = best;
  ++round_;
  begin_trial(after(last_tried_));
}

void path_choice::begin_run(path winner) noexcept {
  last_tried_ = path::undecided;
  promised_ = typical_;
  double lost = 0;  // ticks that the slower paths' trials took longer
  double race = 0;
  for (const score& one : scores_) {
    if (one.sections == 0) continue;
    lost += one.ticks - typical_ * one.sections;
    race += one.ticks;
  }
  const double ticks = std::clamp(lost / cost_share, shortest_run, longest_run + 10 * race);
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
