// SPDX-License-Identifier: Apache-2.0
#include "lab/runtime/os/run_state.hpp"

#include "lab/runtime/os/complain.hpp"
#include "lab/runtime/os/futex.hpp"
#include "lab/runtime/os/grace_periods.hpp"
#include "lab/runtime/os/mapped_memory.hpp"
#include "lab/runtime/os/os.hpp"
#include "lab/runtime/os/thread_record.hpp"
#include "lab/runtime/os/thread_storage.hpp"

namespace unlatch::lab::os {
namespace {

const model* simulated;
std::uint64_t random_state;

}  // namespace

void begin_run(const model& machine, std::uint64_t seed) noexcept {
  simulated = &machine;
  random_state = seed;
  forget_mappings();
  forget_threads();
  futex::forget_waiters();
}

void main_ends() noexcept { thread_storage::destroy(); }

void end_run() noexcept {
  grace_periods::finish();
  futex::forget_waiters();
  forget_threads();
  simulated = nullptr;
}

const model& machine() noexcept {
  if (simulated == nullptr) stop("the operating system was asked for a model outside a run");
  return *simulated;
}

std::uint64_t random_number() noexcept {
  random_state += 0x9e3779b97f4a7c15u;  // splitmix64
  std::uint64_t z = random_state;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

}  // namespace unlatch::lab::os
