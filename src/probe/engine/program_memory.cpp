// SPDX-License-Identifier: Apache-2.0
#include "src/probe/engine/program_memory.hpp"

extern "C" {
// The linker's names for the section's ends.
extern const char __start_unlatch_program_access[] __attribute__((visibility("hidden")));
extern const char __stop_unlatch_program_access[] __attribute__((visibility("hidden")));
}

// Leaf functions: nothing that they call would lie in the section.
#define UNLATCH_PROGRAM_ACCESS [[gnu::noinline, gnu::section("unlatch_program_access")]]

namespace unlatch::probe::engine {
namespace {

template <class T>
volatile T* at(std::uint64_t address) noexcept {
  return reinterpret_cast<volatile T*>(address);
}

}  // namespace

UNLATCH_PROGRAM_ACCESS void load_line(std::uint64_t line, std::uint64_t (&into)[8]) noexcept {
  for (unsigned i = 0; i < 8; ++i) into[i] = at<std::uint64_t>(line)[i];
}

UNLATCH_PROGRAM_ACCESS void restore_line(std::uint64_t line,
                                         const std::uint64_t (&from)[8]) noexcept {
  for (unsigned i = 0; i < 8; ++i) {
    if (at<std::uint64_t>(line)[i] != from[i]) at<std::uint64_t>(line)[i] = from[i];
  }
}

UNLATCH_PROGRAM_ACCESS std::uint64_t load_word(std::uint64_t address) noexcept {
  return *at<std::uint64_t>(address);
}

UNLATCH_PROGRAM_ACCESS void store_word(std::uint64_t address, std::uint64_t value) noexcept {
  *at<std::uint64_t>(address) = value;
}

UNLATCH_PROGRAM_ACCESS void load_code(std::uint64_t address, std::uint8_t* into,
                                      unsigned length) noexcept {
  for (unsigned i = 0; i < length; ++i) into[i] = at<std::uint8_t>(address)[i];
}

UNLATCH_PROGRAM_ACCESS bool same_code(std::uint64_t address, const std::uint8_t* as,
                                      unsigned length) noexcept {
  for (unsigned i = 0; i < length; ++i) {
    if (at<std::uint8_t>(address)[i] != as[i]) return false;
  }
  return true;
}

bool accesses_program_memory(std::uint64_t ip) noexcept {
  return ip >= reinterpret_cast<std::uint64_t>(__start_unlatch_program_access) &&
         ip < reinterpret_cast<std::uint64_t>(__stop_unlatch_program_access);
}

}  // namespace unlatch::probe::engine
