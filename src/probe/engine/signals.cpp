// SPDX-License-Identifier: Apache-2.0
#include "src/probe/engine/signals.hpp"

#include <errno.h>
#include <ucontext.h>

#include "src/probe/engine/context.hpp"
#include "src/probe/engine/patch.hpp"
#include "src/probe/engine/program_memory.hpp"
#include "src/probe/engine/slots.hpp"
#include "src/probe/engine/system_calls.hpp"
#include "src/probe/engine/transaction.hpp"

// The kernel returns from a handler to this. Debuggers know a signal's frame by these bytes.
asm(R"(
  .text
  .type unlatch_restore_after_signal, @function
  .hidden unlatch_restore_after_signal
unlatch_restore_after_signal:
  .byte 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00
  syscall
)");
extern "C" __attribute__((visibility("hidden"))) void unlatch_restore_after_signal();

namespace unlatch::probe::engine {
namespace {

constexpr std::uint64_t sa_restorer = 0x0400'0000;
constexpr int fault_signals[] = {SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGTRAP};
constexpr unsigned known_signals = 65;

kernel_action program_actions[known_signals];
std::uint32_t actions_lock;

/// Blocks all signals while it lives, so that no handler waits for a lock of its own thread.
class locked_actions {
 public:
  locked_actions() noexcept {
    const std::uint64_t all = ~std::uint64_t{0};
    system_call(SYS_rt_sigprocmask, long{SIG_SETMASK}, &all, &before_, sizeof all);
    while (__atomic_exchange_n(&actions_lock, 1, __ATOMIC_ACQUIRE) != 0) {
      system_call(SYS_sched_yield);
    }
  }
  ~locked_actions() {
    __atomic_store_n(&actions_lock, 0u, __ATOMIC_RELEASE);
    system_call(SYS_rt_sigprocmask, long{SIG_SETMASK}, &before_, nullptr, sizeof before_);
  }
  locked_actions(const locked_actions&) = delete;
  locked_actions& operator=(const locked_actions&) = delete;

