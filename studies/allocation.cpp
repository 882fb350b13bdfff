// SPDX-License-Identifier: Apache-2.0
//
// Memory that is allocated inside a transaction (Schrimpf 2014, appendix C.1): on the stack, or by
// the allocator, which may touch what others touch, ask the system for more, or fault.
#include <array>
#include <cstdint>
#include <memory>

#include "studies/attempts.hpp"
#include "studies/studies.hpp"

namespace unlatch::studies {
namespace {

/// Keeps the compiler from leaving out memory that nobody reads.
void use(void* memory) { asm volatile("" : : "r"(memory) : "memory"); }

template <std::size_t Bytes>
htm::status on_stack() {
  return attempt([] {
    std::array<unsigned char, Bytes> memory;
    use(memory.data());
  });
}

htm::status on_heap(std::uint64_t bytes) {
  return attempt([bytes] {
    const auto memory = std::make_unique_for_overwrite<unsigned char[]>(bytes);
    use(memory.get());
  });
}

htm::status allocate_as(const std::string& case_name) {
  if (case_name == "stack-4K") return on_stack<4096>();
  if (case_name == "heap-64") return on_heap(64);
  if (case_name == "heap-4K") return on_heap(4096);
  return on_heap(1 << 20);
}

void measure_allocation(const cell& one, measurement& measured, attempt_counts& total) {
  for (std::uint64_t i = 0; i < one.params.at("attempts"); ++i) {
    total.count(allocate_as(one.case_name));
  }
  add_figure(measured, one.case_name, total.share_aborted(), "share aborted");
}

}  // namespace

study allocation_study() {
  study what;
  what.name = "allocation";
  what.description = "How many transactions abort that allocate memory and give it back";
  what.cases = {{"stack-4K", "4 KiB on the stack"},
                {"heap-64", "64 bytes of the heap"},
                {"heap-4K", "4 KiB of the heap"},
                {"heap-1M", "1 MiB of the heap, which the system hands out"}};
  what.modes = {bare_transactions()};
  what.parameters = {{"attempts", "transactions", 1'000'000, 10'000, 1, 1'000'000'000, 2000}};
  what.threads = {1};
  what.measure = [](const cell& one, const std::stop_token&) {
    return measure_attempts([&](measurement& measured, attempt_counts& total) {
      measure_allocation(one, measured, total);
    });
  };
  return what;
}

}  // namespace unlatch::studies
