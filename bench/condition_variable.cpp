// SPDX-License-Identifier: Apache-2.0
//
// Two threads hand a turn to and fro by condition variables, notifying inside the section as most
// programs do. An operation is a round trip; the context switches stand beside it.
#include <condition_variable>
#include <memory>
#include <mutex>

#include "bench/harness/session.hpp"
#include "unlatch/unlatch.hpp"

#if UNLATCH_BENCH_ABSL
#include <absl/synchronization/mutex.h>
#endif

namespace unlatch::bench {
namespace {

struct standard_monitor {
  std::mutex mutex;
  std::condition_variable changed;

  template <class Ready>
  void wait(std::unique_lock<std::mutex>& held, Ready ready) {
    changed.wait(held, ready);
  }
  void notify() { changed.notify_one(); }
};

template <class Lock>
struct unlatch_monitor {
  Lock mutex;
  condition_variable changed;

  template <class Ready>
  void wait(std::unique_lock<Lock>&, Ready ready) {
    changed.wait(mutex, ready);
  }
  void notify() { changed.notify_one(mutex); }
};

#if UNLATCH_BENCH_ABSL
struct absl_monitor {
  struct lockable : absl::Mutex {
    void lock() { Lock(); }
    void unlock() { Unlock(); }
  };
  lockable mutex;
  absl::CondVar changed;

  template <class Ready>
  void wait(std::unique_lock<lockable>&, Ready ready) {
    while (!ready()) changed.Wait(&mutex);
  }
  void notify() { changed.Signal(); }
};
#endif

template <class Monitor>
work ping_pong() {
  enum class turn { first, second, none };
  struct table {
    Monitor monitor;
    turn whose = turn::first;
  };
  auto shared = std::make_shared<table>();
  return [=](unsigned thread, const window_state& window) -> std::uint64_t {
    table& t = *shared;
    const auto pass_to = [&](turn next) {
      t.whose = next;
      t.monitor.notify();
    };
    if (thread == 0) {
      const auto counted = repeat(window, [&] {
        std::unique_lock held(t.monitor.mutex);
        pass_to(turn::second);
        t.monitor.wait(held, [&] { return t.whose == turn::first; });
      });
      const std::unique_lock held(t.monitor.mutex);
      pass_to(turn::none);
      return counted;
    }
    for (;;) {
      std::unique_lock held(t.monitor.mutex);
      t.monitor.wait(held, [&] { return t.whose != turn::first; });
      const bool ended = t.whose == turn::none;
      pass_to(turn::first);
      if (ended) return 0;
    }
  };
}

}  // namespace
}  // namespace unlatch::bench

int main(int argc, char** argv) {
  using namespace unlatch::bench;
  options defaults;
  defaults.threads = {2};
  session run("condition_variable", "Handing a turn over by condition variables", defaults, argc,
              argv);
  cell one{.case_name = "ping-pong", .threads = 2, .references = {"std::condition_variable"}};
  one.peers = {
      {"std::condition_variable", ping_pong<standard_monitor>()},
      {"unlatch, mutex", ping_pong<unlatch_monitor<unlatch::mutex>>()},
      {"unlatch, elided<mutex>", ping_pong<unlatch_monitor<unlatch::elided<unlatch::mutex>>>()}};
#if UNLATCH_BENCH_ABSL
  one.peers.push_back({"absl::CondVar", ping_pong<absl_monitor>()});
  one.peers.push_back(control_of(one.peers.back()));
  one.references.push_back("absl::CondVar");
#endif
  one.peers.push_back(control_of(one.peers.front()));
  for (const auto* name : {"unlatch, mutex", "unlatch, elided<mutex>"})
    one.targets.push_back({name, {"std::condition_variable", "absl::CondVar"}, 0.97});
  run.measure(one);
  return run.finish();
}
