// SPDX-License-Identifier: Apache-2.0
//
// Records what threads ask of a structure and what they get, with times, for
// tests/tools/linearizability.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace unlatch::testing {

/// Thread safety: a log belongs to one thread; everything else to whoever has joined them.
class history {
 public:
  struct operation {
    std::string_view op;
    std::int64_t key;
    std::int64_t value;
    std::optional<std::int64_t> result;
    std::uint64_t call;
    std::uint64_t returned;
  };

  /// One thread's part of a round.
  class log {
   public:
    /// Does `act()` and records it as `op`. What it returns is a number, a truth value, or an
    /// optional number; and is returned.
    template <class Act>
    std::optional<std::int64_t> record(std::string_view op, std::int64_t key, std::int64_t value,
                                       Act&& act) {
      const std::uint64_t call = history_.now();
      const std::optional<std::int64_t> result(act());
      operations_.push_back({op, key, value, result, call, history_.now()});
      return result;
    }

   private:
    friend history;
    explicit log(history& h) : history_(h) {}
    history& history_;
    std::vector<operation> operations_;
  };

  /// Runs `work(log, thread)` in `threads` threads that start together; adds a round.
  void run(unsigned threads, const std::function<void(log&, unsigned)>& work);

  /// Adds an operation of `thread` to the last round, or to the first if there is none.
  void add(unsigned thread, const operation& o);

  std::size_t size() const;
  /// One JSON object a line, as history.go of the checker wants it.
  std::string to_json_lines() const;

 private:
  struct round {
    std::vector<std::vector<operation>> by_thread;
  };

  /// A time that no other call in any thread gets. A locked instruction, so that an operation does
  /// not leak out of the time between its call and its return.
  std::uint64_t now() noexcept { return clock_.fetch_add(1, std::memory_order_seq_cst); }

  std::atomic<std::uint64_t> clock_{0};
  std::vector<round> rounds_;
};

/// What the checker said.
struct verdict {
  int exit_code;  ///< 0 linearizable, 1 not, 2 malformed, 3 undecided
  std::string output;
};

/// Has a history checked against `model`: "map", "queue" or "counter".
verdict check(const std::string& model, const std::string& json_lines);

}  // namespace unlatch::testing
