// SPDX-License-Identifier: Apache-2.0
//
// What an abort costs beside the work it throws away (Schrimpf 2014, appendix D.1): the lines that
// the transaction wrote leave the cache and are fetched again.
#include <array>
#include <cstdint>

#include "studies/attempts.hpp"
#include "studies/studies.hpp"
#include "unlatch/platform.hpp"

namespace unlatch::studies {
namespace {

constexpr std::uint64_t most_lines = 256;

struct alignas(cache_line) counted_line {
  volatile std::uint64_t word;
};

/// Reads or writes `count` lines.
void go_over(counted_line* lines, std::uint64_t count, bool write) {
  for (std::uint64_t i = 0; i < count; ++i) {
    if (write) {
      lines[i].word = i;
    } else {
      (void)lines[i].word;
    }
  }
}

struct cost {
  double aborted = 0;  ///< cycles of the transaction and its abort
  double again = 0;    ///< cycles of the same accesses afterwards
  double warm = 0;     ///< cycles of them once more
};

cost cost_of(counted_line* lines, std::uint64_t count, const cell& one, attempt_counts& total) {
  const bool write = one.case_name == "write";
  const auto repeats = one.params.at("repeats");
  cost sum;
  for (std::uint64_t i = 0; i < repeats; ++i) {
    go_over(lines, count, true);
    const auto begin = timestamp();
    const htm::status status = htm::hardware::begin();
    if (status.started()) {
      go_over(lines, count, write);
      (void)htm::hardware::abort<1>();
    }
    const auto aborted = timestamp();
    go_over(lines, count, write);
    const auto again = timestamp();
    go_over(lines, count, write);
    const auto warm = timestamp();
    total.count(status);
    sum.aborted += static_cast<double>(aborted - begin);
    sum.again += static_cast<double>(again - aborted);
    sum.warm += static_cast<double>(warm - again);
  }
  const auto runs = static_cast<double>(repeats);
  return {sum.aborted / runs, sum.again / runs, sum.warm / runs};
}

void measure_abort_cost(const cell& one, measurement& measured, attempt_counts& total) {
  static std::array<counted_line, most_lines> lines;
  series aborted("the aborted transaction", "lines", "cycles");
  series again("the same accesses after it", "lines", "cycles");
  series warm("the same accesses once more", "lines", "cycles");
  for (std::uint64_t count = 1; count <= most_lines; count *= 2) {
    const auto found = cost_of(lines.data(), count, one, total);
    aborted.add(static_cast<double>(count), found.aborted);
    again.add(static_cast<double>(count), found.again);
    warm.add(static_cast<double>(count), found.warm);
  }
  add_series(measured, aborted);
  add_series(measured, again);
  add_series(measured, warm);
}

}  // namespace

study abort_cost_study() {
  study what;
  what.name = "abort_cost";
  what.description = "What an abort costs, by the lines that the transaction had touched";
  what.cases = {{"write", "the transaction writes"}, {"read", "the transaction reads"}};
  what.modes = {bare_transactions()};
  what.parameters = {{"repeats", "aborts of each size", 100'000, 10'000, 1, 100'000'000, 500}};
  what.threads = {1};
  what.measure = [](const cell& one, const std::stop_token&) {
    return measure_attempts([&](measurement& measured, attempt_counts& total) {
      measure_abort_cost(one, measured, total);
    });
  };
  return what;
}

}  // namespace unlatch::studies
