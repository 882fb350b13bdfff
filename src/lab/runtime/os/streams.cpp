// SPDX-License-Identifier: Apache-2.0
//
// The C library's buffered streams. They live in the host's memory, which no transaction rolls
// back, so using one aborts a transaction, as the system call that it may need would. Outside of
// one, what only moves bytes into or out of a buffer costs little; opening, closing and flushing
// are system calls.
//
// The compiler pass tells the machine of the program's buffers (fread, fwrite, fgets).
// glibc would define some of these functions inline.
#define __NO_INLINE__ 1  // NOLINT(bugprone-reserved-identifier)
#include <poll.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>

#include "lab/runtime/os/clock_times.hpp"
#include "lab/runtime/os/interpose.hpp"
#include "lab/runtime/os/memory_access.hpp"

using namespace unlatch::lab;      // NOLINT(google-build-using-namespace): definitions only
using namespace unlatch::lab::os;  // NOLINT(google-build-using-namespace)

namespace {

void use_buffer() noexcept {
  leave_transaction();
  scheduler::charge(30);
}

void format() noexcept {
  leave_transaction();
  scheduler::charge(300);
}

}  // namespace

/// Defines a function that begins with `what` and then is the host's.
#define UNLATCH_LAB_STREAM(what, type, name, parameters, arguments) \
  UNLATCH_LAB_INTERPOSE type name parameters {                      \
    what();                                                         \
    return UNLATCH_LAB_HOST(name) arguments;                        \
  }                                                                 \
  static_assert(true, "takes the semicolon")

UNLATCH_LAB_STREAM(scheduler::enter_kernel, FILE*, fopen,
                   (const char* __restrict path, const char* __restrict how), (path, how));
UNLATCH_LAB_STREAM(scheduler::enter_kernel, int, fclose, (FILE * stream), (stream));
UNLATCH_LAB_STREAM(scheduler::enter_kernel, int, fflush, (FILE * stream), (stream));
UNLATCH_LAB_STREAM(scheduler::enter_kernel, void, perror, (const char* text), (text));
UNLATCH_LAB_STREAM(use_buffer, size_t, fread,
                   (void* __restrict to, size_t size, size_t count, FILE* __restrict stream),
                   (to, size, count, stream));
UNLATCH_LAB_STREAM(use_buffer, size_t, fwrite,
                   (const void* __restrict from, size_t size, size_t count,
                    FILE* __restrict stream),
                   (from, size, count, stream));
UNLATCH_LAB_STREAM(use_buffer, char*, fgets,
                   (char* __restrict to, int size, FILE* __restrict stream), (to, size, stream));
UNLATCH_LAB_STREAM(use_buffer, int, fputs, (const char* __restrict text, FILE* __restrict stream),
                   (text, stream));
UNLATCH_LAB_STREAM(use_buffer, int, fputc, (int byte, FILE* stream), (byte, stream));
UNLATCH_LAB_STREAM(use_buffer, int, putc, (int byte, FILE* stream), (byte, stream));
UNLATCH_LAB_STREAM(use_buffer, int, putchar, (int byte), (byte));
UNLATCH_LAB_STREAM(use_buffer, int, puts, (const char* text), (text));
UNLATCH_LAB_STREAM(use_buffer, int, fgetc, (FILE * stream), (stream));
UNLATCH_LAB_STREAM(use_buffer, int, getc, (FILE * stream), (stream));
UNLATCH_LAB_STREAM(use_buffer, int, ungetc, (int byte, FILE* stream), (byte, stream));
UNLATCH_LAB_STREAM(use_buffer, int, fseek, (FILE * stream, long by, int from), (stream, by, from));
UNLATCH_LAB_STREAM(format, int, vprintf, (const char* __restrict text, va_list values),
                   (text, values));
UNLATCH_LAB_STREAM(format, int, vfprintf,
                   (FILE* __restrict stream, const char* __restrict text, va_list values),
                   (stream, text, values));

UNLATCH_LAB_INTERPOSE int printf(const char* __restrict text, ...) {
  format();
  std::va_list values;
  va_start(values, text);
  const int result = UNLATCH_LAB_HOST(vprintf)(text, values);
  va_end(values);
  return result;
}

UNLATCH_LAB_INTERPOSE int fprintf(FILE* __restrict stream, const char* __restrict text, ...) {
  format();
  std::va_list values;
  va_start(values, text);
  const int result = UNLATCH_LAB_HOST(vfprintf)(stream, text, values);
  va_end(values);
  return result;
}

/// With nothing to look at it is a sleep; else the host waits, and virtual time stands still.
UNLATCH_LAB_INTERPOSE int poll(pollfd* files, nfds_t count, int milliseconds) {
  if (host_mode()) return UNLATCH_LAB_HOST(poll)(files, count, milliseconds);
  scheduler::enter_kernel();
  if (count != 0 || milliseconds < 0) return UNLATCH_LAB_HOST(poll)(files, count, milliseconds);
  sleep_until(deadline_after({milliseconds / 1000, milliseconds % 1000 * 1'000'000L}));
  return 0;
}
