// SPDX-License-Identifier: Apache-2.0
//
// Making simulated threads.
#pragma once

#include "machine.hpp"

namespace unlatch::lab::threads {

/// Forgets all threads, at the begin of a run.
void reset() noexcept;

/// A new thread, blocked; null if there are too many. It inherits the running thread's affinity.
thread* make(void* (*entry)(void*), void* argument) noexcept;

/// Its number, stack and thread-local storage may be used again. REQUIRES: it has exited.
void release(thread& which) noexcept;

}  // namespace unlatch::lab::threads
