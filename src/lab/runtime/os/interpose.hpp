// SPDX-License-Identifier: Apache-2.0
//
// How this folder defines a function of the C library anew, and reaches the original.
//
// A definition here replaces glibc's in the whole program. Shared libraries use it too, because the
// linker exports a symbol of the executable that a shared library refers to; its visibility must
// allow that. glibc itself uses its own names and is not affected.
#pragma once

#include "lab/runtime/scheduler.hpp"

// What follows in a file that includes this is found by its section: such code is not the
// program's.
#pragma clang section text = "unlatch_lab_os"

/// Stands before a definition that replaces one of the C library's.
#define UNLATCH_LAB_INTERPOSE extern "C" [[gnu::visibility("default")]]

/// The C library's own definition of `function`.
#define UNLATCH_LAB_HOST(function)                                                           \
  ([]() noexcept {                                                                           \
    static decltype(&::function) const found =                                               \
        reinterpret_cast<decltype(&::function)>(::unlatch::lab::os::host_symbol(#function)); \
    return found;                                                                            \
  }())

namespace unlatch::lab::os {

/// Finds the next definition of `name` after the executable's; stops the program if there is none.
void* host_symbol(const char* name) noexcept;

/// Where the running thread last called one of this folder's functions.
void remember_caller(const void* code) noexcept;

/// Whether no simulated thread runs: then everything is the host's. Every definition here asks it
/// first; if one runs, its caller is remembered for the blame.
[[gnu::always_inline]] inline bool host_mode() noexcept {
  if (scheduler::self() == nullptr) return true;
  remember_caller(__builtin_return_address(0));
  return false;
}

}  // namespace unlatch::lab::os
