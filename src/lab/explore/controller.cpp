// SPDX-License-Identifier: Apache-2.0
//
// The strategy: answers the simulator's questions from the board. Runs inside the simulator, so it
// is compiled without the pass and uses nothing of the C++ library.
#include <sys/syscall.h>

#include <cstring>

#include "board.hpp"

namespace unlatch::lab::exploring {

namespace {

using kind = scheduling_point::kind;

std::uint64_t draw(board& b) noexcept {  // splitmix64
  std::uint64_t z = b.random_state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

std::uint32_t draw_below(board& b, std::uint32_t limit) noexcept {
  return static_cast<std::uint32_t>((draw(b) >> 32) * limit >> 32);
}

/// Notes the access, and says whether another thread's access has met it there.
bool is_contended(board& b, const scheduling_point& at) noexcept {
  const std::uintptr_t address = at.address / 8;
  std::uint32_t slot = static_cast<std::uint32_t>(address * 0x9e3779b97f4a7c15 >> 48);
  for (std::uint32_t i = 0; i < 64; ++i, slot = (slot + 1) % word_slots) {
    word& w = b.words[slot];
    if (w.address != address && w.address != 0) continue;
    w.address = address;
    w.threads |= std::uint64_t{1} << at.thread % 64;
    w.written |= at.what != kind::read;
    const bool contended = w.written && (w.threads & (w.threads - 1)) != 0;
    if (contended && !w.contended) ++b.contended_words;
    return w.contended = contended;
  }
  return true;  // no place left for it: better one question too many
}

bool matters(board& b, const scheduling_point& at) noexcept {
  switch (at.what) {
    case kind::read:
    case kind::write:
      return is_contended(b, at);
    default:
      return true;
  }
}

step& record(board& b, const scheduling_point& at) noexcept {
  if (b.step_count >= b.most_steps || b.step_count == most_recorded_steps)
    finish(b, ending::too_long, "the schedule does not end");
  step& one = b.steps[b.step_count++];
  one = {at.code, at.address, 0, at.thread, at.what, matters(b, at), false};
  if (at.thread >= b.thread_count) b.thread_count = at.thread + 1;
  return one;
}

void take(board& b, const deviation& one) noexcept {
  if (b.taken_count == most_deviations)
    finish(b, ending::too_long, "the schedule deviates too often to be kept");
  b.taken[b.taken_count++] = one;
}

const deviation* planned(const board& b, std::uint32_t at, bool abort) noexcept {
  for (std::uint32_t i = 0; i < b.plan_count; ++i)
    if (b.plan[i].step == at && (b.plan[i].status != strategy::no_abort) == abort)
      return &b.plan[i];
  return nullptr;
}

/// Whoever ran goes on while it can do something; then the next by number that can; if nobody can,
/// the next.
std::uint32_t default_choice(const scheduling_point& asking, const runnable* choices,
                             std::uint32_t count) noexcept {
  std::uint32_t next = 0;  // the first with a higher number; choices are in no particular order
  bool found = false;
  std::uint32_t lowest = 0;
  bool found_lowest = false;
  std::uint32_t fallback = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const runnable& c = choices[i];
    if (c.thread == asking.thread && !c.pausing) return i;
    const auto distance = [&](std::uint32_t j) { return choices[j].thread - asking.thread - 1; };
    if (distance(i) < distance(fallback)) fallback = i;
    if (c.pausing) continue;
    if (!found_lowest || c.thread < choices[lowest].thread) lowest = i, found_lowest = true;
    if (c.thread > asking.thread && (!found || c.thread < choices[next].thread))
      next = i, found = true;
  }
  return found ? next : found_lowest ? lowest : fallback;
}

std::uint64_t priority_of(board& b, std::uint32_t thread) noexcept {
  std::uint64_t& p = b.priority[thread % most_threads];
  if (p == 0) p = draw(b) | std::uint64_t{1} << 32;  // above those of change points
  return p;
}

std::uint32_t by_priority(board& b, const scheduling_point& asking, const runnable* choices,
                          std::uint32_t count, std::uint32_t otherwise) noexcept {
  for (std::uint32_t i = 0; i < b.change_count; ++i)
    if (b.changes[i] == b.step_count) b.priority[asking.thread % most_threads] = i + 1;
  std::uint32_t best = count;
  for (std::uint32_t i = 0; i < count; ++i)
    if (!choices[i].pausing &&
        (best == count || priority_of(b, choices[i].thread) > priority_of(b, choices[best].thread)))
      best = i;
  return best == count ? otherwise : best;
}

std::uint32_t choose(void* state, const scheduling_point& asking, const runnable* choices,
                     std::uint32_t count) noexcept {
  board& b = *static_cast<board*>(state);
  const std::uint32_t usual = default_choice(asking, choices, count);
  std::uint32_t chosen = usual;
  const std::uint32_t now = b.step_count;
  if (b.how == guide::priorities) chosen = by_priority(b, asking, choices, count, usual);
  step& one = record(b, asking);
  for (std::uint32_t i = 0; i < count; ++i)
    if (i != usual) one.others |= std::uint64_t{1} << choices[i].thread % 64;
  if (b.how == guide::plan) {
    if (const deviation* const wanted = planned(b, now, false))
      for (std::uint32_t i = 0; i < count; ++i)
        if (choices[i].thread == wanted->thread) chosen = i;
  } else if (b.how == guide::random && one.matters && draw_below(b, b.switch_one_in) == 0) {
    chosen = draw_below(b, count);
  }
  if (chosen != usual) take(b, {now, choices[chosen].thread, strategy::no_abort});
  return chosen;
}

std::uint32_t inject(void* state, const scheduling_point& access) noexcept {
  board& b = *static_cast<board*>(state);
  const std::uint32_t now = b.step_count;
  step& one = record(b, access);
  one.may_abort = true;
  std::uint32_t status = strategy::no_abort;
  if (b.how == guide::plan) {
    if (const deviation* const wanted = planned(b, now, true)) status = wanted->status;
  } else if (b.abort_per_million != 0 && draw_below(b, 1'000'000) < b.abort_per_million) {
    status = b.statuses[draw_below(b, b.status_count)];
  }
  if (status != strategy::no_abort) take(b, {now, access.thread, status});
  return status;
}

}  // namespace

strategy strategy_of(board& what) noexcept {
  strategy made;
  made.state = &what;
  made.choose = choose;
  made.inject = inject;
  return made;
}

void finish(board& what, ending end, const char* message) noexcept {
  what.end = end;
  std::strncpy(what.message, message, sizeof(what.message) - 1);
  // Not _exit(), which is simulated, too: the simulator may be in the middle of something.
  for (;;) asm volatile("syscall" : : "a"(SYS_exit_group), "D"(0) : "rcx", "r11", "memory");
}

}  // namespace unlatch::lab::exploring
