// SPDX-License-Identifier: Apache-2.0
//
// The program whose locks the tests exchange: each of its cases uses some of the pthread functions
// and checks what must hold whatever the locks are; its exit status is 0 if all did.
#pragma once

#include <pthread.h>
#include <time.h>

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace unlatch::probe::testing {

using run_case = bool (*)();
using run_cases = std::map<std::string, run_case>;

run_cases mutex_cases();
run_cases mutex_kind_cases();
run_cases condition_cases();
run_cases rwlock_cases();
run_cases process_cases();

/// How often a thread enters a section: few where each is emulated.
extern long rounds;

inline constexpr int threads = 4;

/// False, and says where, if `holds` is false.
inline bool check(bool holds, const char* what, int line) {
  if (!holds) std::printf("line %d: not %s\n", line, what);
  return holds;
}
#define CHECK(...) ::unlatch::probe::testing::check((__VA_ARGS__), #__VA_ARGS__, __LINE__)

/// Runs `body` in so many threads, with their numbers, and waits for them.
inline void run_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> running;
  for (int i = 0; i < count; ++i) running.emplace_back(body, i);
  for (auto& thread : running) thread.join();
}

/// Two words on two lines that every section finds equal and leaves equal.
class account {
 public:
  void change() {
    if (in_ != out_) torn_ = true;
    in_ = in_ + 1;
    for (int i = 0; i < 5; ++i) asm volatile("");  // time to be seen
    out_ = out_ + 1;
  }
  /// With a system call in the middle, so that it does not run in a transaction and others see it.
  void change_slowly() {
    if (in_ != out_) torn_ = true;
    in_ = in_ + 1;
    timespec nap = {0, 10'000};
    nanosleep(&nap, nullptr);
    out_ = out_ + 1;
  }
  /// For readers.
  bool is_balanced() const { return in_ == out_; }
  bool has(long changes) const { return !torn_ && in_ == changes && out_ == changes; }
  long changes() const { return in_; }

 private:
  alignas(64) volatile long in_ = 0;
  alignas(64) volatile long out_ = 0;
  alignas(64) volatile bool torn_ = false;
};

/// A time so many milliseconds from now.
inline timespec in_milliseconds(clockid_t clock, long milliseconds) {
  timespec time;
  clock_gettime(clock, &time);
  time.tv_nsec += milliseconds * 1'000'000;
  time.tv_sec += time.tv_nsec / 1'000'000'000;
  time.tv_nsec %= 1'000'000'000;
  return time;
}

}  // namespace unlatch::probe::testing
