// SPDX-License-Identifier: Apache-2.0
//
// Bytes: of each lock, ours and the peers', and of what the library keeps for each thread.
#include <fmt/core.h>
#include <malloc.h>
#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "unlatch/unlatch.hpp"

#if UNLATCH_BENCH_ABSL
#include <absl/synchronization/mutex.h>
#endif
#if UNLATCH_BENCH_TBB
#include <oneapi/tbb/queuing_mutex.h>
#include <oneapi/tbb/spin_mutex.h>
#include <oneapi/tbb/spin_rw_mutex.h>
#endif

namespace {

template <class T>
void print(const char* name) {
  fmt::print("{:5}  {}\n", sizeof(T), name);
}

void print_locks() {
  fmt::print("bytes  type\n");
  print<std::mutex>("std::mutex");
  print<std::shared_mutex>("std::shared_mutex");
  print<std::condition_variable>("std::condition_variable");
  print<pthread_spinlock_t>("pthread_spinlock_t");
#if UNLATCH_BENCH_ABSL
  print<absl::Mutex>("absl::Mutex");
  print<absl::CondVar>("absl::CondVar");
#endif
#if UNLATCH_BENCH_TBB
  print<tbb::spin_mutex>("tbb::spin_mutex");
  print<tbb::spin_rw_mutex>("tbb::spin_rw_mutex");
  print<tbb::queuing_mutex>("tbb::queuing_mutex");
  print<tbb::speculative_spin_mutex>("tbb::speculative_spin_mutex");
  print<tbb::speculative_spin_rw_mutex>("tbb::speculative_spin_rw_mutex");
#endif
  using namespace unlatch;
  print<spin_mutex>("spin_mutex");
  print<mutex>("mutex");
  print<ticket_mutex>("ticket_mutex");
  print<mcs_mutex>("mcs_mutex");
  print<shared_mutex>("shared_mutex");
  print<rw_semaphore>("rw_semaphore");
  print<sr_latch>("sr_latch");
  print<elided<spin_mutex>>("elided<spin_mutex>");
  print<elided<mutex>>("elided<mutex>");
  print<elided<ticket_mutex>>("elided<ticket_mutex>");
  print<elided<mcs_mutex>>("elided<mcs_mutex>");
  print<elided<shared_mutex>>("elided<shared_mutex>");
  print<elided<rw_semaphore>>("elided<rw_semaphore>");
  print<elided<sr_latch>>("elided<sr_latch>");
  print<elided<mutex, policy::glibc>>("elided<mutex, policy::glibc>");
  print<condition_variable>("condition_variable");
}

/// Bytes that are allocated in this process; the arenas of all threads.
std::size_t allocated() {
  const struct mallinfo2 all = mallinfo2();
  return all.uordblks + all.hblkhd;
}

/// What a thread's first `section` makes this process allocate, while the thread lives.
template <class Section>
std::size_t allocated_by_first(Section section) {
  std::size_t bytes = 0;
  std::thread([&] {
    const std::size_t before = allocated();
    section();
    bytes = allocated() - before;
  }).join();
  return bytes;
}

void print_threads() {
  using namespace unlatch;
  static elided<mutex> lock;
  static std::uint64_t field = 0;
  const auto guard = [] { const std::scoped_lock held(lock); };
  const auto closure = [] {
    for (int i = 0; i < 1000; ++i)  // so that some of them speculate
      elide(lock, [](auto& tx) { tx.write(field, tx.read(field) + 1); });
  };
  const auto retiring = [] {
    elide(lock, [](auto& tx) { tx.retire(tx.template allocate<std::uint64_t>(1)); });
  };
  for (int i = 0; i < 2; ++i) {  // the second time without what the process allocates once
    allocated_by_first(guard);
    allocated_by_first(closure);
    allocated_by_first(retiring);
  }
  fmt::print("\nbytes  of a thread\n");
  fmt::print("{:5}  thread-local: what it knows of its sections\n",
             sizeof(detail::section_context));
  fmt::print("{:5}  each row of counters that is used, in whole pages\n",
             sizeof(detail::thread_row));
  fmt::print("{:5}  allocated by guards\n", allocated_by_first(guard));
  fmt::print("{:5}  allocated by closures\n", allocated_by_first(closure));
  fmt::print("{:5}  allocated by closures that retire something\n", allocated_by_first(retiring));
  fmt::print("\nThe rows lie in a mapping of {} bytes, of which only used pages take memory.\n",
             sizeof(detail::thread_row) * detail::max_rows);
}

}  // namespace

int main() {
  print_locks();
  print_threads();
}
