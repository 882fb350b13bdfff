// SPDX-License-Identifier: Apache-2.0
//
// Threads as programs make them: pthread_create and what std::thread needs besides.
//
// Costs: creating is a system call, and the new thread starts a while later, as the model says.
// Joining a thread that has ended is a read of a word; else it sleeps like a futex.
//
// Not offered: cancellation. pthread_exit() runs the destructors of thread-local objects, but does
// not unwind the stack.
#include <pthread.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "lab/runtime/os/clock_times.hpp"
#include "lab/runtime/os/complain.hpp"
#include "lab/runtime/os/futex.hpp"
#include "lab/runtime/os/interpose.hpp"
#include "lab/runtime/os/memory_access.hpp"
#include "lab/runtime/os/run_state.hpp"
#include "lab/runtime/os/thread_record.hpp"
#include "lab/runtime/os/thread_storage.hpp"

using namespace unlatch::lab;      // NOLINT(google-build-using-namespace): definitions only
using namespace unlatch::lab::os;  // NOLINT(google-build-using-namespace)

namespace {

[[noreturn]] void end_thread(void* result) noexcept {
  thread_storage::destroy();
  scheduler::enter_kernel();
  thread_record& me = current_thread();
  me.ended = true;
  me.result = result;
  futex::wake_from_kernel(&me.ended, futex::everybody);
  scheduler::exit();
}

void* run_thread(void*) noexcept(false) {
  const thread_record& me = current_thread();
  while (me.entry == nullptr) {  // until its creator has filled the record in
    scheduler::charge(10);
    scheduler::yield();
  }
  end_thread(me.entry(me.argument));
}

void release(thread_record& ended) noexcept {
  thread* const gone = ended.scheduled;
  ended.scheduled = nullptr;
  scheduler::release(gone);
}

/// A thread cannot give its own stack back: if nobody joins it, the next pthread_create does.
void release_detached() noexcept {
  for (thread_record* each = detached_threads(); each != nullptr;) {
    thread_record* const next = each->next_detached;
    if (scheduler::has_exited(each->scheduled)) {
      remove_detached(*each);
      release(*each);
    }
    each = next;
  }
}

int join(pthread_t name, void** result, cycles deadline) noexcept {
  leave_transaction();
  thread_record* const other = find_thread(name);
  if (other == nullptr) return ESRCH;
  if (other->detached) return EINVAL;
  if (other == &current_thread()) return EDEADLK;
  const waiting_for reason(reason::join, other);
  while (!other->ended) {
    scheduler::enter_kernel();
    if (other->ended) break;
    if (const int error = futex::sleep_on(&other->ended, deadline)) return error;
  }
  if (result != nullptr) write(*result, other->result);
  // It has woken us, but may not have taken its last step yet.
  if (scheduler::has_exited(other->scheduled)) {
    release(*other);
  } else {
    add_detached(*other);
  }
  return 0;
}

}  // namespace

UNLATCH_LAB_INTERPOSE int pthread_create(pthread_t* name, const pthread_attr_t* attributes,
                                         void* (*entry)(void*), void* argument) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_create)(name, attributes, entry, argument);
  scheduler::enter_kernel();
  release_detached();
  int how = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) pthread_attr_getdetachstate(attributes, &how);
  thread* const made = scheduler::create(
      run_thread, nullptr, scheduler::from_nanoseconds(machine().system.thread_start_ns));
  if (made == nullptr) return EAGAIN;
  thread_record& record = record_of(made);
  if (how == PTHREAD_CREATE_DETACHED) add_detached(record);
  record.argument = argument;
  record.entry = entry;
  write(*name, name_of(record));
  return 0;
}

UNLATCH_LAB_INTERPOSE int pthread_join(pthread_t name, void** result) {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_join)(name, result);
  return join(name, result, futex::never);
}

UNLATCH_LAB_INTERPOSE int pthread_tryjoin_np(pthread_t name, void** result) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_tryjoin_np)(name, result);
  leave_transaction();
  const thread_record* const other = find_thread(name);
  if (other != nullptr && !other->ended) return EBUSY;
  return join(name, result, futex::never);
}

UNLATCH_LAB_INTERPOSE int pthread_timedjoin_np(pthread_t name, void** result,
                                               const timespec* until) {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_timedjoin_np)(name, result, until);
  return join(name, result, deadline_at(CLOCK_REALTIME, *until));
}

UNLATCH_LAB_INTERPOSE int pthread_clockjoin_np(pthread_t name, void** result, clockid_t clock,
                                               const timespec* until) {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_clockjoin_np)(name, result, clock, until);
  return join(name, result, deadline_at(clock, *until));
}

UNLATCH_LAB_INTERPOSE int pthread_detach(pthread_t name) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_detach)(name);
  leave_transaction();
  thread_record* const other = find_thread(name);
  if (other == nullptr) return ESRCH;
  if (other->detached) return EINVAL;
  add_detached(*other);
  return 0;
}

UNLATCH_LAB_INTERPOSE void pthread_exit(void* result) {
  if (host_mode()) UNLATCH_LAB_HOST(pthread_exit)(result);
  leave_transaction();
  if (current_thread().number == 0) stop("the first thread called pthread_exit()");
  end_thread(result);
}

UNLATCH_LAB_INTERPOSE pthread_t pthread_self() noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_self)();
  return name_of(current_thread());
}

UNLATCH_LAB_INTERPOSE int pthread_setname_np(pthread_t name, const char* text) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_setname_np)(name, text);
  scheduler::enter_kernel();
  return 0;
}

UNLATCH_LAB_INTERPOSE int pthread_getname_np(pthread_t name, char* text, size_t size) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_getname_np)(name, text, size);
  scheduler::enter_kernel();
  if (size == 0) return ERANGE;
  will_write(text, 1);
  text[0] = 0;
  return 0;
}

/// What needs a thread of the host's by this name does not exist here.
#define UNLATCH_LAB_MISSING(name, parameters, arguments, specification) \
  UNLATCH_LAB_INTERPOSE int name parameters specification {             \
    if (host_mode()) return UNLATCH_LAB_HOST(name) arguments;           \
    return ENOSYS;                                                      \
  }                                                                     \
  static_assert(true, "takes the semicolon")

UNLATCH_LAB_MISSING(pthread_cancel, (pthread_t name), (name), );
UNLATCH_LAB_MISSING(pthread_kill, (pthread_t name, int signal), (name, signal), noexcept);
UNLATCH_LAB_MISSING(pthread_getattr_np, (pthread_t name, pthread_attr_t* how), (name, how),
                    noexcept);
UNLATCH_LAB_MISSING(pthread_getcpuclockid, (pthread_t name, clockid_t* clock), (name, clock),
                    noexcept);
UNLATCH_LAB_MISSING(pthread_setschedparam,
                    (pthread_t name, int policy, const sched_param* parameters),
                    (name, policy, parameters), noexcept);
UNLATCH_LAB_MISSING(pthread_getschedparam, (pthread_t name, int* policy, sched_param* parameters),
                    (name, policy, parameters), noexcept);
