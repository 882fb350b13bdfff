// SPDX-License-Identifier: Apache-2.0
#include "src/probe/profile/text.hpp"

#include <fmt/format.h>

#include <array>

namespace unlatch::probe {
namespace {

std::string text_of(const conflict_side& side) {
  const std::string bytes = side.first_byte == side.last_byte
                                ? fmt::format("byte {}", side.first_byte)
                                : fmt::format("bytes {}-{}", side.first_byte, side.last_byte);
  return fmt::format("{} {} {} of the line{}", side.where, side.writes ? "writes" : "reads", bytes,
                     side.object.empty() ? "" : " (" + side.object + ")");
}

}  // namespace

std::string duration_text(double us) {
  struct unit {
    double us;
    const char* name;
  };
  constexpr std::array units{unit{1e6, "s"}, unit{1e3, "ms"}, unit{1, "us"}, unit{1e-3, "ns"}};
  if (us == 0) return "0";
  const auto* fitting = &units.back();
  for (const auto& each : units) {
    if (us / each.us < 0.9995) continue;
    fitting = &each;
    break;
  }
  const double value = us / fitting->us;
  return fmt::format("{:.{}f} {}", value, value < 9.95 && fitting->us > 1e-3 ? 1 : 0,
                     fitting->name);
}

std::string share_text(double share) {
  if (share == 0) return "0 %";
  return share < 0.0005 ? "<0.1 %" : fmt::format("{:.1f} %", 100 * share);
}

std::string conflict_text(const conflict& of) { return text_of(of.one) + ", " + text_of(of.other); }

}  // namespace unlatch::probe
