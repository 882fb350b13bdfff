// SPDX-License-Identifier: Apache-2.0
//
// Freeing what concurrent readers may still see. A software speculation reads without holding the
// lock, so memory that a writer unlinks is freed only after every speculation that was under way
// has ended. The grace periods are liburcu's (memb flavour).
//
// Thread safety: all functions from any thread. Not async-signal-safe.
#pragma once

namespace unlatch::reclamation {

/// Begins a stretch in which nothing that this thread can reach is freed. Nests. A few loads and
/// stores; the first call of a thread registers it with liburcu.
void enter() noexcept;
/// Ends the stretch begun by the last enter().
void leave() noexcept;

/// Frees `object` with `deleter(object)` once all stretches under way have ended. Call it after the
/// object was unlinked. Deleters run in this thread, in batches of at most 256, inside a later
/// retire() or drain(); after the thread's end, on liburcu's worker thread.
void retire(void* object, void (*deleter)(void*));

/// Waits until everything that the calling thread has retired is freed. Milliseconds. Not inside a
/// section.
void drain();

/// enter() and leave() as a scope.
class stretch {
 public:
  stretch() noexcept { enter(); }
  ~stretch() { leave(); }
  stretch(const stretch&) = delete;
  stretch& operator=(const stretch&) = delete;
};

}  // namespace unlatch::reclamation
