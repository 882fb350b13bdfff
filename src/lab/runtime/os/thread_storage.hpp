// SPDX-License-Identifier: Apache-2.0
//
// What a simulated thread owns by name and what must be destroyed when it ends: thread-specific
// data (pthread_key_create) and thread_local objects with destructors.
//
// Both live in the thread's own thread-local storage, where transactions roll them back.
#pragma once

namespace unlatch::lab::os::thread_storage {

/// Runs all destructors of the thread that runs, as when a thread exits.
void destroy() noexcept;

}  // namespace unlatch::lab::os::thread_storage
