// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstring>

#include "subject.hpp"

namespace unlatch::probe::testing {
namespace {

volatile long value = 1;
volatile sig_atomic_t handled = 0;
volatile sig_atomic_t handled_inside = 0;
sigjmp_buf back;

bool transaction_of(long work) {
  if (_xbegin() != _XBEGIN_STARTED) return false;
  for (long i = 0; i < work; ++i) value = value + 1;
  _xend();
  return true;
}

/// Signals that arrive during a transaction are handled after it.
bool handles_signals_afterwards() {
  struct sigaction action = {};
  action.sa_handler = [](int) {
    handled = handled + 1;
    if (_xtest()) handled_inside = handled_inside + 1;
  };
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 300}, {0, 300}};
  setitimer(ITIMER_REAL, &often, nullptr);
  long committed = 0;
  for (int i = 0; i < 100'000 && handled < 20; ++i) committed += transaction_of(50);
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  std::printf("handled %d\n", static_cast<int>(handled));
  return handled >= 20 && handled_inside == 0 && value == 1 + 50 * committed;
}

bool runs_in_a_handler() {
  struct sigaction action = {};
  action.sa_handler = [](int) { handled = transaction_of(3); };
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  return handled == 1 && value == 4;
}

/// Which signal `act` raised, by way of the handler; 0 if none.
template <class Act>
int signal_of(Act act) {
  handled = 0;
  if (sigsetjmp(back, 1) == 0) act();
  return handled;
}

/// What it installs for the emulator's signals is called for faults of its own, and told.
bool keeps_its_own_handlers() {
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int number, siginfo_t*, void*) {
    handled = number;
    siglongjmp(back, 1);
  };
  int wrong = 0;
  for (const int number : {SIGSEGV, SIGILL, SIGFPE, SIGBUS, SIGTRAP}) {
    struct sigaction told = {};
    sigaction(number, &action, nullptr);
    sigaction(number, nullptr, &told);
    wrong += told.sa_sigaction != action.sa_sigaction || (told.sa_flags & SA_SIGINFO) == 0;
    wrong += signal_of([number] { raise(number); }) != number;
  }
  wrong += signal_of([] { *nowhere = 1; }) != SIGSEGV;
  wrong += signal_of([] { asm volatile("ud2"); }) != SIGILL;
  signal(SIGTRAP, SIG_IGN);
  raise(SIGTRAP);
  return wrong == 0 && transaction_of(1);
}

/// A fault inside aborts, whatever handler there is; the same fault outside is the handler's.
bool does_not_see_faults_inside() {
  signal(SIGSEGV, [](int) {
    handled = handled + 1;
    siglongjmp(back, 1);
  });
  const unsigned status = _xbegin();
  if (status == _XBEGIN_STARTED) {
    *nowhere = 1;
    _xend();
  }
  return aborted_with(status) && handled == 0;
}

bool ends_at_once() {
  transaction_of(1);
  _exit(0);
}

bool crashes() {
  transaction_of(1);
  *nowhere = 1;
  return true;
}

}  // namespace

subject_cases signal_cases() {
  return {{"handles_signals_afterwards", handles_signals_afterwards},
          {"runs_in_a_handler", runs_in_a_handler},
          {"keeps_its_own_handlers", keeps_its_own_handlers},
          {"does_not_see_faults_inside", does_not_see_faults_inside},
          {"ends_at_once", ends_at_once},
          {"crashes", crashes}};
}

}  // namespace unlatch::probe::testing
