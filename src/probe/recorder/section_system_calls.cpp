// SPDX-License-Identifier: Apache-2.0
#include "src/probe/recorder/section_system_calls.hpp"

#include <linux/futex.h>
#include <sys/stat.h>

#include "src/probe/engine/system_calls.hpp"

namespace unlatch::probe::recorder {
namespace {

bool is_regular_file(std::uint64_t descriptor) noexcept {
  struct stat status;
  return engine::system_call(SYS_fstat, descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

bool wakes(std::uint64_t operation) noexcept {
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_WAKE_OP:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool returns_at_once(const engine::registers& asked) noexcept {
  switch (asked.general[engine::rax]) {
    case SYS_brk:
    case SYS_clock_getres:
    case SYS_clock_gettime:
    case SYS_getcpu:
    case SYS_geteuid:
    case SYS_getpid:
    case SYS_getppid:
    case SYS_getrandom:
    case SYS_getrusage:
    case SYS_gettid:
    case SYS_gettimeofday:
    case SYS_getuid:
    case SYS_lseek:
    case SYS_madvise:
    case SYS_membarrier:
    case SYS_mmap:
    case SYS_mprotect:
    case SYS_mremap:
    case SYS_munmap:
    case SYS_sched_getaffinity:
    case SYS_sched_yield:
    case SYS_time:
    case SYS_times:
    case SYS_uname:
      return true;
    case SYS_futex:
      return wakes(asked.general[engine::rsi]);
    case SYS_fdatasync:
    case SYS_fstat:
    case SYS_fsync:
    case SYS_ftruncate:
    case SYS_pread64:
    case SYS_preadv:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_read:
    case SYS_readv:
    case SYS_sync_file_range:
    case SYS_write:
    case SYS_writev:
      return is_regular_file(asked.general[engine::rdi]);
    default:
      return false;
  }
}

}  // namespace unlatch::probe::recorder
