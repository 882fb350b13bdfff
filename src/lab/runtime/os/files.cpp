// SPDX-License-Identifier: Apache-2.0
//
// Files: the host's. A call aborts a running transaction, costs a system call, and then happens for
// real, at once: the simulated machine has no disk, so reading, writing and syncing take no longer.
//
// The compiler pass tells the machine of the buffers of read, write, pread and pwrite before the
// call; what else the kernel writes into the program's memory is told of here.
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "lab/runtime/os/clock_times.hpp"
#include "lab/runtime/os/interpose.hpp"
#include "lab/runtime/os/memory_access.hpp"

using namespace unlatch::lab;      // NOLINT(google-build-using-namespace): definitions only
using namespace unlatch::lab::os;  // NOLINT(google-build-using-namespace)

namespace {

/// An out-parameter of the kernel's.
template <typename T>
void will_fill(T* result) noexcept {
  if (result != nullptr && !host_mode()) will_write(result, sizeof *result);
}

/// The kernel's generators as files: what a simulated program reads from them is its run's.
constexpr int most_files = 4096;
bool is_random[most_files];

int opened(int file, const char* path) noexcept {
  if (file < 0 || file >= most_files) return file;
  is_random[file] = !host_mode() && (std::strcmp(path, "/dev/urandom") == 0 ||
                                     std::strcmp(path, "/dev/random") == 0);
  return file;
}

/// When a file was changed is the host's time: all are as old as the simulated machine.
int without_times(int error, struct stat* result) noexcept {
  if (error == 0 && !host_mode()) {
    result->st_atim = result->st_mtim = result->st_ctim = {start_of_time, 0};
  }
  return error;
}

}  // namespace

/// Defines a function that is a system call and writes nothing of the program's memory: its result
/// type, name, parameters and arguments, and `noexcept` where the C library says so.
#define UNLATCH_LAB_SYSTEM_CALL(type, name, parameters, arguments, specification) \
  UNLATCH_LAB_INTERPOSE type name parameters specification {                      \
    scheduler::enter_kernel();                                                    \
    return UNLATCH_LAB_HOST(name) arguments;                                      \
  }                                                                               \
  static_assert(true, "takes the semicolon")

/// The same with an out-parameter `result`.
#define UNLATCH_LAB_SYSTEM_CALL_FILLS(type, name, parameters, arguments, specification) \
  UNLATCH_LAB_INTERPOSE type name parameters specification {                            \
    scheduler::enter_kernel();                                                          \
    will_fill(result);                                                                  \
    return UNLATCH_LAB_HOST(name) arguments;                                            \
  }                                                                                     \
  static_assert(true, "takes the semicolon")

UNLATCH_LAB_SYSTEM_CALL(int, close, (int file), (file), );
UNLATCH_LAB_SYSTEM_CALL(int, fsync, (int file), (file), );
UNLATCH_LAB_SYSTEM_CALL(int, fdatasync, (int file), (file), );
UNLATCH_LAB_SYSTEM_CALL(ssize_t, write, (int file, const void* from, size_t size),
                        (file, from, size), );
UNLATCH_LAB_SYSTEM_CALL(ssize_t, pread, (int file, void* to, size_t size, off_t at),
                        (file, to, size, at), );
UNLATCH_LAB_SYSTEM_CALL(ssize_t, pwrite, (int file, const void* from, size_t size, off_t at),
                        (file, from, size, at), );
UNLATCH_LAB_SYSTEM_CALL(ssize_t, writev, (int file, const iovec* from, int count),
                        (file, from, count), );
UNLATCH_LAB_SYSTEM_CALL(off_t, lseek, (int file, off_t by, int from), (file, by, from), noexcept);
UNLATCH_LAB_SYSTEM_CALL(int, ftruncate, (int file, off_t size), (file, size), noexcept);
UNLATCH_LAB_SYSTEM_CALL(int, truncate, (const char* path, off_t size), (path, size), noexcept);
UNLATCH_LAB_SYSTEM_CALL(int, fallocate, (int file, int how, off_t at, off_t size),
                        (file, how, at, size), );
