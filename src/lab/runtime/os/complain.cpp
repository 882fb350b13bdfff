// SPDX-License-Identifier: Apache-2.0
#include "lab/runtime/os/complain.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "lab/runtime/kernel_call.hpp"

namespace unlatch::lab::os {

void stop(const char* format, ...) noexcept {
  char text[512];
  std::va_list arguments;
  va_start(arguments, format);
  const int prefix = std::snprintf(text, sizeof text, "lab: ");
  const int room = static_cast<int>(sizeof text) - prefix - 1;
  int length = std::vsnprintf(text + prefix, static_cast<std::size_t>(room), format, arguments);
  va_end(arguments);
  if (length >= room) length = room - 1;
  if (length < 0) length = 0;
  text[prefix + length] = '\n';
  kernel_call(SYS_write, STDERR_FILENO, reinterpret_cast<long>(text), prefix + length + 1);
  std::abort();
}

}  // namespace unlatch::lab::os
