// SPDX-License-Identifier: Apache-2.0
//
// How deep transactions nest (Schrimpf 2014, section 3.2.4): nested ones are part of the outermost.
#include <cstdint>

#include "studies/attempts.hpp"
#include "studies/studies.hpp"

namespace unlatch::studies {
namespace {

constexpr unsigned deepest = 16;

/// Begins `depth` transactions, one in the other, and commits them. What aborts any of them goes on
/// after the begin of the outermost.
htm::status nest(unsigned depth) {
  const htm::status status = htm::hardware::begin();
  if (!status.started()) return status;
  if (depth > 1) (void)nest(depth - 1);
  htm::hardware::commit();
  return status;
}

void measure_nesting(const cell& one, measurement& measured, attempt_counts& total) {
  series curve("nested transactions", "depth", "share aborted");
  unsigned fits = 0;
  for (unsigned depth = 1; depth <= deepest; ++depth) {
    attempt_counts counts;
    for (std::uint64_t i = 0; i < one.params.at("attempts"); ++i) counts.count(nest(depth));
    curve.add(depth, counts.share_aborted());
    if (counts.counts().committed > 0) fits = depth;
    total.add(counts);
  }
  add_series(measured, curve);
  add_figure(measured, "nesting", fits, "transactions");
}

}  // namespace

study nesting_study() {
  study what;
  what.name = "nesting";
  what.description = "How deep transactions may nest";
  what.cases = {{"transactions", "transactions in transactions, from 1 to 16 deep"}};
  what.modes = {bare_transactions()};
  what.parameters = {{"attempts", "transactions of each depth", 10'000, 1000, 1, 10'000'000, 1000}};
  what.threads = {1};
  what.measure = [](const cell& one, const std::stop_token&) {
    return measure_attempts([&](measurement& measured, attempt_counts& total) {
      measure_nesting(one, measured, total);
    });
  };
  return what;
}

}  // namespace unlatch::studies