UNLATCH_LAB_SYSTEM_CALL(int, flock, (int file, int how), (file, how), noexcept);
UNLATCH_LAB_SYSTEM_CALL(int, access, (const char* path, int how), (path, how), noexcept);
UNLATCH_LAB_SYSTEM_CALL(int, unlink, (const char* path), (path), noexcept);
UNLATCH_LAB_SYSTEM_CALL(int, rmdir, (const char* path), (path), noexcept);
UNLATCH_LAB_SYSTEM_CALL(int, mkdir, (const char* path, mode_t mode), (path, mode), noexcept);
UNLATCH_LAB_SYSTEM_CALL(int, link, (const char* path, const char* to), (path, to), noexcept);
UNLATCH_LAB_SYSTEM_CALL(int, rename, (const char* path, const char* to), (path, to), noexcept);
UNLATCH_LAB_SYSTEM_CALL(int, remove, (const char* path), (path), noexcept);
UNLATCH_LAB_SYSTEM_CALL(int, chdir, (const char* path), (path), noexcept);
UNLATCH_LAB_SYSTEM_CALL(int, dup, (int file), (file), noexcept);
UNLATCH_LAB_SYSTEM_CALL(uid_t, getuid, (), (), noexcept);
UNLATCH_LAB_SYSTEM_CALL(uid_t, geteuid, (), (), noexcept);
UNLATCH_LAB_SYSTEM_CALL(DIR*, opendir, (const char* path), (path), );
UNLATCH_LAB_SYSTEM_CALL(int, closedir, (DIR * directory), (directory), );
UNLATCH_LAB_SYSTEM_CALL_FILLS(int, getrlimit, (__rlimit_resource_t which, rlimit* result),
                              (which, result), noexcept);

UNLATCH_LAB_INTERPOSE ssize_t read(int file, void* to, size_t size) {
  scheduler::enter_kernel();
  if (!host_mode() && file >= 0 && file < most_files && is_random[file]) {
    return getrandom(to, size, 0);
  }
  return UNLATCH_LAB_HOST(read)(file, to, size);
}

UNLATCH_LAB_INTERPOSE int stat(const char* __restrict path,
                               struct stat* __restrict result) noexcept {
  scheduler::enter_kernel();
  will_fill(result);
  return without_times(UNLATCH_LAB_HOST(stat)(path, result), result);
}

UNLATCH_LAB_INTERPOSE int lstat(const char* __restrict path,
                                struct stat* __restrict result) noexcept {
  scheduler::enter_kernel();
  will_fill(result);
  return without_times(UNLATCH_LAB_HOST(lstat)(path, result), result);
}

UNLATCH_LAB_INTERPOSE int fstat(int file, struct stat* result) noexcept {
  scheduler::enter_kernel();
  will_fill(result);
  return without_times(UNLATCH_LAB_HOST(fstat)(file, result), result);
}

/// Reads from the C library's own buffer, so it costs no system call, but it cannot be undone.
UNLATCH_LAB_INTERPOSE dirent* readdir(DIR* directory) {
  leave_transaction();
  scheduler::charge(50);
  dirent* const entry = UNLATCH_LAB_HOST(readdir)(directory);
  return entry;
}

UNLATCH_LAB_INTERPOSE int open(const char* path, int flags, ...) {
  std::va_list list;
  va_start(list, flags);
  const mode_t mode = va_arg(list, mode_t);
  va_end(list);
  scheduler::enter_kernel();
  return opened(UNLATCH_LAB_HOST(open)(path, flags, mode), path);
}

UNLATCH_LAB_INTERPOSE int openat(int directory, const char* path, int flags, ...) {
  std::va_list list;
  va_start(list, flags);
  const mode_t mode = va_arg(list, mode_t);
  va_end(list);
  scheduler::enter_kernel();
  return opened(UNLATCH_LAB_HOST(openat)(directory, path, flags, mode), path);
}

UNLATCH_LAB_INTERPOSE int fcntl(int file, int command, ...) {
  std::va_list list;
  va_start(list, command);
  void* const argument = va_arg(list, void*);
  va_end(list);
  scheduler::enter_kernel();
  return UNLATCH_LAB_HOST(fcntl)(file, command, argument);
}

UNLATCH_LAB_INTERPOSE int ioctl(int file, unsigned long request, ...) noexcept {
  using function = int (*)(int, unsigned long, ...);
  static const auto host = reinterpret_cast<function>(host_symbol("ioctl"));
  std::va_list list;
  va_start(list, request);
  void* const argument = va_arg(list, void*);
  va_end(list);
  scheduler::enter_kernel();
  return host(file, request, argument);
}
