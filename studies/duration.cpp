// SPDX-License-Identifier: Apache-2.0
//
// How long a transaction may last before an interrupt ends it (Schrimpf 2014, section 3.2.3).
#include <algorithm>
#include <array>
#include <cstdint>

#include "studies/attempts.hpp"
#include "studies/studies.hpp"
#include "unlatch/platform.hpp"

namespace unlatch::studies {
namespace {

void do_nothing(std::uint64_t steps) {
  for (std::uint64_t i = 0; i < steps; ++i) asm volatile("nop");
}

/// Steps of do_nothing() a cycle of the time-stamp counter.
double steps_a_cycle() {
  constexpr std::uint64_t steps = 100'000;
  const auto begin = timestamp();
  do_nothing(steps);
  return static_cast<double>(steps) / static_cast<double>(timestamp() - begin);
}

void measure_durations(const cell& one, measurement& measured, attempt_counts& total) {
  constexpr std::array<std::uint64_t, 8> lengths{100,     1000,      10'000,    100'000,
                                                 300'000, 1'000'000, 3'000'000, 13'000'000};
  const auto budget = one.params.at("megacycles") * 1'000'000;
  const double pace = steps_a_cycle();
  series curve("transactions that do nothing", "cycles", "share aborted");
  for (const auto cycles : lengths) {
    const auto steps = static_cast<std::uint64_t>(static_cast<double>(cycles) * pace);
    const auto attempts = std::clamp<std::uint64_t>(budget / cycles, 20, 1'000'000);
    attempt_counts counts;
    for (std::uint64_t i = 0; i < attempts; ++i) {
      counts.count(attempt([&] { do_nothing(steps); }));
    }
    curve.add(static_cast<double>(cycles), counts.share_aborted());
    add_figure(measured, "duration_" + std::to_string(cycles), counts.share_aborted(),
               "share aborted");
    total.add(counts);
  }
  add_series(measured, curve);
}

}  // namespace

study duration_study() {
  study what;
  what.name = "duration";
  what.description = "How many transactions are interrupted, by how long they last";
  what.cases = {{"nops", "transactions that do nothing for so many cycles"}};
  what.modes = {bare_transactions()};
  what.parameters = {
      {"megacycles", "million cycles spent on each length", 1000, 200, 1, 100'000, 100}};
  what.threads = {1};
  what.measure = [](const cell& one, const std::stop_token&) {
    return measure_attempts([&](measurement& measured, attempt_counts& total) {
      measure_durations(one, measured, total);
    });
  };
  return what;
}

}  // namespace unlatch::studies
