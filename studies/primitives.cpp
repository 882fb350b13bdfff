// SPDX-License-Identifier: Apache-2.0
//
// What single instructions cost (Johnson 2014, figure 3-1): many in a row, less the same loop
// without them. An aborted transaction is timed from before it begins to its abort handler.
#include <atomic>
#include <cstdint>

#include "studies/attempts.hpp"
#include "studies/studies.hpp"
#include "unlatch/platform.hpp"

namespace unlatch::studies {
namespace {

/// Cycles that `operation` takes, without the loop around it.
template <class Operation>
double cycles_of(std::uint64_t repeats, Operation operation) {
  const auto time = [repeats](auto&& step) {
    const auto begin = timestamp();
    for (std::uint64_t i = 0; i < repeats; ++i) {
      step();
      asm volatile("");
    }
    return static_cast<double>(timestamp() - begin);
  };
  const auto with = [&] {
    time(operation);
    return time(operation);
  }();
  const double without = time([] {});
  return (with - without) / static_cast<double>(repeats);
}

double cycles_of_case(const cell& one) {
  const auto repeats = one.params.at("repeats");
  alignas(cache_line) static std::atomic<std::uint64_t> word{0};
  if (one.case_name == "atomic_increment") {
    return cycles_of(repeats, [] { word.fetch_add(1, std::memory_order_relaxed); });
  }
  if (one.case_name == "compare_exchange") {
    return cycles_of(repeats, [] {
      std::uint64_t expected = 0;
      word.compare_exchange_strong(expected, 0, std::memory_order_relaxed);
    });
  }
  if (one.case_name == "begin_abort") {
    return cycles_of(repeats, [] {
      if (htm::hardware::begin().started()) (void)htm::hardware::abort<1>();
    });
  }
  return cycles_of(repeats, [] {
    if (htm::hardware::begin().started()) htm::hardware::commit();
  });
}

}  // namespace

study primitives_study() {
  study what;
  what.name = "primitives";
  what.description = "Cycles of an atomic operation, of a transaction, and of an abort";
  what.cases = {{"begin_commit", "an empty transaction"},
                {"begin_abort", "a transaction that aborts at once"},
                {"compare_exchange", "a compare-exchange on a line that the core has"},
                {"atomic_increment", "an atomic increment of a line that the core has"}};
  what.modes = {bare_transactions()};
  what.parameters = {
      {"repeats", "how often each is done", 2'500'000, 100'000, 1, 1'000'000'000, 10'000}};
  what.threads = {1};
  what.measure = [](const cell& one, const std::stop_token&) {
    auto measured = measure_attempts([&](measurement& out, attempt_counts&) {
      add_figure(out, one.case_name, cycles_of_case(one), "cycles");
    });
    measured.ops = 2 * one.params.at("repeats");
    return measured;
  };
  return what;
}

}  // namespace unlatch::studies
