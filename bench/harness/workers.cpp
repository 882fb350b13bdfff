// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/workers.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>

namespace unlatch::bench {
namespace {

using clock = std::chrono::steady_clock;

/// Nanoseconds that the calling thread was ready to run and had no CPU; 0 where the kernel does not
/// count them.
std::uint64_t queued_so_far() {
  std::ifstream file("/proc/thread-self/schedstat");
  std::uint64_t on_cpu = 0, queued = 0;
  file >> on_cpu >> queued;
  return queued;
}

std::uint64_t context_switches_so_far() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<std::uint64_t>(usage.ru_nvcsw + usage.ru_nivcsw);
}

}  // namespace

workers::workers(unsigned most) : tallies_(most) {
  for (unsigned thread = 0; thread < most; ++thread)
    running_threads_.emplace_back([this, thread] { serve(thread); });
}

workers::~workers() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (auto& thread : running_threads_) thread.join();
}

void workers::serve(unsigned thread) {
  for (std::uint64_t served = 0;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ending_ || (round_ != served && thread < threads_); });
    if (ending_) return;
    served = round_;
    lock.unlock();

    tally& mine = tallies_[thread];
    // All start together, but where threads outnumber CPUs nobody may spin for long.
    ready_.fetch_add(1, std::memory_order_acq_rel);
    while (ready_.load(std::memory_order_acquire) < threads_) std::this_thread::yield();
    const auto switches = context_switches_so_far();
    const auto queued = queued_so_far();
    mine.operations = (*what_)(thread, *state_);
    mine.queued_ns = queued_so_far() - queued;
    mine.context_switches = context_switches_so_far() - switches;

    lock.lock();
    if (--running_ == 0) changed_.notify_all();
  }
}

window workers::measure(unsigned threads, std::chrono::microseconds length, const work& what) {
  window_state state;
  {
    const std::scoped_lock lock(mutex_);
    ready_.store(0, std::memory_order_relaxed);
    threads_ = running_ = threads;
    what_ = &what;
    state_ = &state;
    ++round_;
  }
  changed_.notify_all();
  const auto started = clock::now();
  std::this_thread::sleep_for(length / 10);
  const auto opened = clock::now();
  state.phase_.store(window_state::phase::open, std::memory_order_relaxed);
  std::this_thread::sleep_for(length);
  state.phase_.store(window_state::phase::closed, std::memory_order_relaxed);
  const auto closed = clock::now();
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return running_ == 0; });
  }

  window measured;
  measured.seconds = std::chrono::duration<double>(closed - opened).count();
  const double whole = std::chrono::duration<double>(closed - started).count();
  for (unsigned thread = 0; thread < threads; ++thread) {
    const tally& one = tallies_[thread];
    measured.operations += one.operations;
    measured.context_switches += one.context_switches;
    measured.queued = std::max(measured.queued, static_cast<double>(one.queued_ns) * 1e-9 / whole);
  }
  return measured;
}

}  // namespace unlatch::bench
