// SPDX-License-Identifier: Apache-2.0
//
// Inline assembly: memory operands are seen. Memory that assembly reaches by an address in a
// register is not: the compiler warns of it, and this prints what became of it as a known hole.

#include <cstdio>
#include <memory>

#include "conformance.hpp"

namespace conformance {

void assembly() {
  const auto cell = std::make_unique<long>(0);
  rolls_back(
      "memory operand, read and written", [&] { asm volatile("lock incq %0"
                                                             : "+m"(*cell)); },
      [&] { return *cell == 0; });
  rolls_back(
      "memory operand, written", [&] { asm volatile("movq $7, %0"
                                                    : "=m"(*cell)); },
      [&] { return *cell == 0; });
  struct pair {
    long first, second;
  };
  const auto both = std::make_unique<pair>();
  const long ones __attribute__((vector_size(16))) = {1, 1};
  rolls_back(
      "memory operand that is a structure",
      [&] {
        asm volatile("movups %1, %0" : "=m"(*both) : "x"(ones));
      },
      [&] { return both->first == 0 && both->second == 0; });
  long copied = 0;
  commits(
      "memory operand, read", [&] { asm volatile("movq %1, %0"
                                                 : "=r"(copied)
                                                 : "m"(*cell)); },
      [&] { return copied == 0; });

  const auto hole = std::make_unique<long>(0);
  run_and_abort([](void* address) { asm volatile("incq (%0)" ::"r"(address)
                                                 : "memory"); },
                hole.get());
  std::printf("hole   assembly through an address in a register: %s\n",
              *hole == 0 ? "undone" : "not undone");
}

}  // namespace conformance
