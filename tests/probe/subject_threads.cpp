// SPDX-License-Identifier: Apache-2.0
#include <linux/io_uring.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "subject.hpp"

namespace unlatch::probe::testing {
namespace {

constexpr int words = 16;
std::array<volatile long, words> shared;
std::atomic<int> lock{0};
std::atomic<long> torn{0};
std::atomic<long> fallbacks{0};

void take() {
  while (lock.exchange(1) != 0) std::this_thread::yield();
}
void release() { lock.store(0); }

/// Adds 1 to all words: in a transaction that watches the lock, or under the lock.
void add_to_all() {
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (_xbegin() != _XBEGIN_STARTED) continue;
    if (lock.load(std::memory_order_relaxed) != 0) _xabort(0xff);
    for (auto& word : shared) {
      word = word + 1;
      for (int i = 0; i < 20; ++i) asm volatile("");  // time to be seen
    }
    _xend();
    return;
  }
  take();
  for (auto& word : shared) word = word + 1;
  release();
  ++fallbacks;
}

/// Reads all words under the lock; they must be equal.
void look() {
  take();
  const long first = shared[0];
  for (int i = 0; i < 200; ++i) _mm_pause();
  for (const auto& word : shared) {
    if (word != first) ++torn;
  }
  release();
}

/// Two words on two lines that a transaction changes together.
std::array<volatile long, 16> ordered;
std::atomic<bool> over{false};
std::atomic<int> started{0};

/// Returns when `count` threads have come here: none is done before another begins.
void wait_for(int count) {
  ++started;
  while (started < count) std::this_thread::yield();
}

bool is_atomic_to_lock_holders() {
  constexpr int threads = 4, rounds = 400;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([] {
      wait_for(threads);
      for (int round = 0; round < rounds; ++round) {
        add_to_all();
        if (round % 4 == 1) look();
      }
    });
  }
  for (auto& thread : running) thread.join();
  std::printf("torn %ld fallbacks %ld\n", torn.load(), fallbacks.load());
  return torn == 0 && shared[0] == threads * rounds;
}

bool is_atomic_to_readers_without_a_lock() {
  std::thread reader([] {
    wait_for(2);
    while (!over) {
      // What is written last is read last: it is behind only in the middle of a transaction.
      const long first = ordered[0];
      const long last = ordered[8];
      if (last < first) ++torn;
    }
  });
  wait_for(2);
  long committed = 0;
  for (int round = 0; round < 300; ++round) {
    if (_xbegin() != _XBEGIN_STARTED) continue;
    ordered[0] = ordered[0] + 1;
    for (int i = 0; i < 500; ++i) asm volatile("");  // time to be seen
    ordered[8] = ordered[8] + 1;
    _xend();
    ++committed;
  }
  over = true;
  reader.join();
  std::printf("torn %ld committed %ld\n", torn.load(), committed);
  return torn == 0 && ordered[0] == committed && ordered[8] == committed;
}

/// Threads that block every signal they can must stop all the same.
bool stops_threads_that_block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  return is_atomic_to_lock_holders();
}

bool lets_sleepers_be_woken() {
  std::mutex mutex;
  std::condition_variable changed;
  int turn = 0;
  constexpr int rounds = 40;
  const auto play = [&](int me) {
    for (int round = 0; round < rounds; ++round) {
      std::unique_lock guard(mutex);
      changed.wait(guard, [&] { return turn == me; });
      add_to_all();
      turn = 1 - me;
      changed.notify_all();
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  return shared[0] == 2 * rounds;
}

bool starts_and_ends_threads() {
  std::atomic<bool> stop{false};
  std::thread churn([&] {
    while (!stop) std::thread([] { add_to_all(); }).join();
  });
  for (int round = 0; round < 300; ++round) add_to_all();
  stop = true;
  churn.join();
  const long total = shared[0];
  for (const auto& word : shared) {
    if (word != total) return false;
  }
  return total >= 300;
}

bool works_in_a_child() {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) add_to_all();
  });
  bool right = true;
  for (int child = 0; child < 10; ++child) {
    const pid_t id = fork();
    if (id == 0) {
      const long before = shared[0];
      lock = 0;  // its holder, if any, is not here
      add_to_all();
      add_to_all();
      _exit(shared[0] - before == 2 ? 7 : 1);
    }
    int status = 0;
    waitpid(id, &status, 0);
    right = right && WIFEXITED(status) && WEXITSTATUS(status) == 7;
  }
  stop = true;
  other.join();
  return right;
}

/// A thread of the kernel's that is listed with the process's own and takes no signal.
bool works_beside_a_thread_of_the_kernels() {
  io_uring_params asked = {};
  asked.flags = IORING_SETUP_SQPOLL;
  asked.sq_thread_idle = 60'000;
  if (syscall(SYS_io_uring_setup, 1, &asked) < 0) {
    std::printf("no io_uring: %s\n", std::strerror(errno));
    return true;
  }
  long committed = 0;
  for (int round = 0; round < 100; ++round) {
    if (_xbegin() != _XBEGIN_STARTED) continue;
    shared[0] = shared[0] + 1;
    _xend();
    ++committed;
  }
  std::printf("committed %ld\n", committed);
  return committed == 100;
}

}  // namespace

subject_cases thread_cases() {
  return {{"is_atomic_to_lock_holders", is_atomic_to_lock_holders},
          {"is_atomic_to_readers_without_a_lock", is_atomic_to_readers_without_a_lock},
          {"stops_threads_that_block_signals", stops_threads_that_block_signals},
          {"lets_sleepers_be_woken", lets_sleepers_be_woken},
          {"starts_and_ends_threads", starts_and_ends_threads},
          {"works_in_a_child", works_in_a_child},
          {"works_beside_a_thread_of_the_kernels", works_beside_a_thread_of_the_kernels}};
}

}  // namespace unlatch::probe::testing
