// SPDX-License-Identifier: Apache-2.0
//
// The guards of static local variables (Itanium C++ ABI, 3.3.3), for everything in the program.
//
// The first byte says that the variable is made, the second that a thread is making it. Both are
// accesses like any other: an aborted transaction has made nothing.
#include <cstdint>

#include "../../instrument/hooks.hpp"
#include "machine.hpp"
#include "waiting.hpp"

using namespace unlatch::lab;

namespace {

constexpr auto sequential = static_cast<std::uint32_t>(order::sequential) << 4;

void tell(char* guard, atomic_operation operation) noexcept {
  unlatch_lab_atomic(guard, 2, static_cast<std::uint32_t>(operation) | sequential, 0);
}

}  // namespace

#define VISIBLE __attribute__((visibility("default")))

extern "C" {

VISIBLE int __cxa_guard_acquire(char* guard) {
  for (;;) {
    tell(guard, atomic_operation::load);
    if (guard[0] != 0) return 0;
    if (guard[1] == 0) {
      tell(guard, atomic_operation::compare_exchange);
      if (guard[0] != 0) return 0;
      if (guard[1] == 0) {
        guard[1] = 1;
        return 1;
      }
    }
    if (the.running == nullptr) fail("a static local variable needs itself while it is made");
    unlatch_lab_instruction(static_cast<std::uint32_t>(instruction::pause), 0);
  }
}

VISIBLE void __cxa_guard_release(char* guard) {
  tell(guard, atomic_operation::store);
  guard[0] = 1;
  guard[1] = 0;
}

VISIBLE void __cxa_guard_abort(char* guard) {
  tell(guard, atomic_operation::store);
  guard[1] = 0;
}

}  // extern "C"