 private:
  std::uint64_t before_ = 0;
};

void set_action(int number, const kernel_action& action, kernel_action* before) noexcept {
  system_call(SYS_rt_sigaction, long{number}, &action, before, sizeof action.mask);
}

template <class Handler>
bool is_handler(const kernel_action& action, Handler value) noexcept {
  return reinterpret_cast<std::uintptr_t>(action.handler) ==
         reinterpret_cast<std::uintptr_t>(value);
}

// Where general registers lie in a ucontext, by their number in an instruction's encoding.
constexpr int place_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                              REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                              REG_R12, REG_R13, REG_R14, REG_R15};

std::uint64_t& mask_of(ucontext_t& interrupted) noexcept {
  return *reinterpret_cast<std::uint64_t*>(&interrupted.uc_sigmask);
}

/// Ends the process as the signal does that nobody handles: at once if it was sent, else when the
/// instruction is executed again.
void die_of(int number, const siginfo_t& info) noexcept {
  set_action(number, {nullptr, sa_restorer, unlatch_restore_after_signal, 0}, nullptr);
  if (info.si_code <= 0) {
    system_call(SYS_tgkill, long{process_id()}, long{thread_id()}, long{number});
  }
}

/// Does what would have happened without the engine.
void pass_on(int number, siginfo_t* info, ucontext_t& interrupted) noexcept {
  kernel_action action;
  {
    const locked_actions lock;
    action = program_actions[number];
    if (action.flags & SA_RESETHAND) program_actions[number] = {};
  }
  const bool sent = info->si_code <= 0;
  if (is_handler(action, SIG_IGN) && sent) return;
  if (is_handler(action, SIG_IGN) || is_handler(action, SIG_DFL)) return die_of(number, *info);
  std::uint64_t during = mask_of(interrupted) | action.mask;
  if (!(action.flags & SA_NODEFER)) during |= signal_bit(number);
  system_call(SYS_rt_sigprocmask, long{SIG_SETMASK}, &during, nullptr, sizeof during);
  action.handler(number, info, &interrupted);
}

enum class rtm_instruction : std::uint8_t { none, begin, end, abort, test };

rtm_instruction rtm_instruction_at(std::uint64_t ip) noexcept {
  const auto* const code = reinterpret_cast<const std::uint8_t*>(ip);
  if (code[0] == 0xc7 && code[1] == 0xf8) return rtm_instruction::begin;
  if (code[0] == 0xc6 && code[1] == 0xf8) return rtm_instruction::abort;
  if (code[0] != 0x0f || code[1] != 0x01) return rtm_instruction::none;
  if (code[2] == 0xd5) return rtm_instruction::end;
  return code[2] == 0xd6 ? rtm_instruction::test : rtm_instruction::none;
}

void enter_engine(ucontext_t& interrupted) noexcept {
  auto& words = interrupted.uc_mcontext.gregs;
  registers from;
  for (unsigned i = 0; i < 16; ++i) {
    from.general[i] = static_cast<std::uint64_t>(words[place_of[i]]);
  }
  from.ip = static_cast<std::uint64_t>(words[REG_RIP]);
  from.flags = static_cast<std::uint64_t>(words[REG_EFL]);
  own_engine(from, mask_of(interrupted));
  mask_of(interrupted) = mask_in_transactions;
  words[REG_RIP] = reinterpret_cast<greg_t>(&unlatch_enter_engine);
}

void on_illegal_instruction(int number, siginfo_t* info, void* frame) noexcept {
  auto& interrupted = *static_cast<ucontext_t*>(frame);
  auto& words = interrupted.uc_mcontext.gregs;
  const auto ip = static_cast<std::uint64_t>(words[REG_RIP]);
  if (info->si_code <= 0) return pass_on(number, info, interrupted);
  switch (rtm_instruction_at(ip)) {
    case rtm_instruction::begin:
      return enter_engine(interrupted);
    case rtm_instruction::abort:  // outside of a transaction: nothing
      words[REG_RIP] += 3;
      return;
    case rtm_instruction::test: {
      auto flags = static_cast<std::uint64_t>(words[REG_EFL]);
      flags = (flags & ~flag::arithmetic) | flag::zero;
      words[REG_EFL] = static_cast<greg_t>(flags);
      words[REG_RIP] += 3;
      return;
    }
    case rtm_instruction::end:  // outside of a transaction: a general protection fault
      info->si_signo = SIGSEGV;
      info->si_code = SI_KERNEL;
      return pass_on(SIGSEGV, info, interrupted);
    case rtm_instruction::none:
      break;
  }
  if (replacement_at(ip) == replacement::trap) return enter_engine(interrupted);
  if (replacement_at(ip) == replacement::jump) return;  // another thread has put it there since
  pass_on(number, info, interrupted);
}

void on_fault(int number, siginfo_t* info, void* frame) noexcept {
  auto& interrupted = *static_cast<ucontext_t*>(frame);
  auto& words = interrupted.uc_mcontext.gregs;
  const auto ip = static_cast<std::uint64_t>(words[REG_RIP]);
  if (info->si_code > 0 && (in_slot(ip) || accesses_program_memory(ip))) {
    abort_after_fault();
    words[REG_RIP] = reinterpret_cast<greg_t>(&unlatch_enter_engine);
    return;
  }
  if (number == SIGILL) return on_illegal_instruction(number, info, frame);
  pass_on(number, info, interrupted);
}

/// Whether the thread was in a system call that the signal ended, or that will be made again.
bool was_in_system_call(const ucontext_t& interrupted) noexcept {
  const auto* const code =
      reinterpret_cast<const std::uint8_t*>(interrupted.uc_mcontext.gregs[REG_RIP]);
  const auto is_system_call = [](const std::uint8_t* at) { return at[0] == 0x0f && at[1] == 0x05; };
  if (is_system_call(code)) return true;
  return interrupted.uc_mcontext.gregs[REG_RAX] == -EINTR && is_system_call(code - 2);
}

void on_stop(int, siginfo_t*, void* frame) noexcept {
  on_stop_signal(was_in_system_call(*static_cast<ucontext_t*>(frame)));
}

}  // namespace

void install_handlers() noexcept {
  const kernel_action fault{on_fault, SA_SIGINFO | SA_ONSTACK | sa_restorer,
                            unlatch_restore_after_signal, mask_in_transactions};
  for (const int number : fault_signals) set_action(number, fault, &program_actions[number]);
  const kernel_action stop{on_stop, SA_SIGINFO | SA_ONSTACK | SA_RESTART | sa_restorer,
                           unlatch_restore_after_signal, ~kept_signals};
  set_action(stop_signal, stop, &program_actions[stop_signal]);
}

bool is_kept(int number) noexcept {
  return number > 0 && number < static_cast<int>(known_signals) &&
         (kept_signals & signal_bit(number)) != 0;
}

void change_program_action(int number, const kernel_action* to, kernel_action* before) noexcept {
  const locked_actions lock;
  if (before != nullptr) *before = program_actions[number];
  if (to != nullptr) program_actions[number] = *to;
}

}  // namespace unlatch::probe::engine
