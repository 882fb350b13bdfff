// SPDX-License-Identifier: Apache-2.0
//
// Running code on a simulated machine. Start here.
//
//   auto result = unlatch::lab::run(machine, {.seed = 7}, [&] { ... threads, locks, sections ...
//   });
//
// The body runs as the first simulated thread; what it starts with std::thread, std::jthread or
// pthread_create are simulated threads too. Everything that it calls must be instrumented (built
// with the lab's compiler pass), or be a function of the C library.
//
// One run at a time, from the main thread. The run ends when the body returns, when it has used up
// the time that options give it, or when no thread can go on (a deadlock, which is reported and
// ends the program). An exception must not leave body.
//
// The same program, model and options give the same result, to the last digit.
#pragma once

#include <cstdint>
#include <type_traits>

#include "blame_records.hpp"
#include "counters.hpp"
#include "model.hpp"

namespace unlatch::lab {

struct strategy;

struct options {
  std::uint64_t seed = 1;
  /// How many cycles hits in a core's own L1 may run ahead of other CPUs. 0: not at all (slow).
  std::uint64_t run_ahead = 200;
  /// Whether CPUs that spin on unchanged lines are passed over until these change. Saves much time
  /// where many spin, and changes nothing but the number of accesses counted.
  bool pass_over_spinning = true;
  /// The run is given up when a CPU's clock reaches this, as a livelock never ends; 0: never.
  std::uint64_t most_cycles = 0;
  /// Whether to note who is to blame for aborts; costs time, is to change no result
  /// (docs/lab.md tells of one cell where it does).
  bool blame = true;
  /// Who chooses instead of the clocks (runtime/strategy.hpp); null: the clocks.
  const lab::strategy* strategy = nullptr;
};

struct run_result {
  /// Whether the body has returned. If not, the run was given up: threads and transactions are left
  /// where they stood, so what they worked on is not to be touched, and no other run may begin.
  bool finished = false;
  std::uint64_t cycles = 0;  ///< from the begin of the body to its end
  double seconds = 0;        ///< the same at the model's frequency
  counters all;              ///< of all CPUs
  blame_lists blame;
};

}  // namespace unlatch::lab

extern "C" {
void unlatch_lab_run(const unlatch::lab::model* machine, const unlatch::lab::options* how,
                     void (*body)(void*), void* argument, unlatch::lab::run_result* result);
std::uint64_t unlatch_lab_cycles();
std::uint32_t unlatch_lab_cpu();
void unlatch_lab_work(std::uint64_t cycles);
void unlatch_lab_counters(unlatch::lab::counters* sum);
}

namespace unlatch::lab {

/// Runs `body()` on a machine like `machine`.
template <class Body>
run_result run(const model& machine, const options& how, Body&& body) {
  using callable = std::remove_reference_t<Body>;
  run_result result;
  unlatch_lab_run(
      &machine, &how, [](void* argument) { (*static_cast<callable*>(argument))(); },
      const_cast<void*>(static_cast<const void*>(&body)), &result);
  return result;
}

/// In simulated code: the cycles of the CPU's clock since the run began, free of charge.
inline std::uint64_t cycles_now() { return unlatch_lab_cycles(); }
/// In simulated code: the number of the CPU that runs it.
inline std::uint32_t cpu_number() { return unlatch_lab_cpu(); }
/// In simulated code: computes for so many cycles without touching memory.
inline void work(std::uint64_t cycles) { unlatch_lab_work(cycles); }
/// In simulated code: the counters of all CPUs until now.
inline counters counters_now() {
  counters sum;
  unlatch_lab_counters(&sum);
  return sum;
}

}  // namespace unlatch::lab
