// SPDX-License-Identifier: Apache-2.0
//
// The object that `unlatch emulate` loads into a program: starts the engine before anything of the
// program runs, and keeps the signals that the engine lives by from being blocked or taken away.
//
// Does nothing where the environment names no area (emulation_area.hpp).
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/probe/emulation_area.hpp"
#include "src/probe/engine/instruction.hpp"
#include "src/probe/engine/signals.hpp"
#include "src/probe/engine/system_calls.hpp"
#include "src/probe/engine/transaction.hpp"
#include "src/probe/engine/vector_state.hpp"

namespace unlatch::probe {

const char engine::complaint_prefix[] = "unlatch emulate: ";

namespace {

#define UNLATCH_EXPORTED extern "C" __attribute__((visibility("default")))

/// The value of area_variable; null if there is none.
const char* area_named_in(char** environment) noexcept {
  constexpr unsigned length = sizeof area_variable - 1;
  for (; *environment != nullptr; ++environment) {
    unsigned i = 0;
    while (i < length && (*environment)[i] == area_variable[i]) ++i;
    if (i == length && (*environment)[i] == '=') return *environment + i + 1;
  }
  return nullptr;
}

emulation_area* map_area(const char* file) noexcept {
  const int descriptor = open(file, O_RDWR | O_CLOEXEC);
  void* const mapped = descriptor < 0 ? MAP_FAILED
                                      : mmap(nullptr, sizeof(emulation_area),
                                             PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (descriptor >= 0) close(descriptor);
  auto* const area = mapped == MAP_FAILED ? nullptr : static_cast<emulation_area*>(mapped);
  if (area == nullptr || area->magic != emulation_area::magic_number) {
    engine::complain("a program cannot reach the memory shared with it; it runs as it is");
    return nullptr;
  }
  return area;
}

bool start(const char* file) noexcept {
  emulation_area* const area = map_area(file);
  if (area == nullptr) return false;
  if (!engine::prepare_vector_state()) {
    engine::complain("this CPU has vector registers that the emulator does not know");
    return false;
  }
  engine::prepare_decoder();
  engine::prepare_transactions(*area);
  engine::install_handlers();
  area->processes.fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool started = false;

// The constructors of other objects may already execute XBEGIN: this object is linked so that its
// own run first, before libc's, which is why the environment comes as an argument.
[[gnu::constructor(101)]] void start_before_all_others(int, char**, char** environment) noexcept {
  const char* const file = area_named_in(environment);
  started = file != nullptr && start(file);
}

template <class Function>
Function* next_of(const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::uint64_t& word_of(sigset_t& set) noexcept { return *reinterpret_cast<std::uint64_t*>(&set); }

int change_mask(const char* name, int how, const sigset_t* set, sigset_t* before) noexcept {
  auto* const next = next_of<int(int, const sigset_t*, sigset_t*)>(name);
  if (set == nullptr || how == SIG_UNBLOCK || !started) return next(how, set, before);
  sigset_t allowed = *set;
  word_of(allowed) &= ~engine::kept_signals;
  return next(how, &allowed, before);
}

engine::kernel_action to_kernel(const struct sigaction& action) noexcept {
  sigset_t mask = action.sa_mask;
  return {action.sa_sigaction, static_cast<std::uint64_t>(action.sa_flags), nullptr,
          word_of(mask) & ~engine::kept_signals};
}

struct sigaction to_libc(const engine::kernel_action& action) noexcept {
  struct sigaction result = {};
  result.sa_sigaction = action.handler;
  result.sa_flags = static_cast<int>(action.flags);
  word_of(result.sa_mask) = action.mask;
  return result;
}

}  // namespace

/// Whether this process runs under the emulator, which is ready on return. The library asks this,
/// because CPUID cannot be made to show RTM (htm.hpp).
UNLATCH_EXPORTED bool unlatch_emulates_rtm() noexcept { return started; }

UNLATCH_EXPORTED int sigaction(int number, const struct sigaction* to, struct sigaction* before) {
  if (!started || !engine::is_kept(number)) {
    static auto* const next =
        next_of<int(int, const struct sigaction*, struct sigaction*)>("sigaction");
    if (to == nullptr || !started) return next(number, to, before);
    struct sigaction allowed = *to;
    word_of(allowed.sa_mask) &= ~engine::kept_signals;
    return next(number, &allowed, before);
  }
  engine::kernel_action wanted = {}, old = {};
  if (to != nullptr) wanted = to_kernel(*to);
  engine::change_program_action(number, to == nullptr ? nullptr : &wanted, &old);
  if (before != nullptr) *before = to_libc(old);
  return 0;
}

UNLATCH_EXPORTED sighandler_t signal(int number, sighandler_t handler) {
  struct sigaction to = {}, before = {};
  to.sa_handler = handler;
  to.sa_flags = SA_RESTART;
  if (started && engine::is_kept(number)) {
    return sigaction(number, &to, &before) == 0 ? before.sa_handler : SIG_ERR;
  }
  static auto* const next = next_of<sighandler_t(int, sighandler_t)>("signal");
  return next(number, handler);
}

UNLATCH_EXPORTED int sigprocmask(int how, const sigset_t* set, sigset_t* before) {
  return change_mask("sigprocmask", how, set, before);
}

UNLATCH_EXPORTED int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) {
  return change_mask("pthread_sigmask", how, set, before);
}

}  // namespace unlatch::probe
