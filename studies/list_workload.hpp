// SPDX-License-Identifier: Apache-2.0
//
// Look-ups, inserts and removals on lists of values, after Schrimpf 2014, sections 3.3.3 and 3.3.4:
// a thread queues what it has inserted, and its share of what was there, and removes the oldest; so
// the lists roughly keep their size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "studies/formatted.hpp"
#include "studies/map_workload.hpp"
#include "studies/random.hpp"
#include "studies/window.hpp"

namespace unlatch::studies {

/// A node of the lists in a place.
template <class Place>
using node_of = typename std::remove_reference_t<decltype(std::declval<Place&>().list_of(0))>::node;

/// What one thread does. `Place` has sections_of(value) and list_of(value), whose insert() says
/// whether it took the node.
template <class Place>
class list_worker {
 public:
  /// `inserted` are values in the lists that are the thread's to remove.
  list_worker(Place& place, std::uint64_t reads, std::uint64_t range, std::uint64_t seed,
              unsigned thread, std::deque<std::uint64_t> inserted)
      : place_(place),
        reads_(reads),
        range_(range),
        random_(seed, thread + 1),
        inserted_(std::move(inserted)) {}

  void operator()() {
    const auto dice = random_.below(100);
    if (dice < reads_) {
      look_up(random_.below(range_));
    } else if (dice % 2 == 0 || inserted_.empty()) {
      insert(random_.below(range_));
    } else {
      erase(inserted_.front());
      inserted_.pop_front();
    }
  }

  /// The values this thread has inserted and not removed.
  [[nodiscard]] std::size_t left() const { return inserted_.size(); }
  /// Removals that found nothing, which cannot be.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  void look_up(std::uint64_t value) {
    auto& list = place_.list_of(value);
    seen_ += place_.sections_of(value).read(
        [&list, value](auto& tx) { return list.find(tx, value) != nullptr ? 1U : 0U; });
    asm volatile("" : : "r"(seen_));
  }
  void insert(std::uint64_t value) {
    auto added = std::make_unique<node_of<Place>>();
    added->value = value;
    auto& list = place_.list_of(value);
    if (!place_.sections_of(value).update(
            [&list, node = added.get()](auto& tx) { return list.insert(tx, node); })) {
      return;
    }
    (void)added.release();
    inserted_.push_back(value);
  }
  void erase(std::uint64_t value) {
    auto& list = place_.list_of(value);
    lost_ +=
        place_.sections_of(value).update([&list, value](auto& tx) { return list.erase(tx, value); })
            ? 0
            : 1;
  }

  Place& place_;
  std::uint64_t reads_;
  std::uint64_t range_;
  random_numbers random_;
  std::deque<std::uint64_t> inserted_;
  std::uint64_t seen_ = 0;
  std::uint64_t lost_ = 0;
};

/// Fills `place` with `params.at("values")` values, runs the workload of the case's share of reads
/// in a window, and checks that no value was lost or came twice.
template <class Place>
measurement measure_lists(Place& place, const cell& one, const std::stop_token& stop) {
  const auto base = one.params.at("values");
  const auto range = one.params.at("range");
  random_numbers random(one.seed, 0);
  plain_tx tx;
  std::vector<std::deque<std::uint64_t>> inserted(one.threads);
  for (std::uint64_t present = 0; present < base;) {
    auto added = std::make_unique<node_of<Place>>();
    added->value = random.below(range);
    if (!place.list_of(added->value).insert(tx, added.get())) continue;
    inserted[present % one.threads].push_back(added.release()->value);
    ++present;
  }
  window during(std::chrono::milliseconds(one.params.at("window_ms")));
  std::vector<std::uint64_t> left(one.threads);
  std::vector<std::uint64_t> lost(one.threads);
  auto measured = during.run(one.threads, stop, [&](unsigned thread) {
    list_worker<Place> work(place, reads_percent(one.case_name), range, one.seed, thread,
                            std::move(inserted[thread]));
    const auto counted = count_operations(during, std::ref(work));
    left[thread] = work.left();
    lost[thread] = work.lost();
    return counted;
  });
  std::uint64_t expected = 0;
  for (const auto count : left) expected += count;
  require_size(one, place.size(), expected);
  if (std::ranges::any_of(lost, [](std::uint64_t count) { return count != 0; })) {
    throw study_error(formatted(
        "mode {}, policy {}: a value that was inserted was not there; sections ran into each "
        "other, please report this",
        one.mode, one.policy));
  }
  return measured;
}

}  // namespace unlatch::studies
