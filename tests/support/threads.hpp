// SPDX-License-Identifier: Apache-2.0
//
// Threads for tests: several that start together, and one that can be seen to sleep.
#pragma once

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <latch>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace unlatch::testing {

/// Runs `body(i)` in `count` threads that start together, and waits for them.
inline void run_together(int count, const std::function<void(int)>& body) {
  std::latch start(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      body(i);
    });
  for (std::thread& t : threads) t.join();
}

/// A thread whose body is expected to block.
class blocking_thread {
 public:
  explicit blocking_thread(std::function<void()> body)
      : thread_([this, body = std::move(body)] {
          id_.store(gettid());
          id_.notify_one();
          body();
        }) {
    id_.wait(0);
  }
  ~blocking_thread() {
    if (thread_.joinable()) thread_.join();
  }
  blocking_thread(const blocking_thread&) = delete;
  blocking_thread& operator=(const blocking_thread&) = delete;

  /// Returns once the thread sleeps in the kernel.
  void wait_until_asleep() const {
    const std::string path = "/proc/self/task/" + std::to_string(id_.load()) + "/stat";
    for (;;) {
      std::ifstream file(path);
      std::string line;
      std::getline(file, line);
      const std::size_t name_end = line.rfind(')');
      if (name_end != std::string::npos && line.compare(name_end, 4, ") S ") == 0) return;
      std::this_thread::yield();
    }
  }
  void join() { thread_.join(); }

 private:
  std::atomic<pid_t> id_{0};
  std::thread thread_;
};

}  // namespace unlatch::testing
