// SPDX-License-Identifier: Apache-2.0
#include "src/probe/recorder/program_handlers.hpp"

#include "src/probe/recorder/sampling.hpp"

namespace unlatch::probe::recorder {
namespace {

constexpr int known_signals = 65;
struct sigaction handlers[known_signals];
real_sigaction set_action;

bool is_fault(int number) noexcept {
  return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
         number == SIGTRAP;
}

void on_fault(int number, siginfo_t* info, void* interrupted) noexcept {
  if (info->si_code > 0 && undo_fault(interrupted)) {
    // It has been used up, but not by the program.
    if (handlers[number].sa_flags & SA_RESETHAND) {
      struct sigaction again = handlers[number];
      again.sa_sigaction = on_fault;
      again.sa_flags |= SA_SIGINFO;
      set_action(number, &again, nullptr);
    }
    return;
  }
  handlers[number].sa_sigaction(number, info, interrupted);
}

}  // namespace

int change_program_handler(real_sigaction real, int number, const struct sigaction* to,
                           struct sigaction* before) noexcept {
  set_action = real;
  if (!is_fault(number)) return real(number, to, before);
  const struct sigaction kept = handlers[number];
  struct sigaction ours;
  if (to != nullptr && to->sa_handler != SIG_DFL && to->sa_handler != SIG_IGN) {
    ours = *to;
    handlers[number] = *to;
    ours.sa_sigaction = on_fault;
    ours.sa_flags |= SA_SIGINFO;
    to = &ours;
  }
  struct sigaction was;
  const int result = real(number, to, &was);
  const bool was_ours = (was.sa_flags & SA_SIGINFO) && was.sa_sigaction == on_fault;
  if (result == 0 && before != nullptr) *before = was_ours ? kept : was;
  return result;
}

}  // namespace unlatch::probe::recorder
