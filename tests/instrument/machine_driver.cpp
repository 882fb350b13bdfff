// SPDX-License-Identifier: Apache-2.0
//
// The driver of the simulated machine: each area is a run of one thread, whose transactions abort
// themselves. Instrumented. The machine is an ordinary one with room: a first-level cache large
// enough for the write set of every check, no interrupts, and pages so large that the first touch
// of the heap is its only page fault; so nothing but the check's own abort ends a transaction.

#include "machine_driver.hpp"

#include <memory>

#include "conformance.hpp"
#include "src/lab/lab.hpp"
#include "unlatch/htm.hpp"

namespace conformance {

const bool has_machine = true;

const unlatch::lab::model& roomy_machine() {
  static constexpr unlatch::lab::model machine{
      .sockets = 1,
      .cores_per_socket = 4,
      .threads_per_core = 1,
      .mhz = 3000,
      .l1d = {.bytes = 4 << 20, .ways = 32, .latency = 4, .inclusive = false},
      .l2 = {.bytes = 8 << 20, .ways = 32, .latency = 12, .inclusive = false},
      .l3 = {.bytes = 32 << 20, .ways = 32, .latency = 36, .inclusive = true},
      .beyond = {.clean_in_other_core = 65,
                 .dirty_in_other_core = 75,
                 .clean_in_other_socket = 200,
                 .dirty_in_other_socket = 200,
                 .memory = 230,
                 .upgrade = 65},
      .core = {.load_overlap = 500,
               .store_overlap = 800,
               .sibling_slowdown = 500,
               .exchange = 16,
               .compare_exchange = 17,
               .fence = 33,
               .pause = 9,
               .timestamp = 24},
      .transactions = {.rtm = true,
                       .hle = true,
                       .suspend_load_tracking = false,
                       .begin = 22,
                       .commit = 18,
                       .abort = 141,
                       .hle_begin = 29,
                       .hle_commit = 23,
                       .nesting_limit = 7,
                       .read_lines = 1 << 20,
                       .read_loss = 0},
      .system = {.timer_period_us = 1'000'000'000,
                 .other_interrupt_us = 0,
                 .interrupt = 1000,
                 .system_call = 200,
                 .page_fault = 500,
                 .context_switch_ns = 1000,
                 .futex_wake_ns = 2000,
                 .thread_start_ns = 5000,
                 .quantum_us = 1000,
                 .page_bytes = 1U << 30}};
  return machine;
}

namespace {

constexpr std::uint8_t planned = 9;
/// The stack and globals may fault, once each.
constexpr int most_attempts = 10;

/// A page that a transaction touches first aborts it, each time.
void touch_the_heap() {
  const auto block = std::make_unique<volatile long[]>(1000);
  for (int i = 0; i < 1000; ++i) block[i] = i;
}

}  // namespace

void run_area(void (*area)()) {
  unlatch::lab::run(roomy_machine(), {}, [&] {
    touch_the_heap();
    area();
  });
}

bool run_and_abort(action body, void* argument) {
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const unlatch::htm::status status = unlatch::htm::lab::begin();
    if (status.started()) {
      body(argument);
      unlatch::htm::lab::abort<planned>();
    }
    if (status.explicit_abort() && status.code() == planned) return true;
  }
  return false;
}

bool run_and_commit(action body, void* argument) {
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    if (unlatch::htm::lab::begin().started()) {
      body(argument);
      unlatch::htm::lab::commit();
      return true;
    }
  }
  return false;
}

void abort_here() {
  unlatch::htm::lab::abort<planned>();
  __builtin_trap();
}

}  // namespace conformance
