// SPDX-License-Identifier: Apache-2.0
#include "src/lab/explore/explore.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <deque>
#include <new>
#include <ostream>
#include <random>
#include <stdexcept>
#include <system_error>

#include "src/lab/explore/attempt.hpp"
#include "src/lab/explore/schedule.hpp"
#include "src/lab/explore/shrink.hpp"
#include "src/lab/model_file.hpp"

namespace unlatch::lab {

namespace {

using namespace exploring;

constexpr std::uint32_t shrinking_tries = 400;

const model& eight_cpus() { return find_builtin_model("i7-4770")->constants; }

/// The board in memory that children share.
class shared_board {
 public:
  shared_board() {
    void* const memory = ::mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      throw std::system_error(errno, std::generic_category(), "lab::explore: mmap");
    board_ = ::new (memory) board;  // zero already
    set_current_board(board_);
  }
  ~shared_board() {
    set_current_board(nullptr);
    ::munmap(board_, sizeof(board));
  }
  shared_board(const shared_board&) = delete;
  shared_board& operator=(const shared_board&) = delete;

  board& operator*() const { return *board_; }
  board* operator->() const { return board_; }

 private:
  board* board_;
};

/// One exploration under way.
class explorer {
 public:
  explorer(const exploration& how, const std::function<void()>& body)
      : how_(how),
        body_(body),
        machine_(how.machine != nullptr ? *how.machine : eight_cpus()),
        random_(how.seed) {
    shared_->most_steps = how.most_steps;
    shared_->abort_per_million = static_cast<std::uint32_t>(how.abort_share * 1e6);
    shared_->status_count =
        static_cast<std::uint32_t>(std::min<std::size_t>(how.statuses.size(), most_statuses));
    std::copy_n(how.statuses.begin(), shared_->status_count, shared_->statuses);
    if (shared_->status_count == 0) shared_->abort_per_million = 0;
  }

  verdict run() {
    if (how_.replay.empty()) {
      search_schedules();
    } else {
      follow(parse_schedule(how_.replay));
    }
    result_.passed = result_.failure.empty();
    return result_;
  }

 private:
  void search_schedules() {
    switch (how_.how) {
      case search::random:
        search_randomly();
        break;
      case search::priorities:
        search_by_priorities();
        break;
      case search::bounded:
        search_within_bound();
        break;
    }
  }

  /// Runs what the board says. False: it went wrong, and result_ says how.
  bool try_it() {
    const attempt one = run_schedule(*shared_, machine_, body_);
    ++result_.schedules;
    result_.steps = std::max(result_.steps, shared_->step_count);
    result_.threads = std::max(result_.threads, shared_->thread_count);
    if (one.passed()) return true;
    explain(one);
    return false;
  }

  bool fails(const schedule& plan) {
    set_plan(plan);
    return !run_schedule(*shared_, machine_, body_).passed();
  }

  bool follow(const schedule& plan) {
    set_plan(plan);
    return try_it();
  }

  void set_plan(const schedule& plan) {
    shared_->how = guide::plan;
    shared_->plan_count =
        static_cast<std::uint32_t>(std::min<std::size_t>(plan.size(), most_deviations));
    std::copy_n(plan.begin(), shared_->plan_count, shared_->plan);
  }

  schedule taken() const { return {shared_->taken, shared_->taken + shared_->taken_count}; }

  void explain(const attempt& failed) {
    schedule shortest = taken();
    attempt how = failed;
    if (fails(shortest)) {
      shortest =
          shrink(shortest, shrinking_tries, [this](const schedule& plan) { return fails(plan); });
      set_plan(shortest);
      how = run_schedule(*shared_, machine_, body_);
    } else {
      how.message +=
          " (and went right when it was run again: the body does not depend on the "
          "schedule alone)";
    }
    result_.failure = how.message;
    result_.schedule = to_text(shortest);
    result_.story = tell(*shared_);
  }

  void search_randomly() {
    if (!follow({})) return;
    for (std::uint32_t i = 1; i < how_.schedules; ++i) {
      shared_->how = guide::random;
      shared_->random_state = random_();
      shared_->switch_one_in = 2u << i % 5;  // some faults need few switches, others many
      if (!try_it()) return;
    }
  }

  void search_by_priorities() {
    if (!follow({})) return;
    for (std::uint32_t i = 1; i < how_.schedules; ++i) {
      shared_->how = guide::priorities;
      shared_->random_state = random_();
      std::fill(std::begin(shared_->priority), std::end(shared_->priority), 0);
      shared_->change_count = std::min(how_.depth > 0 ? how_.depth - 1 : 0, most_threads);
      for (std::uint32_t c = 0; c < shared_->change_count; ++c)
        shared_->changes[c] = static_cast<std::uint32_t>(random_() % std::max(result_.steps, 1u));
      if (!try_it()) return;
    }
    const double hit = 1.0 / (result_.threads * std::pow(result_.steps, how_.depth - 1.0));
    result_.certainty = 1 - std::pow(1 - hit, how_.schedules);
  }

  // Breadth first: a plan's children add one deviation after its last one. Which steps matter is
  // learned on the way, so it begins again until nothing is learned any more.
  void search_within_bound() {
    std::uint32_t known = 0;
    do {
      known = shared_->contended_words;
      std::deque<schedule> waiting = {{}};
      while (!waiting.empty()) {
        if (result_.schedules >= how_.schedules) return;
        const schedule plan = std::move(waiting.front());
        waiting.pop_front();
        if (!follow(plan)) return;
        if (plan.size() < how_.deviations) add_children(plan, waiting);
      }
    } while (shared_->contended_words != known);
    result_.complete = true;
  }

  void add_children(const schedule& plan, std::deque<schedule>& waiting) const {
    const std::uint32_t first = plan.empty() ? 0 : plan.back().step + 1;
    const auto add = [&](const deviation& one) {
      waiting.push_back(plan);
      waiting.back().push_back(one);
    };
    for (std::uint32_t s = first; s < shared_->step_count; ++s) {
      const step& at = shared_->steps[s];
      if (at.may_abort && how_.abort_share > 0)
        for (std::uint32_t i = 0; i < shared_->status_count; ++i)
          add({s, at.thread, shared_->statuses[i]});
      if (!at.matters) continue;
      for (std::uint32_t t = 0; t < most_threads; ++t)
        if (at.others >> t & 1) add({s, t, strategy::no_abort});
    }
  }

  const exploration& how_;
  const std::function<void()>& body_;
  const model machine_;
  std::mt19937_64 random_;
  shared_board shared_;
  verdict result_;
};

}  // namespace

verdict explore(const exploration& how, const std::function<void()>& body) {
  return explorer(how, body).run();
}

void require(bool condition, const char* what) {
  if (condition) return;
  if (board* const current = current_board()) finish(*current, ending::failed, what);
  throw std::logic_error(what);
}

std::ostream& operator<<(std::ostream& out, const verdict& found) {
  if (found.passed) {
    out << found.schedules << " schedules passed, of up to " << found.steps << " steps";
    if (found.complete) out << "; there are no others within the bound";
    if (found.certainty > 0) out << "; certainty " << found.certainty;
    return out << '\n';
  }
  return out << found.failure << "\nfound with schedule " << found.schedules << ", shrunk to \""
             << found.schedule << "\":\n"
             << found.story;
}

}  // namespace unlatch::lab
