// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/interleave.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "unlatch/parking.hpp"

namespace unlatch::bench {
namespace {

/// The order of a round: see the head of interleave.hpp.
std::vector<std::size_t> order_of(std::size_t round, std::size_t peers) {
  std::vector<std::size_t> order(peers);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::rotate(order, order.begin() + static_cast<std::ptrdiff_t>(round % peers));
  if (round % 2 == 1) std::ranges::reverse(order);
  return order;
}

/// Linear interpolation between the two nearest of the sorted values.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

peer control_of(const peer& one) { return {one.name + std::string(control_suffix), one.what}; }

std::size_t comparison::index_of(std::string_view name) const {
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    throw std::invalid_argument("no peer is called " + std::string(name) + " in this comparison");
  return static_cast<std::size_t>(found - names.begin());
}

comparison interleave(workers& threads_to_use, unsigned threads, std::span<const peer> peers,
                      const timing& how) {
  comparison all;
  all.windows.resize(peers.size());
  for (const auto& one : peers) all.names.push_back(one.name);
  const bool disturbance_shows = threads <= parking::cpus();
  const auto disturbed = [&](const window& one) {
    return one.operations == 0 || (disturbance_shows && one.queued > how.disturbed_from);
  };

  for (unsigned round = 0; round < how.rounds; ++round) {
    for (const std::size_t i : order_of(round, peers.size())) {
      window best = threads_to_use.measure(threads, how.window, peers[i].what);
      for (unsigned n = 1; n < how.attempts && disturbed(best); ++n) {
        const window again = threads_to_use.measure(threads, how.window, peers[i].what);
        ++all.run_again;
        if (best.operations == 0 || (again.operations != 0 && again.queued < best.queued))
          best = again;
      }
      if (disturbed(best)) ++all.kept_disturbed;
      all.windows[i].push_back(best);
    }
  }
  return all;
}

quartiles quartiles_of(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("the quartiles of no values");
  std::ranges::sort(values);
  return {quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)};
}

quartiles rate(const comparison& all, std::string_view name) {
  std::vector<double> rates;
  for (const auto& one : all.windows[all.index_of(name)]) rates.push_back(one.rate());
  return quartiles_of(std::move(rates));
}

quartiles ratio(const comparison& all, std::string_view one, std::string_view other) {
  const auto& above = all.windows[all.index_of(one)];
  const auto& below = all.windows[all.index_of(other)];
  std::vector<double> ratios;
  for (std::size_t round = 0; round < above.size(); ++round)
    ratios.push_back(above[round].rate() / below[round].rate());
  return quartiles_of(std::move(ratios));
}

const std::string& fastest(const comparison& all, std::span<const std::string> names) {
  return *std::ranges::max_element(names, {},
                                   [&](const std::string& name) { return rate(all, name).median; });
}

}  // namespace unlatch::bench
