// SPDX-License-Identifier: Apache-2.0
#include "src/probe/engine/transaction.hpp"

#include <signal.h>

#include "src/probe/engine/call_sites.hpp"
#include "src/probe/engine/find_xbegin.hpp"
#include "src/probe/engine/footprint.hpp"
#include "src/probe/engine/instruction_cache.hpp"
#include "src/probe/engine/other_threads.hpp"
#include "src/probe/engine/patch.hpp"
#include "src/probe/engine/random.hpp"
#include "src/probe/engine/step.hpp"
#include "src/probe/engine/system_calls.hpp"
#include "src/probe/engine/turn.hpp"
#include "src/probe/engine/vector_state.hpp"

namespace unlatch::probe::engine {
namespace {

registers& program = unlatch_context.program;

// The status of an abort (Intel 64 Software Developer's Manual, volume 1, table 16-1).
namespace status {
constexpr std::uint32_t explicit_code = 1u << 0;
constexpr std::uint32_t capacity = 1u << 3;
constexpr std::uint32_t nested = 1u << 5;
}  // namespace status

/// The running transaction.
struct {
  registers before;  ///< what an abort puts back, but for the ip and EAX
  vector_state vectors_before;
  std::uint64_t handler;
  std::uint64_t signal_mask;
  std::uint64_t executed;
  std::uint64_t inject_at;  ///< abort before this instruction, from 1; 0: do not
  bool inject_at_end;       ///< if it ends before inject_at, abort at its end
  std::uint32_t depth;
  site_memory* site;
} tx;

emulation_area* shared;
random_numbers chance;

void count(std::atomic<std::uint64_t>& counter, std::uint64_t more) noexcept {
  counter.fetch_add(more, std::memory_order_relaxed);
}

void count_begin() noexcept {
  count(shared->all.begun, 1);
  if (tx.site != nullptr && counts_of(*shared, *tx.site) != nullptr) {
    count(tx.site->shared->counts.begun, 1);
  } else {
    count(shared->lost_sites, 1);
  }
}

void count_end(ending how) noexcept {
  const auto add = [how](transaction_counts& to) {
    count(to.ended[static_cast<std::uint32_t>(how)], 1);
    count(to.instructions, tx.executed);
  };
  add(shared->all);
  if (tx.site == nullptr) return;
  if (tx.site->shared != nullptr) add(tx.site->shared->counts);
  if (tx.executed > tx.site->longest) tx.site->longest = tx.executed;
}

/// Whether, and before which instruction, this attempt is to abort.
void choose_injection() noexcept {
  const auto& asked = shared->settings;
  tx.inject_at = asked.abort_at;
  tx.inject_at_end = false;
  if (asked.abort_each && tx.site != nullptr) tx.inject_at = tx.site->next_abort++;
  if (asked.abort_chance == 0 || chance.next() >= asked.abort_chance) return;
  constexpr std::uint64_t unknown_length = 16;
  const std::uint64_t longest =
      tx.site != nullptr && tx.site->longest > 0 ? tx.site->longest : unknown_length;
  tx.inject_at = 1 + chance.next() % longest;
  tx.inject_at_end = true;
}

resume_frame* commit() noexcept {
  count_end(ending::committed);
  if (tx.site != nullptr) tx.site->next_abort = 1;
  return frame_for_program(tx.signal_mask);
}

resume_frame* abort(ending why, std::uint32_t with) noexcept {
  undo_writes();
  if (tx.depth > 1 && why != ending::injected) with |= status::nested;
  program = tx.before;
  program.general[rax] = with;
  program.ip = tx.handler;
  tx.vectors_before.restore();
  count_end(why);
  return frame_for_program(tx.signal_mask);
}

resume_frame* abort_for_unfriendly(const instruction& next) noexcept {
  const bool known = next.how == way::unfriendly;
  if (tx.site != nullptr && tx.site->shared != nullptr) {
    note_blocker(*tx.site->shared, next.mnemonic);
  }
  return abort(known ? ending::unfriendly : ending::not_stepped, 0);
}

void begin() noexcept {
  tx.before = program;
  tx.vectors_before.save();
  tx.handler = abort_handler_of(program.ip);
  tx.executed = 0;
  tx.depth = 1;
  tx.site = site_at(program.ip);
  begin_footprint();
  choose_injection();
  count_begin();
  if (tx.site != nullptr) replace_if_hot(*tx.site, shared->settings);
}

void set_test_flags(bool inside) noexcept {
  program.flags &= ~flag::arithmetic;
  if (!inside) program.flags |= flag::zero;
}

/// Runs until the transaction ends.
resume_frame* run() noexcept {
  for (;;) {
    const instruction* const next = instruction_at(program.ip);
    if (next == nullptr) return abort(ending::fault, 0);
    const way how = replaces_xbegin(*next) ? way::begin : next->how;
    const bool ends = how == way::end && tx.depth == 1;
    if (tx.executed + 1 == tx.inject_at || (ends && tx.inject_at_end)) {
      return abort(ending::injected, shared->settings.injected_status);
    }
    ++tx.executed;
    switch (how) {
      case way::begin:
        if (tx.depth >= shared->settings.nesting_limit) {
          return abort(ending::nesting, status::nested);
        }
        ++tx.depth;
        program.ip += xbegin_bytes;
        break;
      case way::end:
        program.ip += next->length;
        if (--tx.depth == 0) return commit();
        break;
      case way::abort:
        return abort(ending::explicit_abort,
                     status::explicit_code | std::uint32_t{next->abort_code} << 24);
      case way::test:
        set_test_flags(true);
        program.ip += next->length;
        break;
      case way::unfriendly:
      case way::not_stepped:
        return abort_for_unfriendly(*next);
      default:
        if (step(*next) == step_result::does_not_fit) {
          return abort(ending::capacity, status::capacity);
        }
    }
  }
}

resume_frame* run_transaction() noexcept {
  const bool stopped = stop_other_threads(thread_id());
  begin();
  if (!stopped) return abort(ending::not_stopped, 0);
  program.ip += xbegin_bytes;
  return run();
}

}  // namespace

void prepare_transactions(emulation_area& area) noexcept {
  shared = &area;
  chance.seed(area.settings.seed);
  prepare_footprint(area.settings);
  prepare_turn();
  if (xbegin_traps()) return;
  find_xbegins([](std::uint64_t address) { replace_xbegin(address, shared->settings); });
}

void own_engine(const registers& from, std::uint64_t signal_mask) noexcept {
  take_turn();
  program = from;
  tx.signal_mask = signal_mask;
  unlatch_context.run = run_transaction;
}

void abort_after_fault() noexcept {
  unlatch_context.run = [] { return abort(ending::fault, 0); };
}

extern "C" {

void unlatch_release_engine(std::uint64_t signal_mask) noexcept {
  resume_other_threads();
  give_turn();
  system_call(SYS_rt_sigprocmask, long{SIG_SETMASK}, &signal_mask, nullptr, sizeof signal_mask);
}
}

}  // namespace unlatch::probe::engine
