// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "run_subject.hpp"

namespace unlatch::probe::testing {
namespace {

pthread_mutex_t kept_over_fork = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
account money;

void change() {
  pthread_mutex_lock(&kept_over_fork);
  money.change();
  pthread_mutex_unlock(&kept_over_fork);
}

bool ends_well(pid_t child) {
  int status = 1;
  return waitpid(child, &status, 0) == child && status == 0;
}

/// The program takes its locks before a fork and releases them in both processes, while other
/// threads wait for them. In the child they work, for its threads as well.
bool forks_with_locks_held() {
  pthread_atfork([] { pthread_mutex_lock(&kept_over_fork); },
                 [] { pthread_mutex_unlock(&kept_over_fork); },
                 [] { pthread_mutex_unlock(&kept_over_fork); });
  std::atomic<bool> over{false};
  std::vector<std::thread> others;
  for (int i = 0; i < threads - 1; ++i) {
    others.emplace_back([&] {
      while (!over) change();
    });
  }
  bool kept = true;
  for (int i = 0; i < 10; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const long before = money.changes();
      run_threads(2, [](int) {
        for (int j = 0; j < 50; ++j) change();
      });
      _exit(money.has(before + 100) ? 0 : 1);
    }
    kept &= CHECK(ends_well(child));
  }
  over = true;
  for (auto& thread : others) thread.join();
  return kept && CHECK(money.is_balanced());
}

/// Somebody has waited on a condition with the mutex before.
bool forks_after_waiting() {
  bool ready = false;
  std::thread waits([&] {
    pthread_mutex_lock(&kept_over_fork);
    while (!ready) pthread_cond_wait(&changed, &kept_over_fork);
    pthread_mutex_unlock(&kept_over_fork);
  });
  pthread_mutex_lock(&kept_over_fork);
  ready = true;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&kept_over_fork);
  waits.join();
  return forks_with_locks_held();
}

/// Sections in the parent, in a child, and in a program that the child becomes.
bool has_children() {
  for (long i = 0; i < rounds; ++i) change();
  const pid_t child = fork();
  if (child == 0) {
    for (long i = 0; i < rounds; ++i) change();
    const std::string sections = std::to_string(rounds);
    execl("/proc/self/exe", "run_subject", "excludes", sections.c_str(), nullptr);
    _exit(1);
  }
  return CHECK(ends_well(child)) && CHECK(money.has(rounds));
}

/// Ends without a chance to say anything.
bool is_killed() {
  for (long i = 0; i < rounds; ++i) change();
  kill(getpid(), SIGKILL);
  return false;
}

}  // namespace

run_cases process_cases() {
  return {{"forks_with_locks_held", forks_with_locks_held},
          {"forks_after_waiting", forks_after_waiting},
          {"has_children", has_children},
          {"is_killed", is_killed}};
}

}  // namespace unlatch::probe::testing
