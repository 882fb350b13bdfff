// SPDX-License-Identifier: Apache-2.0
//
// lock() and unlock() of a lock that nobody else wants, in a process of several threads (with one
// thread glibc's mutex leaves its atomic instructions out). Statistics are on, as always.
#include <pthread.h>

#include <mutex>
#include <shared_mutex>

#include "bench/harness/session.hpp"
#include "bench/uncontended/repeat_section.hpp"
#include "studies/ttas_mutex.hpp"
#include "unlatch/unlatch.hpp"

#if UNLATCH_BENCH_ABSL
#include <absl/synchronization/mutex.h>
#endif
#if UNLATCH_BENCH_TBB
#include <oneapi/tbb/queuing_mutex.h>
#include <oneapi/tbb/spin_mutex.h>
#endif
#if UNLATCH_BENCH_CK
#include "bench/uncontended/ck_locks.h"
#endif

namespace unlatch::bench {
namespace {

/// A lock of its own on a cache line of its own.
template <class Lock>
peer lock_peer(std::string name) {
  return {std::move(name), [](unsigned, const window_state& window) {
            alignas(cache_line) Lock lock;
            alignas(cache_line) std::uint64_t counter = 0;
            return repeat_batches(window,
                                  [&](std::uint64_t n) { repeat_section(lock, counter, n); });
          }};
}

template <class Mutex>
struct shared_side {
  Mutex mutex;
  void lock() { mutex.lock_shared(); }
  void unlock() { mutex.unlock_shared(); }
};

class pthread_spin {
 public:
  pthread_spin() { pthread_spin_init(&lock_, PTHREAD_PROCESS_PRIVATE); }
  ~pthread_spin() { pthread_spin_destroy(&lock_); }
  void lock() { pthread_spin_lock(&lock_); }
  void unlock() { pthread_spin_unlock(&lock_); }

 private:
  pthread_spinlock_t lock_;
};

#if UNLATCH_BENCH_ABSL
struct absl_mutex {
  absl::Mutex mutex;
  void lock() { mutex.Lock(); }
  void unlock() { mutex.Unlock(); }
};
#endif

#if UNLATCH_BENCH_TBB
class tbb_queuing {
 public:
  void lock() { held_.acquire(mutex_); }
  void unlock() { held_.release(); }

 private:
  tbb::queuing_mutex mutex_;
  tbb::queuing_mutex::scoped_lock held_;
};
#endif

#if UNLATCH_BENCH_CK
peer ck_peer(std::string name, void (*repeat_one)(std::uint64_t*, std::uint64_t)) {
  return {std::move(name), [repeat_one](unsigned, const window_state& window) {
            alignas(cache_line) std::uint64_t counter = 0;
            return repeat_batches(window, [&](std::uint64_t n) { repeat_one(&counter, n); });
          }};
}
#endif

/// At most 1.05 times the time of the fastest of `best_of`.
target as_fast_as(std::string ours, std::vector<std::string> best_of) {
  return {std::move(ours), std::move(best_of), 1 / 1.05};
}

cell sleeping_locks() {
  cell all{.case_name = "sleeping locks", .references = {"std::mutex"}};
  all.peers = {lock_peer<std::mutex>("std::mutex"), lock_peer<mutex>("mutex"),
               lock_peer<elided<mutex>>("elided<mutex>")};
#if UNLATCH_BENCH_ABSL
  all.peers.push_back(lock_peer<absl_mutex>("absl::Mutex"));
  all.peers.push_back(control_of(all.peers.back()));
  all.references.push_back("absl::Mutex");
#endif
  all.peers.push_back(control_of(all.peers.front()));
  all.targets = {as_fast_as("elided<mutex>", {"std::mutex", "absl::Mutex"})};
  return all;
}

cell spinning_locks() {
  cell all{.case_name = "spinning locks", .references = {"TTAS"}};
  all.peers = {lock_peer<studies::ttas_mutex>("TTAS"), lock_peer<pthread_spin>("pthread_spin"),
               lock_peer<spin_mutex>("spin_mutex"),
               lock_peer<elided<spin_mutex>>("elided<spin_mutex>")};
#if UNLATCH_BENCH_TBB
  all.peers.push_back(lock_peer<tbb::spin_mutex>("tbb::spin_mutex"));
  all.peers.push_back(control_of(all.peers.back()));
  all.references.push_back("tbb::spin_mutex");
#endif
#if UNLATCH_BENCH_CK
  all.peers.push_back(ck_peer("ck_spinlock", ck_spinlock_repeat));
  all.peers.push_back(control_of(all.peers.back()));
  all.references.push_back("ck_spinlock");
#endif
  all.peers.push_back(control_of(all.peers.front()));
  all.targets = {as_fast_as("elided<spin_mutex>", {"tbb::spin_mutex", "ck_spinlock"})};
  return all;
}

cell queueing_locks() {
  cell all{.case_name = "queueing locks", .references = {"ticket_mutex"}};
  all.peers = {lock_peer<ticket_mutex>("ticket_mutex"), lock_peer<mcs_mutex>("mcs_mutex"),
               lock_peer<elided<ticket_mutex>>("elided<ticket_mutex>"),
               lock_peer<elided<mcs_mutex>>("elided<mcs_mutex>")};
#if UNLATCH_BENCH_TBB
  all.peers.push_back(lock_peer<tbb_queuing>("tbb::queuing_mutex"));
#endif
#if UNLATCH_BENCH_CK
  all.peers.push_back(ck_peer("ck_ticket", ck_ticket_repeat));
  all.peers.push_back(ck_peer("ck_mcs", ck_mcs_repeat));
#endif
  all.peers.push_back(control_of(all.peers.front()));
  return all;
}

cell shared_locks() {
  cell all{.case_name = "shared locks", .references = {"std::shared_mutex, shared"}};
  all.peers = {lock_peer<shared_side<std::shared_mutex>>("std::shared_mutex, shared"),
               lock_peer<std::shared_mutex>("std::shared_mutex"),
               lock_peer<shared_side<shared_mutex>>("shared_mutex, shared"),
               lock_peer<shared_mutex>("shared_mutex"),
               lock_peer<shared_side<elided<shared_mutex>>>("elided<shared_mutex>, shared")};
  all.peers.push_back(control_of(all.peers.front()));
  return all;
}

}  // namespace
}  // namespace unlatch::bench

int main(int argc, char** argv) {
  using namespace unlatch::bench;
  options defaults;
  defaults.how.rounds = 61;
  defaults.how.window = std::chrono::milliseconds(3);
  session all("uncontended", "lock() and unlock() without contention", defaults, argc, argv);
  for (const auto& cell : {sleeping_locks(), spinning_locks(), queueing_locks(), shared_locks()})
    all.measure(cell);
  return all.finish();
}
