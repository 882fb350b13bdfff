// SPDX-License-Identifier: Apache-2.0
#include "studies/window.hpp"

#include <sys/resource.h>

#include <barrier>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "studies/library_counts.hpp"

namespace unlatch::studies {
namespace {

std::uint64_t context_switches_so_far() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_nvcsw + usage.ru_nivcsw);
}

/// Sleeps; returns false if a stop was requested before the time was up.
bool sleep(std::chrono::nanoseconds length, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, length, [] { return false; });
  return !stop.stop_requested();
}

struct alignas(cache_line) worker_result {
  std::uint64_t operations = 0;
  std::exception_ptr error;
};

}  // namespace

measurement window::run(unsigned threads, const std::stop_token& stop,
                        const std::function<std::uint64_t(unsigned thread)>& worker) {
  std::vector<worker_result> results(threads);
  std::barrier start(static_cast<std::ptrdiff_t>(threads) + 1);
  std::vector<std::jthread> running;
  running.reserve(threads);
  for (unsigned thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      start.arrive_and_wait();
      try {
        results[thread].operations = worker(thread);
      } catch (...) {
        results[thread].error = std::current_exception();
      }
    });
  }
  start.arrive_and_wait();

  bool whole = sleep(length_ / 10, stop);
  const auto counts = statistics::snapshot();
  const auto switches = context_switches_so_far();
  const auto opened = std::chrono::steady_clock::now();
  phase_.store(open, std::memory_order_relaxed);
  whole = whole && sleep(length_, stop);
  phase_.store(closed, std::memory_order_relaxed);
  for (auto& thread : running) thread.join();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - opened;

  measurement measured;
  measured.seconds = seconds.count();
  measured.context_switches = context_switches_so_far() - switches;
  for (const auto& result : results) {
    if (result.error) std::rethrow_exception(result.error);
    measured.ops += result.operations;
  }
  if (!whole) throw interrupted();
  add_library_counts(measured, statistics::snapshot() - counts);
  return measured;
}

}  // namespace unlatch::studies
