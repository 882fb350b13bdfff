// SPDX-License-Identifier: Apache-2.0
//
// The hooks that instrumented code calls (instrument/hooks.hpp says what each means).
#include <emmintrin.h>

#include <bit>

#include "abort.hpp"
#include "access.hpp"
#include "dispatch.hpp"
#include "waiting.hpp"

using namespace unlatch::lab;

constinit fast_path unlatch_lab_fast = {};

namespace unlatch::lab {

namespace {

// The words that unlatch_lab_fast points at before the first arm_host(), for constructors that run
// before everything else.
constinit std::uint64_t early_clock = 0;
constinit const std::uint64_t early_tags[tag_entries] = {};

[[gnu::constructor(101)]] void arm_early() {
  if (unlatch_lab_fast.clock == nullptr) {
    unlatch_lab_fast.clock = &early_clock;
    unlatch_lab_fast.read_tags = unlatch_lab_fast.write_tags = early_tags;
    unlatch_lab_fast.stack_base = 1;
    unlatch_lab_fast.time_limit = never;
  }
}

[[gnu::always_inline]] inline void charge_cost(std::uint32_t cost) noexcept {
  *unlatch_lab_fast.clock += cost;
}

// What the inlined fast path does for a plain read: atomic ones have only this.
[[gnu::always_inline]] inline bool read_hits(const void* address, std::uint32_t size,
                                             std::uint32_t cost) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::uint64_t line = at / line_bytes;
  const std::uint64_t until = *unlatch_lab_fast.clock + cost;
  if (unlatch_lab_fast.read_tags[line % tag_entries] != line || until > unlatch_lab_fast.limit ||
      at % line_bytes + size > line_bytes) {
    return false;
  }
  *unlatch_lab_fast.clock = until + unlatch_lab_fast.read_hit_cost;
  ++unlatch_lab_fast.accesses;
  return true;
}

template <bool write>
[[gnu::noinline]] void any_access(std::uintptr_t address, std::uint64_t bytes,
                                  std::uintptr_t code) noexcept {
  access<write>(address, bytes, access_kind::plain, code);
}

// A plain read or write of a few bytes.
template <bool write>
[[gnu::always_inline]] inline void small_hook(const void* address, std::uint32_t size,
                                              std::uint32_t cost, const void* code) noexcept {
  charge_cost(cost);
  if (the.running == nullptr) return;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto from = reinterpret_cast<std::uintptr_t>(code);
  if (!simple_access<write>(at, size & size_mask, from))
    any_access<write>(at, size & size_mask, from);
}

template <bool write>
[[gnu::always_inline]] inline void hook(const void* address, std::uint64_t bytes, access_kind kind,
                                        const void* code) noexcept {
  if (bytes == 0) return;
  access<write>(reinterpret_cast<std::uintptr_t>(address), bytes, kind,
                reinterpret_cast<std::uintptr_t>(code));
}

std::uint64_t bounded_length(const char* text, std::uint64_t limit) noexcept {
  std::uint64_t length = 0;
  while (length < limit && text[length] != 0) ++length;
  return length;
}

}  // namespace

// A hook of its own kind, so that the hook above it saves no registers when it does not come here.
[[gnu::noinline]] UNLATCH_LAB_HOOK void atomic_access(void* address, std::uint32_t size,
                                                      std::uint32_t what, std::uint32_t cost,
                                                      const void* code) {
  charge_cost(cost);
  if (the.running == nullptr) return;
  const auto operation = static_cast<atomic_operation>(what & 15);
  ++the.running->meter.atomics;
  if (operation == atomic_operation::load) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const auto from = reinterpret_cast<std::uintptr_t>(code);
    if (!simple_access<false>(at, size, from)) any_access<false>(at, size, from);
    return;
  }
  const core_costs& costs = the.rules.core;
  const bool locked =
      operation != atomic_operation::store || static_cast<order>(what >> 4) == order::sequential;
  hook<true>(address, size, locked ? access_kind::atomic : access_kind::ordered, code);
  if (!locked) return;
  // The model's figure is for the whole instruction on a line the core owns.
  const std::uint32_t whole =
      operation == atomic_operation::compare_exchange ? costs.compare_exchange : costs.exchange;
  const std::uint32_t hit = the.costs[2].l1;
  charge_cost(whole > hit ? whole - hit : 0);
}

