// SPDX-License-Identifier: Apache-2.0
//
// Stacks and thread-local storage for simulated threads, at fixed addresses.
//
// Thread-local storage belongs to a thread of the host that the C library has made and that sleeps
// for ever ("parked"); a simulated thread borrows it by pointing the FS register at it. So
// thread_local variables, errno and C++ exceptions work as in real threads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace unlatch::lab::storage {

/// The lowest address of the stack of thread `number`; it has stack_bytes.
std::uintptr_t stack_of(std::uint32_t number) noexcept;

/// The thread-local storage for thread `number`: the program's variables have their initial values.
/// Its first use for a number makes a thread of the host.
std::uintptr_t fresh(std::uint32_t number) noexcept;

}  // namespace unlatch::lab::storage
