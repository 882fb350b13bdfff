// SPDX-License-Identifier: Apache-2.0
#include "explore.hpp"

#include "abort.hpp"
#include "dispatch.hpp"

namespace unlatch::lab::explore {

namespace {
scheduling_point last;
bool pausing[most_cpus];
}  // namespace

void begin_run() noexcept {
  last = {};
  for (bool& each : pausing) each = false;
}

void consider(scheduling_point::kind what, std::uintptr_t address, std::uint32_t bytes,
              std::uintptr_t code) noexcept {
  using kind = scheduling_point::kind;
  cpu& me = *the.running;
  last = {what, me.tx.depth != 0, me.current->number, address, bytes, code};
  if (what == kind::pause) {
    pausing[me.number] = true;
  } else if (what != kind::read) {
    for (bool& each : pausing) each = false;  // what it waits for may have happened
  }
  dispatch::switch_from(*me.current);
  const cpu& here = *the.running;
  pausing[here.number] = false;
  const bool is_access =
      what == kind::read || what == kind::write || what == kind::atomic || what == kind::commit;
  if (here.tx.depth == 0 || !is_access || the.strategy->inject == nullptr) return;
  const scheduling_point access{what, true, here.current->number, address, bytes, code};
  const std::uint32_t status = the.strategy->inject(the.strategy->state, access);
  if (status != strategy::no_abort) abort_self(status, abort_reason::injected, code);
}

cpu* choose() noexcept {
  runnable choices[most_cpus];
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < the.rules.cpus(); ++i) {
    const cpu& each = the.cpus[i];
    if (each.current == nullptr) continue;
    choices[count++] = {i, each.current->number, each.tx.depth != 0, pausing[i]};
  }
  const std::uint32_t chosen =
      count == 0 ? 0 : the.strategy->choose(the.strategy->state, last, choices, count);
  if (chosen >= count) fail("a strategy chose a thread that is not there");
  return &the.cpus[choices[chosen].cpu];
}

}  // namespace unlatch::lab::explore
