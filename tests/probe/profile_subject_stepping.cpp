// SPDX-License-Identifier: Apache-2.0
//
// Programs that would notice if their sections were not executed as the CPU does it: faults,
// signals, masks, forks, vector registers.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

#include "profile_subject.hpp"

pthread_mutex_t stepped_lock = PTHREAD_MUTEX_INITIALIZER;

namespace unlatch::probe::testing {
namespace {

constexpr int sections = 4000;

/// Takes the lock for `body`, often; `body` returns whether it saw what it must.
template <class Body>
bool all_hold(Body body, int count = sections) {
  bool good = true;
  for (int i = 0; i < count; ++i) {
    pthread_mutex_lock(&stepped_lock);
    good = body(i) && good;
    pthread_mutex_unlock(&stepped_lock);
  }
  return good;
}

struct code_range {
  std::uint64_t begin, end;
};
std::vector<code_range> code_of_files;

void find_code_of_files() {
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  char line[512];
  while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long begin, end;
    char rights[5];
    if (std::sscanf(line, "%lx-%lx %4s", &begin, &end, rights) != 3) continue;
    const bool in_file = std::strchr(line, '/') != nullptr || std::strstr(line, "[vdso]");
    if (rights[2] == 'x' && in_file) code_of_files.push_back({begin, end});
  }
  if (maps != nullptr) std::fclose(maps);
}

volatile int seen_signals = 0;
volatile int strange_places = 0;

/// Whether the interrupted code is what the program consists of.
void note_place(void* frame) {
  const auto ip =
      static_cast<std::uint64_t>(static_cast<ucontext_t*>(frame)->uc_mcontext.gregs[REG_RIP]);
  bool known = false;
  for (const auto& range : code_of_files) known = known || (ip >= range.begin && ip < range.end);
  if (!known) strange_places = strange_places + 1;
  seen_signals = seen_signals + 1;
}

volatile char* guarded;
constexpr std::size_t page = 4096;

void open_guarded(int, siginfo_t* info, void* frame) {
  note_place(frame);
  if (info->si_addr != guarded) _exit(3);
  mprotect(const_cast<char*>(guarded), page, PROT_READ | PROT_WRITE);
}

void handle(int number, void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigaction(number, &action, nullptr);
}

bool handles_faults() {
  find_code_of_files();
  guarded = static_cast<char*>(mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  handle(SIGSEGV, open_guarded, 0);
  struct sigaction kept = {};
  sigaction(SIGSEGV, nullptr, &kept);
  const bool good = all_hold([](int i) {
    *guarded = static_cast<char>(i);
    const bool stored = *guarded == static_cast<char>(i);
    mprotect(const_cast<char*>(guarded), page, PROT_NONE);
    return stored;
  });
  return good && seen_signals == sections && strange_places == 0 &&
         kept.sa_sigaction == open_guarded && !(kept.sa_flags & SA_RESETHAND);
}

bool handles_signals() {
  find_code_of_files();
  handle(
      SIGALRM, [](int, siginfo_t*, void* frame) { note_place(frame); }, SA_RESTART);
  const itimerval often{{0, 100}, {0, 100}};
  setitimer(ITIMER_REAL, &often, nullptr);
  volatile long sum = 0;
  bool good = true;
  // So many that some would come while a copy of an instruction runs, were they let in.
  while (good && seen_signals < 3000) {
    good = all_hold(
        [&sum](int) {
          for (int i = 0; i < 100; ++i) sum = sum + 1;
          return true;
        },
        100);
  }
  return good && strange_places == 0;
}

/// A read that nothing but a signal ends.
bool is_interrupted_in_system_calls() {
  handle(
      SIGALRM, [](int, siginfo_t*, void*) { seen_signals = seen_signals + 1; }, 0);
  int ends[2];
  if (pipe(ends) != 0) return false;
  const itimerval often{{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  return all_hold(
      [ends](int) {
        char byte;
        return read(ends[0], &byte, 1) == -1 && errno == EINTR;
      },
      100);
}

bool sees_its_own_signal_mask() {
  sigset_t mine;
  sigemptyset(&mine);
  sigaddset(&mine, SIGUSR1);
  sigprocmask(SIG_SETMASK, &mine, nullptr);
  return all_hold([](int) {
    sigset_t now;
    sigprocmask(SIG_BLOCK, nullptr, &now);
    return sigismember(&now, SIGUSR1) == 1 && sigismember(&now, SIGUSR2) == 0;
  });
}

bool forks_in_sections() {
  return all_hold(
      [](int) {
        const pid_t child = fork();
        if (child == 0) {
          pthread_mutex_unlock(&stepped_lock);
          _exit(all_hold([](int) { return true; }, 50) ? 0 : 1);
        }
        int status = 1;
        return waitpid(child, &status, 0) == child && status == 0;
      },
      100);
}

bool takes_the_lock_again() {
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&stepped_lock, &recursive);
  volatile int depth = 0;
  return all_hold([&depth](int) {
    pthread_mutex_lock(&stepped_lock);
    depth = depth + 1;
    pthread_mutex_unlock(&stepped_lock);
    depth = depth - 1;
    return depth == 0;
  });
}

bool computes() {
  return all_hold([](int i) {
    char text[64];
    std::snprintf(text, sizeof text, "%.3f %d", i / 7.0, i);
    double number = 0;
    int same = -1;
    if (std::sscanf(text, "%lf %d", &number, &same) != 2 || same != i) return false;
    std::vector<double> values(20);
    std::iota(values.begin(), values.end(), number);
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    return sum > 20 * number + 189.9 && sum < 20 * number + 190.1;
  });
}

/// What can no longer be caught ends the process as ever.
bool ends_by_a_fault_in_a_section() {
  volatile int* volatile nowhere = nullptr;
  all_hold([nowhere](int i) {
    if (i == sections - 1) *nowhere = 1;
    return true;
  });
  return false;
}

}  // namespace

profiled_cases stepping_cases() {
  return {{"handles_faults", handles_faults},
          {"handles_signals", handles_signals},
          {"is_interrupted_in_system_calls", is_interrupted_in_system_calls},
          {"sees_its_own_signal_mask", sees_its_own_signal_mask},
          {"forks_in_sections", forks_in_sections},
          {"takes_the_lock_again", takes_the_lock_again},
          {"computes", computes},
          {"ends_by_a_fault_in_a_section", ends_by_a_fault_in_a_section}};
}

}  // namespace unlatch::probe::testing
