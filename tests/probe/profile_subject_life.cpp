// SPDX-License-Identifier: Apache-2.0
//
// Processes and threads that begin and end in every way.
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "profile_subject.hpp"

pthread_mutex_t counted_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t cancelled_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t handlers_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;

namespace unlatch::probe::testing {
namespace {

[[gnu::noinline]] void take(int times) {
  for (int i = 0; i < times; ++i) {
    pthread_mutex_lock(&counted_lock);
    pthread_mutex_unlock(&counted_lock);
  }
}

bool ended_well(pid_t child) {
  int status = 1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool forks() {
  take(300);
  const pid_t child = fork();
  if (child == 0) {
    take(500);
    std::thread(take, 7).join();
    _exit(0);
  }
  take(20);
  return ended_well(child);
}

/// Without libc, which would tell those who asked to be told.
bool forks_by_a_system_call() {
  take(300);
  const auto child = static_cast<pid_t>(syscall(SYS_fork));
  if (child == 0) {
    take(500);
    syscall(SYS_exit_group, 0);
  }
  return ended_well(child);
}

bool executes_another() {
  take(10);
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "subject", "takes_one_often", nullptr);
    _exit(1);
  }
  return ended_well(child);
}

bool starts_and_ends_threads() {
  for (int i = 0; i < 200; ++i) std::thread(take, 10).join();
  return true;
}

bool is_killed() {
  take(1000);
  kill(getpid(), SIGKILL);
  return false;
}

bool crashes() {
  take(1000);
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
  return false;
}

/// Ends only when it is killed.
bool stays() {
  take(1000);
  for (;;) pause();
}

void give_back(void* mutex) { pthread_mutex_unlock(static_cast<pthread_mutex_t*>(mutex)); }

void* wait_for_ever(void*) {
  pthread_mutex_lock(&cancelled_lock);
  pthread_cleanup_push(give_back, &cancelled_lock);
  for (;;) pthread_cond_wait(&never, &cancelled_lock);
  pthread_cleanup_pop(1);
  return nullptr;
}

bool cancels_a_waiting_thread() {
  pthread_t thread;
  void* result = nullptr;
  pthread_create(&thread, nullptr, wait_for_ever, nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  pthread_cancel(thread);
  pthread_join(thread, &result);
  return result == PTHREAD_CANCELED && pthread_mutex_lock(&cancelled_lock) == 0;
}

/// The handler takes a lock that the interrupted code never holds.
void take_in_handler(int) {
  pthread_mutex_lock(&handlers_lock);
  pthread_mutex_unlock(&handlers_lock);
}

bool takes_locks_in_a_handler() {
  signal(SIGALRM, take_in_handler);
  const timespec soon{0, 1};
  for (int i = 0; i < 300; ++i) {
    ualarm(50, 0);
    take(200);
    nanosleep(&soon, nullptr);
  }
  return true;
}

/// As daemons do.
bool closes_all_files() {
  take(10);
  for (int i = 3; i < 1024; ++i) close(i);
  std::thread(take, 90).join();
  return true;
}

}  // namespace

profiled_cases life_cases() {
  return {{"forks", forks},
          {"forks_by_a_system_call", forks_by_a_system_call},
          {"executes_another", executes_another},
          {"starts_and_ends_threads", starts_and_ends_threads},
          {"is_killed", is_killed},
          {"crashes", crashes},
          {"stays", stays},
          {"cancels_a_waiting_thread", cancels_a_waiting_thread},
          {"takes_locks_in_a_handler", takes_locks_in_a_handler},
          {"closes_all_files", closes_all_files}};
}

}  // namespace unlatch::probe::testing
