// SPDX-License-Identifier: Apache-2.0
//
// Many producers, one consumer (Nießing 2020, chapter 3): what a task runtime does with a queue a
// core. The order of each producer's values is checked as they come out.
#include "unlatch/structures/mpsc_queue.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "studies/formatted.hpp"
#include "studies/studies.hpp"
#include "studies/ttas_mutex.hpp"
#include "studies/window.hpp"
#include "unlatch/platform.hpp"

namespace unlatch::studies {
namespace {

struct item {
  unsigned producer;
  std::uint64_t number;
};

/// A std::deque under a lock.
template <class Mutex>
class locked_queue {
 public:
  void push(item value) {
    const std::scoped_lock lock(mutex_);
    items_.push_back(value);
  }
  std::optional<item> try_pop() {
    const std::scoped_lock lock(mutex_);
    if (items_.empty()) return std::nullopt;
    const item first = items_.front();
    items_.pop_front();
    return first;
  }

 private:
  Mutex mutex_;
  std::deque<item> items_;
};

/// Producers and the consumer of one cell.
template <class Queue>
class traffic {
 public:
  explicit traffic(const cell& one)
      : one_(one), most_waiting_(one.params.at("waiting")), taken_(one.threads) {}

  measurement run(const std::stop_token& stop) {
    return during_.run(one_.threads, stop, [&](unsigned thread) -> std::uint64_t {
      if (one_.threads == 1) return push_and_pop();
      if (thread == 0) return consume();
      produce(thread);
      return 0;
    });
  }

 private:
  struct alignas(cache_line) count {
    std::atomic<std::uint64_t> value{0};
  };

  std::uint64_t push_and_pop() {
    std::uint64_t number = 0;
    return count_operations(during_, [&] {
      queue_.push({0, number++});
      take(*queue_.try_pop());
    });
  }

  /// Pushes while the consumer is not too far behind.
  void produce(unsigned producer) {
    for (std::uint64_t number = 0; during_.warming() || during_.counting();) {
      if (number - taken_[producer].value.load(std::memory_order_relaxed) < most_waiting_) {
        queue_.push({producer, number++});
      } else {
        std::this_thread::yield();
      }
    }
  }

  std::uint64_t consume() {
    std::uint64_t counted = 0;
    while (during_.warming()) pop_one();
    while (during_.counting()) counted += pop_one() ? 1 : 0;
    return counted;
  }

  bool pop_one() {
    const auto value = queue_.try_pop();
    if (value) {
      take(*value);
    } else {
      std::this_thread::yield();
    }
    return value.has_value();
  }

  void take(const item& value) {
    auto& taken = taken_[value.producer].value;
    const auto expected = taken.load(std::memory_order_relaxed);
    if (value.number != expected) {
      throw study_error(
          formatted("mode {}: value {} of a producer came when {} was next; the queue "
                    "lost its order, please report this",
                    one_.mode, value.number, expected));
    }
    taken.store(expected + 1, std::memory_order_relaxed);
  }

  const cell& one_;
  std::uint64_t most_waiting_;
  window during_{std::chrono::milliseconds(one_.params.at("window_ms"))};
  std::vector<count> taken_;
  Queue queue_;
};

measurement measure_queue(const cell& one, const std::stop_token& stop) {
  if (one.mode == "std_mutex") return traffic<locked_queue<std::mutex>>(one).run(stop);
  if (one.mode == "ttas") return traffic<locked_queue<ttas_mutex>>(one).run(stop);
  return traffic<mpsc_queue<item>>(one).run(stop);
}

}  // namespace

study mpsc_queue_study() {
  study what;
  what.name = "mpsc_queue";
  what.description = "Many producers push, one consumer pops; what it pops is counted";
  what.cases = {{"traffic", "one thread pops and the others push; one thread alone does both"}};
  what.modes = {{"std_mutex", "std::deque under std::mutex", {}},
                {"ttas", "std::deque under a test-and-test-and-set spin lock", {}},
                {"unlatch", "unlatch::mpsc_queue", {}}};
  what.parameters = {
      {"waiting", "values of one producer that may wait in the queue", 1024, 1024, 1, 1'000'000},
      {"window_ms", "length of a cell in milliseconds", 200, 100, 1, 600'000, 2}};
  what.threads = {1, 2, 4};
  what.measure = measure_queue;
  return what;
}

}  // namespace unlatch::studies