void touch_foreign_stack(const cpu& me, std::uintptr_t address, std::size_t bytes,
                         bool write) noexcept {
  thread& owner = the.threads[(address - stacks_address) / stack_bytes];
  if (&owner == me.current || owner.state == thread_state::free) return;
  const bool seen_before = owner.stack_seen;
  owner.stack_seen = true;
  if (owner.state != thread_state::running) return;
  cpu& other = the.cpus[owner.last_cpu];
  if (!seen_before) waiting::wake(other, clock_of(me));  // it may wait for a word on its stack
  if (other.tx.depth == 0) return;
  if (seen_before) {
    if (write) other.tx.foreign_writes.push({address, bytes});
    return;
  }
  abort_other(other, abort_status::conflict | abort_status::retry, abort_reason::conflict,
              clock_of(me));
}

}  // namespace unlatch::lab

#define CODE __builtin_return_address(0)

extern "C" {

UNLATCH_LAB_HOOK void unlatch_lab_read_slow(void* address, std::uint32_t size, std::uint32_t cost) {
  small_hook<false>(address, size, cost, CODE);
}

UNLATCH_LAB_HOOK void unlatch_lab_write_slow(void* address, std::uint32_t size,
                                             std::uint32_t cost) {
  small_hook<true>(address, size, cost, CODE);
}

UNLATCH_LAB_HOOK void unlatch_lab_read(void* address, std::uint32_t size, std::uint32_t cost) {
  small_hook<false>(address, size, cost, CODE);
}

UNLATCH_LAB_HOOK void unlatch_lab_write(void* address, std::uint32_t size, std::uint32_t cost) {
  small_hook<true>(address, size, cost, CODE);
}

UNLATCH_LAB_HOOK void unlatch_lab_block(std::uint32_t cost) { charge_cost(cost); }

UNLATCH_LAB_HOOK void unlatch_lab_turn_slow(std::uint32_t cost) {
  charge_cost(cost);
  if (the.running == nullptr || clock_of(*the.running) <= the.time_limit) return;
  // Nobody has waited for this CPU meanwhile; the others may still end the run in time.
  the.ready.move(the.running->number, clock_of(*the.running));
  dispatch::switch_from(*the.running->current);
  catch_up(reinterpret_cast<std::uintptr_t>(CODE));
}

UNLATCH_LAB_HOOK void unlatch_lab_turn(std::uint32_t cost) { unlatch_lab_turn_slow(cost); }

UNLATCH_LAB_HOOK void unlatch_lab_undo(void* address, std::uint32_t size) {
  log_write(the.running->tx, reinterpret_cast<std::uintptr_t>(address), size & size_mask);
}

UNLATCH_LAB_HOOK void unlatch_lab_atomic(void* address, std::uint32_t size, std::uint32_t what,
                                         std::uint32_t cost) {
  if (static_cast<atomic_operation>(what & 15) == atomic_operation::load &&
      read_hits(address, size, cost)) {
    ++the.running->meter.atomics;
    return;
  }
  atomic_access(address, size, what, cost, CODE);
}

UNLATCH_LAB_HOOK void unlatch_lab_copy(void* to, void* from, std::uint64_t count,
                                       std::uint32_t cost) {
  charge_cost(cost);
  if (the.running == nullptr) return;
  hook<false>(from, count, access_kind::plain, CODE);
  hook<true>(to, count, access_kind::joined, CODE);
}

UNLATCH_LAB_HOOK void unlatch_lab_range(void* address, std::uint64_t count, std::uint32_t how,
                                        std::uint32_t cost) {
  charge_cost(cost);
  if (the.running == nullptr) return;
  const access_kind kind = (how & 4) != 0 ? access_kind::joined : access_kind::plain;
  if ((how & 1) != 0) {
    hook<true>(address, count, kind, CODE);
  } else {
    hook<false>(address, count, kind, CODE);
  }
}

UNLATCH_LAB_HOOK void unlatch_lab_mask(void* address, std::uint32_t element, std::uint64_t mask,
                                       std::uint32_t write, std::uint32_t cost) {
  charge_cost(cost);
  if (the.running == nullptr) return;
  access_kind kind = access_kind::plain;
  while (mask != 0) {
    const int first = std::countr_zero(mask);
    const int count = std::countr_one(mask >> first);
    const char* const from = static_cast<char*>(address) + std::uint64_t(first) * element;
    if (write != 0) {
      hook<true>(from, std::uint64_t(count) * element, kind, CODE);
    } else {
      hook<false>(from, std::uint64_t(count) * element, kind, CODE);
    }
    kind = access_kind::joined;
    mask = first + count >= 64 ? 0 : mask & ~std::uint64_t{0} << (first + count);
  }
}

UNLATCH_LAB_HOOK void unlatch_lab_gather(void** addresses, std::uint32_t elements,
                                         std::uint32_t element, std::uint64_t mask,
                                         std::uint32_t write, std::uint32_t cost) {
  charge_cost(cost);
  if (the.running == nullptr) return;
  access_kind kind = access_kind::plain;
  for (std::uint32_t i = 0; i < elements; ++i) {
    if ((mask >> i & 1) == 0) continue;
    if (write != 0) {
      hook<true>(addresses[i], element, kind, CODE);
    } else {
      hook<false>(addresses[i], element, kind, CODE);
    }
    kind = access_kind::joined;
  }
}

UNLATCH_LAB_HOOK void unlatch_lab_fence(std::uint32_t which, std::uint32_t cost) {
  charge_cost(cost);
  if (the.running != nullptr && static_cast<order>(which) == order::sequential) {
    charge_cost(the.rules.core.fence);
  }
}

UNLATCH_LAB_HOOK void unlatch_lab_string(std::uint32_t which, const char* first, const char* second,
                                         std::uint64_t count) {
  if (the.running == nullptr || count == 0) return;
  constexpr access_kind joined = access_kind::joined;
  synchronize(reinterpret_cast<std::uintptr_t>(CODE));
  switch (static_cast<string_operation>(which)) {
    case string_operation::scan: {
      const std::uint64_t length = bounded_length(first, count);
      hook<false>(first, length < count ? length + 1 : length, joined, CODE);
      break;
    }
    case string_operation::compare: {
      std::uint64_t i = 0;
      while (i + 1 < count && first[i] != 0 && first[i] == second[i]) ++i;
      hook<false>(first, i + 1, joined, CODE);
      hook<false>(second, i + 1, joined, CODE);
      break;
    }
    case string_operation::compare_bytes: {
      std::uint64_t i = 0;
      while (i + 1 < count && first[i] == second[i]) ++i;
      hook<false>(first, i + 1, joined, CODE);
      hook<false>(second, i + 1, joined, CODE);
      break;
    }
    case string_operation::copy: {
      const std::uint64_t length = bounded_length(second, ~std::uint64_t{0}) + 1;
      hook<false>(second, length, joined, CODE);
      hook<true>(first, length, joined, CODE);
      break;
    }
    case string_operation::find_byte: {
      const char wanted = static_cast<char>(reinterpret_cast<std::uintptr_t>(second));
      std::uint64_t i = 0;
      while (i + 1 < count && first[i] != wanted) ++i;
      hook<false>(first, i + 1, joined, CODE);
      break;
    }
    case string_operation::copy_padded: {
      const std::uint64_t length = bounded_length(second, count);
      hook<false>(second, length < count ? length + 1 : count, joined, CODE);
      hook<true>(first, count, joined, CODE);
      break;
    }
    case string_operation::append: {
      const std::uint64_t before = bounded_length(first, ~std::uint64_t{0});
      const std::uint64_t length = bounded_length(second, count) + 1;
      hook<false>(first, before + 1, joined, CODE);
      hook<false>(second, length, joined, CODE);
      hook<true>(first + before, length, joined, CODE);
      break;
    }
  }
}

UNLATCH_LAB_HOOK void unlatch_lab_instruction_noted(std::uint32_t which, std::uint32_t cost) {
  charge_cost(cost);
  if (the.running == nullptr) {
    if (static_cast<instruction>(which) == instruction::pause) _mm_pause();
    return;
  }
  const auto code = reinterpret_cast<std::uintptr_t>(CODE);
  if (the.running->tx.depth != 0) abort_self(0, abort_reason::instruction, code);
  if (static_cast<instruction>(which) == instruction::pause) {
    waiting::pause(code);
  } else if (static_cast<instruction>(which) == instruction::system_call) {
    charge_cost(the.rules.system.system_call);
    synchronize(code);
  }
}

UNLATCH_LAB_HOOK std::uint64_t unlatch_lab_timestamp(std::uint32_t cost) {
  charge_cost(cost);
  if (the.running == nullptr) return __builtin_ia32_rdtsc();
  charge_cost(the.rules.core.timestamp);
  return clock_of(*the.running);
}

}  // extern "C"
