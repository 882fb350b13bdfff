// SPDX-License-Identifier: Apache-2.0
//
// syscall(), by which programs reach what the C library has no function for: futex above all.
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <ctime>

#include "lab/runtime/kernel_call.hpp"
#include "lab/runtime/os/clock_times.hpp"
#include "lab/runtime/os/complain.hpp"
#include "lab/runtime/os/futex.hpp"
#include "lab/runtime/os/interpose.hpp"
#include "lab/runtime/os/memory_access.hpp"
#include "lab/runtime/os/processors.hpp"
#include "lab/runtime/os/run_state.hpp"

using namespace unlatch::lab;      // NOLINT(google-build-using-namespace): definitions only
using namespace unlatch::lab::os;  // NOLINT(google-build-using-namespace)

namespace {

struct arguments {
  long values[6];

  template <typename T>
  T* pointer(int which) const noexcept {
    return reinterpret_cast<T*>(values[which]);  // NOLINT(performance-no-int-to-ptr)
  }
  std::uint32_t word(int which) const noexcept { return static_cast<std::uint32_t>(values[which]); }
};

/// The timeout of a wait; null: none. FUTEX_WAIT gives a span, FUTEX_WAIT_BITSET a moment.
cycles futex_deadline(int operation, const timespec* timeout) noexcept {
  if (timeout == nullptr) return futex::never;
  const timespec copy = read(*timeout);
  if ((operation & FUTEX_CMD_MASK) == FUTEX_WAIT) return deadline_after(copy);
  const bool real = (operation & FUTEX_CLOCK_REALTIME) != 0;
  return deadline_at(real ? CLOCK_REALTIME : CLOCK_MONOTONIC, copy);
}

/// Negative errno or the result, as the kernel answers.
long do_futex(const arguments& given) noexcept {
  auto* const word = given.pointer<std::uint32_t>(0);
  const auto operation = static_cast<int>(given.values[1]);
  const std::uint32_t value = given.word(2);
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET: {
      const bool chosen = (operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
      leave_transaction();
      const waiting_for reason(reason::futex, word);
      return -futex::wait(word, value, futex_deadline(operation, given.pointer<timespec>(3)),
                          chosen ? given.word(5) : futex::any_bits);
    }
    case FUTEX_WAKE:
      return futex::wake(word, value);
    case FUTEX_WAKE_BITSET:
      return futex::wake(word, value, given.word(5));
    case FUTEX_CMP_REQUEUE:
    case FUTEX_REQUEUE: {
      scheduler::enter_kernel();
      const bool compare = (operation & FUTEX_CMD_MASK) == FUTEX_CMP_REQUEUE;
      if (compare && futex_word(word).load() != given.word(5)) return -EAGAIN;
      return futex::requeue(word, value, given.pointer<void>(4), given.word(3));
    }
    default:
      stop("futex operation %d is not simulated", operation & FUTEX_CMD_MASK);
  }
}

/// Every access of the simulated machine is in order already; what remains is what it costs. The
/// expedited form interrupts the other CPUs, which ends their transactions.
long do_membarrier(int command) noexcept {
  scheduler::enter_kernel();
  if (command == MEMBARRIER_CMD_QUERY) {
    return MEMBARRIER_CMD_GLOBAL | MEMBARRIER_CMD_PRIVATE_EXPEDITED |
           MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
  }
  if (command == MEMBARRIER_CMD_PRIVATE_EXPEDITED) interrupt_other_cpus();
  return 0;
}

long simulated(long number, const arguments& given) noexcept {
  switch (number) {
    case SYS_futex:
      return do_futex(given);
    case SYS_membarrier:
      return do_membarrier(static_cast<int>(given.values[0]));
    case SYS_sched_yield:
      return sched_yield();
    case SYS_gettid:
      return gettid();
    case SYS_getpid:
      return getpid();
    case SYS_getcpu: {
      auto* const cpu = given.pointer<unsigned>(0);
      auto* const node = given.pointer<unsigned>(1);
      scheduler::enter_kernel();
      if (cpu != nullptr) write(*cpu, scheduler::cpu());
      if (node != nullptr) write(*node, machine().socket_of(scheduler::cpu()));
      return 0;
    }
    default: {
      scheduler::enter_kernel();
      const long* const v = given.values;
      return kernel_call(number, v[0], v[1], v[2], v[3], v[4], v[5]);
    }
  }
}

}  // namespace

UNLATCH_LAB_INTERPOSE long syscall(long number, ...) noexcept {
  arguments given;
  std::va_list list;
  va_start(list, number);
  for (long& each : given.values) each = va_arg(list, long);
  va_end(list);
  const long* const v = given.values;
  const long result = host_mode() ? kernel_call(number, v[0], v[1], v[2], v[3], v[4], v[5])
                                  : simulated(number, given);
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}
