// SPDX-License-Identifier: Apache-2.0
#include "src/probe/profile/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "src/probe/profile/text.hpp"

namespace unlatch::probe {
namespace {

// From which share on something is worth a word, and from which it decides.
constexpr double noticeable = 0.1;
constexpr double decisive = 0.5;
/// Less waiting than this share of the run, and fewer contended acquisitions, is not worth work.
constexpr double hardly = 0.01;
constexpr std::uint64_t enough_samples = 10;

class adviser {
 public:
  adviser(const lock_facts& facts, const lab::model& machine)
      : facts_(facts), sections_(facts.sections), machine_(machine) {}

  std::vector<advice> all() {
    const auto& unit = machine_.transactions;
    if (!unit.rtm && !unit.hle) {
      add(advice_kind::leave_alone, "this machine has no transactions");
    } else if (is_hardly_contended()) {
      add(advice_kind::leave_alone, waiting_text());
    } else if (sections_.samples < enough_samples) {
      add(advice_kind::unknown,
          fmt::format("{}; {} of its sections were looked into, {} are needed: let it run longer, "
                      "or give more --budget",
                      waiting_text(), sections_.samples, enough_samples));
    } else {
      advise_on_sections();
    }
    return std::move(given_);
  }

 private:
  void add(advice_kind kind, std::string reason) { given_.push_back({kind, std::move(reason), 0}); }

  [[nodiscard]] std::uint64_t contended() const {
    return facts_.use.contended - std::min(facts_.use.contended, facts_.use.contended_by_sample);
  }
  [[nodiscard]] double contention() const {
    return facts_.use.acquired == 0
               ? 0
               : static_cast<double>(contended()) / static_cast<double>(facts_.use.acquired);
  }
  /// How many threads waited, on average over the run.
  [[nodiscard]] double waiting_threads() const {
    return facts_.run_ticks == 0
               ? 0
               : static_cast<double>(facts_.use.contended_ticks) / facts_.run_ticks;
  }
  [[nodiscard]] bool is_hardly_contended() const {
    return waiting_threads() < hardly && contention() < hardly;
  }
  [[nodiscard]] std::string waiting_text() const {
    return fmt::format(
        "{} of its acquisitions had to wait, {} in all", share_text(contention()),
        duration_text(static_cast<double>(facts_.use.contended_ticks) / facts_.ticks_per_us));
  }
  [[nodiscard]] double mean_held_us() const {
    return facts_.use.timed == 0 ? 0
                                 : static_cast<double>(facts_.use.held_ticks) /
                                       static_cast<double>(facts_.use.timed) / facts_.ticks_per_us;
  }
  [[nodiscard]] double interrupted() const {
    return std::min(1.0, mean_held_us() / machine_.system.timer_period_us);
  }
  [[nodiscard]] double pairs_that_meet_by(conflict_kind kind) const {
    return sections_.pair_share(sections_.met_by(kind));
  }

  /// The share of sections that would commit.
  [[nodiscard]] double committing() const {
    const double conflicts = sections_.pair_share(sections_.any_conflict) * contention();
    return (1 - sections_.share(sections_.unfriendly)) *
           (1 - sections_.share(sections_.overflowing)) * (1 - interrupted()) * (1 - conflicts);
  }
  [[nodiscard]] double threads_gained() const {
    if (facts_.run_ticks == 0) return 0;
    const double commit = committing();
    const double abort_us =
        static_cast<double>(machine_.transactions.begin + machine_.transactions.abort) /
        machine_.mhz;
    const double wasted_us =
        static_cast<double>(facts_.use.acquired) * (1 - commit) * (mean_held_us() / 2 + abort_us);
    return waiting_threads() * commit - wasted_us * facts_.ticks_per_us / facts_.run_ticks;
  }

  void advise_on_sections() {
    const double truly = pairs_that_meet_by(conflict_kind::true_sharing);
    if (truly >= decisive) {
      add(advice_kind::leave_alone,
          fmt::format("{} of pairs of sections touch the same data: {}", share_text(truly),
                      place_of(conflict_kind::true_sharing)));
      return;
    }
    advise_to_move_out();
    advise_to_split();
    advise_to_pad();
    if (!given_.empty()) return;
    const double gained = threads_gained();
    if (gained < hardly) {
      add(advice_kind::leave_alone,
          fmt::format("{}; {} of its sections would commit, which gains nothing", waiting_text(),
                      share_text(committing())));
      return;
    }
    add(advice_kind::elide,
        fmt::format("{} of its sections would commit; {:.2f} threads fewer would wait on average, "
                    "of {:.2f}",
                    share_text(committing()), gained, waiting_threads()));
    given_.back().threads_gained = gained;
  }

  void advise_to_move_out() {
    if (sections_.share(sections_.unfriendly) < noticeable) return;
    for (const auto& event : sections_.events) {
      const double share = sections_.share(event.sections);
      if (share < noticeable) continue;
      add(advice_kind::move_out,
          fmt::format("{} is {} of sections, first at {}: it aborts every transaction",
                      event.system_call ? "the system call " + event.what : event.what,
                      "in " + share_text(share), event.where));
    }
  }

  void advise_to_split() {
    const double overflowing = sections_.share(sections_.overflowing);
    if (overflowing >= noticeable) {
      add(advice_kind::split,
          fmt::format("{} of sections write more lines than the first-level cache can hold: {:.0f} "
                      "lines at the 95th percentile, {:.0f} in the fullest set of {} ways",
                      share_text(overflowing), sections_.lines_written.p95,
                      sections_.fullest_set.p95, machine_.l1d.ways));
    }
    if (interrupted() >= noticeable) {
      add(advice_kind::split,
          fmt::format("sections last {} on average; timer interrupts, every {}, abort {} of them",
                      duration_text(mean_held_us()), duration_text(machine_.system.timer_period_us),
                      share_text(interrupted())));
    }
  }

  void advise_to_pad() {
    for (const auto kind : {conflict_kind::false_sharing, conflict_kind::lock_line}) {
      if (pairs_that_meet_by(kind) < noticeable) continue;
      add(advice_kind::pad,
          fmt::format("{} of pairs of sections meet in {}: {}",
                      share_text(pairs_that_meet_by(kind)),
                      kind == conflict_kind::lock_line ? "data on the line of the lock"
                                                       : "lines but not in bytes",
                      place_of(kind)));
    }
    const double allocator = pairs_that_meet_by(conflict_kind::allocator);
    if (allocator >= noticeable) {
      add(advice_kind::move_out,
          fmt::format("{} of pairs of sections meet in the allocator: allocate before the section "
                      "and free after it",
                      share_text(allocator)));
    }
  }

  /// What pairs most often met in.
  [[nodiscard]] std::string place_of(conflict_kind kind) const {
    const auto found = std::find_if(sections_.conflicts.begin(), sections_.conflicts.end(),
                                    [kind](const auto& each) { return each.kind == kind; });
    return found == sections_.conflicts.end() ? "in many places" : conflict_text(*found);
  }

  const lock_facts& facts_;
  const section_summary& sections_;
  const lab::model& machine_;
  std::vector<advice> given_;
};

}  // namespace

std::vector<advice> advise(const lock_facts& facts, const lab::model& machine) {
  return adviser(facts, machine).all();
}

std::string_view name_of(advice_kind kind) {
  constexpr std::array<std::string_view, 6> names{"elide",    "pad",         "split",
                                                  "move out", "leave alone", "not known"};
  return names.at(static_cast<std::size_t>(kind));
}

}  // namespace unlatch::probe
