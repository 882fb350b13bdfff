// SPDX-License-Identifier: Apache-2.0
#include "src/lab/explore/shrink.hpp"

#include <algorithm>

namespace unlatch::lab::exploring {

schedule shrink(schedule failing, std::uint32_t tries,
                const std::function<bool(const schedule&)>& still_fails) {
  std::size_t piece = std::max<std::size_t>(failing.size() / 2, 1);
  while (!failing.empty() && tries > 0) {
    bool shorter = false;
    // From the end: what comes later depends on what comes earlier, and not the other way round.
    for (std::size_t end = failing.size(); end > 0 && tries > 0;) {
      const std::size_t begin = end > piece ? end - piece : 0;
      schedule rest = failing;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(begin),
                 rest.begin() + static_cast<std::ptrdiff_t>(end));
      --tries;
      if (still_fails(rest)) {
        failing = std::move(rest);
        shorter = true;
      }
      end = begin;
    }
    if (!shorter && piece == 1) break;
    if (!shorter) piece = std::max<std::size_t>(piece / 2, 1);
    piece = std::min(piece, std::max<std::size_t>(failing.size(), 1));
  }
  return failing;
}

}  // namespace unlatch::lab::exploring
