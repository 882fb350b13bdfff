// SPDX-License-Identifier: Apache-2.0
//
// How many CPUs there are, which one runs, which ones a thread may use: the model's, not the
// host's.
#include "lab/runtime/os/processors.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "lab/runtime/os/interpose.hpp"
#include "lab/runtime/os/memory_access.hpp"
#include "lab/runtime/os/run_state.hpp"
#include "lab/runtime/os/thread_record.hpp"

using namespace unlatch::lab;      // NOLINT(google-build-using-namespace): definitions only
using namespace unlatch::lab::os;  // NOLINT(google-build-using-namespace)

namespace unlatch::lab::os {

void interrupt_other_cpus() noexcept { scheduler::interrupt_all(); }

}  // namespace unlatch::lab::os

namespace {

constexpr std::size_t mask_bytes = 2 * sizeof(std::uint64_t);

/// What a program calls a thread (0: itself, in the calls that take a process id) as a record.
thread_record* thread_of_id(pid_t id) noexcept;

void keep_possible(std::uint64_t (&mask)[2]) noexcept {
  std::uint64_t possible[2] = {0, 0};
  for (unsigned cpu = 0; cpu < scheduler::cpus(); ++cpu) {
    possible[cpu / 64] |= std::uint64_t{1} << cpu % 64;
  }
  for (int i = 0; i < 2; ++i) mask[i] &= possible[i];
}

int get_affinity(const thread_record& which, size_t size, cpu_set_t* set) noexcept {
  scheduler::enter_kernel();
  if (size < mask_bytes) return EINVAL;
  std::uint64_t mask[2];
  scheduler::affinity(which.scheduled, mask);
  keep_possible(mask);
  will_write(set, size);
  std::memset(set, 0, size);
  std::memcpy(set, mask, mask_bytes);
  return 0;
}

int set_affinity(const thread_record& which, size_t size, const cpu_set_t* set) noexcept {
  scheduler::enter_kernel();
  std::uint64_t mask[2] = {0, 0};
  will_read(set, size);
  std::memcpy(mask, set, size < mask_bytes ? size : mask_bytes);
  keep_possible(mask);
  if ((mask[0] | mask[1]) == 0) return EINVAL;
  scheduler::set_affinity(which.scheduled, mask);
  return 0;
}

int with_errno(int error) noexcept {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

constexpr pid_t process = 1000;  // the first thread's id, as on Linux

thread_record* thread_of_id(pid_t id) noexcept {
  if (id == 0) return &current_thread();
  return find_thread(static_cast<pthread_t>(id - process) + 1);
}

}  // namespace

UNLATCH_LAB_INTERPOSE pid_t getpid() noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(getpid)();
  scheduler::enter_kernel();
  return process;
}

UNLATCH_LAB_INTERPOSE pid_t getppid() noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(getppid)();
  scheduler::enter_kernel();
  return process - 1;
}

UNLATCH_LAB_INTERPOSE pid_t gettid() noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(gettid)();
  scheduler::enter_kernel();
  return process + static_cast<pid_t>(current_thread().number);
}

UNLATCH_LAB_INTERPOSE int sched_yield() noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(sched_yield)();
  scheduler::enter_kernel();
  scheduler::yield();
  return 0;
}

UNLATCH_LAB_INTERPOSE int sched_getcpu() noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(sched_getcpu)();
  scheduler::charge(20);  // no system call: the kernel keeps it where programs can read it
  return static_cast<int>(scheduler::cpu());
}

UNLATCH_LAB_INTERPOSE int getcpu(unsigned* cpu, unsigned* node) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(getcpu)(cpu, node);
  scheduler::charge(20);
  if (cpu != nullptr) write(*cpu, scheduler::cpu());
  if (node != nullptr) write(*node, machine().socket_of(scheduler::cpu()));
  return 0;
}

UNLATCH_LAB_INTERPOSE int sched_getaffinity(pid_t id, size_t size, cpu_set_t* set) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(sched_getaffinity)(id, size, set);
  const thread_record* const which = thread_of_id(id);
  return with_errno(which == nullptr ? ESRCH : get_affinity(*which, size, set));
}

UNLATCH_LAB_INTERPOSE int sched_setaffinity(pid_t id, size_t size, const cpu_set_t* set) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(sched_setaffinity)(id, size, set);
  const thread_record* const which = thread_of_id(id);
  return with_errno(which == nullptr ? ESRCH : set_affinity(*which, size, set));
}

UNLATCH_LAB_INTERPOSE int pthread_getaffinity_np(pthread_t name, size_t size,
                                                 cpu_set_t* set) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_getaffinity_np)(name, size, set);
  const thread_record* const which = find_thread(name);
  return which == nullptr ? ESRCH : get_affinity(*which, size, set);
}

UNLATCH_LAB_INTERPOSE int pthread_setaffinity_np(pthread_t name, size_t size,
                                                 const cpu_set_t* set) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_setaffinity_np)(name, size, set);
  const thread_record* const which = find_thread(name);
  return which == nullptr ? ESRCH : set_affinity(*which, size, set);
}

UNLATCH_LAB_INTERPOSE int get_nprocs() noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(get_nprocs)();
  scheduler::enter_kernel();
  return static_cast<int>(scheduler::cpus());
}

UNLATCH_LAB_INTERPOSE int get_nprocs_conf() noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(get_nprocs_conf)();
  scheduler::enter_kernel();
  return static_cast<int>(scheduler::cpus());
}

UNLATCH_LAB_INTERPOSE long sysconf(int what) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(sysconf)(what);
  switch (what) {
    case _SC_NPROCESSORS_ONLN:
    case _SC_NPROCESSORS_CONF:
      scheduler::enter_kernel();
      return static_cast<long>(scheduler::cpus());
    case _SC_PAGESIZE:
      return machine().system.page_bytes;
    case _SC_LEVEL1_DCACHE_SIZE:
      return machine().l1d.bytes;
    case _SC_LEVEL1_DCACHE_ASSOC:
      return machine().l1d.ways;
    case _SC_LEVEL2_CACHE_SIZE:
      return machine().l2.bytes;
    case _SC_LEVEL3_CACHE_SIZE:
      return machine().l3.bytes;
    default:
      return UNLATCH_LAB_HOST(sysconf)(what);
  }
}
