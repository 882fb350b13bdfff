// SPDX-License-Identifier: Apache-2.0
#include "interrupts.hpp"

#include "abort.hpp"
#include "dispatch.hpp"
#include "waiting.hpp"

namespace unlatch::lab::interrupts {

namespace {

cycles microseconds(std::uint64_t count) noexcept { return the.rules.cycles_of_ns(count * 1000); }

cycles draw_other() noexcept {
  const std::uint32_t mean = the.rules.system.other_interrupt_us;
  return mean == 0 ? never : the.chance.exponential(microseconds(mean));
}

void find_next(cpu& which) noexcept {
  which.next_interrupt = which.next_timer < which.next_other ? which.next_timer : which.next_other;
  // The end of the run comes like an interrupt, so even threads that only spin get there.
  if (the.time_limit < which.next_interrupt) which.next_interrupt = the.time_limit;
}

}  // namespace

void begin_run(cpu& which) noexcept {
  const cycles period = microseconds(the.rules.system.timer_period_us);
  which.next_timer = period == 0 ? never : 1 + the.chance.below(period);
  which.next_other = draw_other();
  find_next(which);
}

void take(cpu& me, std::uintptr_t code) noexcept {
  cycles& clock = clock_of(me);
  if (clock >= the.time_limit) {
    the.out_of_time = true;
    dispatch::finish();
  }
  bool interrupted = false;
  while (clock >= me.next_interrupt) {
    interrupted = true;
    ++me.meter.interrupts;
    if (me.next_interrupt == me.next_timer) {
      me.next_timer += microseconds(the.rules.system.timer_period_us);
    } else {
      me.next_other = clock + draw_other();
    }
    find_next(me);
    // A transaction is gone before the kernel's handler runs.
    if (me.tx.depth == 0) clock += the.rules.system.interrupt;
  }
  const bool preempted = me.queued != 0 && clock >= me.slice_end;
  if (me.tx.depth != 0 && (interrupted || preempted)) {
    abort_self(0, abort_reason::interrupt, code);
  }
  me.slowed_until = clock;
  if (preempted) {
    thread& was = *me.current;
    dispatch::requeue(me);
    dispatch::switch_from(was);
  }
}

void skip_idle_time(cpu& which) noexcept {
  const cycles clock = clock_of(which);
  if (which.next_timer < clock) {
    const cycles period = microseconds(the.rules.system.timer_period_us);
    which.next_timer += (clock - which.next_timer + period - 1) / period * period;
  }
  if (which.next_other < clock) which.next_other = clock + draw_other();
  find_next(which);
}

void send(cpu& to) noexcept {
  if (to.current == nullptr || &to == the.running) return;
  ++to.meter.interrupts;
  waiting::wake(to, clock_of(*the.running));
  if (to.tx.depth != 0) {
    abort_other(to, 0, abort_reason::interrupt, clock_of(*the.running));
    return;
  }
  clock_of(to) += the.rules.system.interrupt;
  dispatch::clock_changed(to);
}

}  // namespace unlatch::lab::interrupts
