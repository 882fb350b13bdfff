// SPDX-License-Identifier: Apache-2.0
//
// The inlined part of the hooks: what a private hit of the first-level cache costs, without a call.
// Compiled to bitcode; the pass links it into every module and inlines it. Every path that is not a
// hit goes to the runtime's slow hooks with nothing charged.

#include "hooks.hpp"

namespace {

using unlatch::lab::line_bytes;

[[gnu::always_inline]] inline bool hits(std::uint64_t address, std::uint32_t size,
                                        const std::uint64_t* tags, std::uint64_t until) {
  const std::uint64_t line = address / line_bytes;
  const bool one_line = (size & unlatch::lab::within_line) != 0 ||
                        address % line_bytes + (size & unlatch::lab::size_mask) <= line_bytes;
  return tags[line % unlatch::lab::tag_entries] == line && until <= unlatch_lab_fast.limit &&
         one_line;
}

[[gnu::always_inline]] inline bool on_own_stack(std::uint64_t address, std::uint64_t until) {
  return address - unlatch_lab_fast.stack_base < unlatch::lab::stack_bytes &&
         until <= unlatch_lab_fast.time_limit;
}

}  // namespace

extern "C" {

[[gnu::always_inline]] UNLATCH_LAB_HOOK void unlatch_lab_read(void* address, std::uint32_t size,
                                                              std::uint32_t cost) {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  std::uint64_t* const clock = unlatch_lab_fast.clock;
  const std::uint64_t until = *clock + cost;
  if (__builtin_expect(hits(at, size, unlatch_lab_fast.read_tags, until), 1)) {
    *clock = until + unlatch_lab_fast.read_hit_cost;
    ++unlatch_lab_fast.accesses;
  } else if (on_own_stack(at, until)) {
    *clock = until + unlatch_lab_fast.stack_cost;
    ++unlatch_lab_fast.accesses;
  } else {
    [[clang::nomerge]] unlatch_lab_read_slow(address, size, cost);
  }
}

[[gnu::always_inline]] UNLATCH_LAB_HOOK void unlatch_lab_write(void* address, std::uint32_t size,
                                                               std::uint32_t cost) {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  std::uint64_t* const clock = unlatch_lab_fast.clock;
  const std::uint64_t until = *clock + cost;
  if (__builtin_expect(hits(at, size, unlatch_lab_fast.write_tags, until), 1)) {
    *clock = until + unlatch_lab_fast.write_hit_cost;
    ++unlatch_lab_fast.accesses;
    if (__builtin_expect(unlatch_lab_fast.in_transaction != 0, 0)) {
      [[clang::nomerge]] unlatch_lab_undo(address, size & unlatch::lab::size_mask);
    }
  } else if (on_own_stack(at, until)) {
    *clock = until + unlatch_lab_fast.stack_cost;
    ++unlatch_lab_fast.accesses;
  } else {
    [[clang::nomerge]] unlatch_lab_write_slow(address, size, cost);
  }
}

[[gnu::always_inline]] UNLATCH_LAB_HOOK void unlatch_lab_block(std::uint32_t cost) {
  *unlatch_lab_fast.clock += cost;
}

[[gnu::always_inline]] UNLATCH_LAB_HOOK void unlatch_lab_turn(std::uint32_t cost) {
  std::uint64_t* const clock = unlatch_lab_fast.clock;
  const std::uint64_t until = *clock + cost;
  if (__builtin_expect(until <= unlatch_lab_fast.time_limit, 1)) {
    *clock = until;
  } else {
    [[clang::nomerge]] unlatch_lab_turn_slow(cost);
  }
}

}  // extern "C"
