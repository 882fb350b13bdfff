// SPDX-License-Identifier: Apache-2.0
//
// Does a transaction that aborts take back everything that C++ did in it? Each area of the language
// is one file with one function; each feature in it is one check:
//
//   rolls_back("name", [&] { what to do in a transaction }, [&] { return whether it is undone; });
//
// A driver runs the body in a transaction and aborts it: machine_driver.cpp in the simulated
// machine, undo_driver.cpp with no machine at all, by the write hooks alone. The programs are built
// at every optimization level, and print one line a check.
#pragma once

#include <cstdint>

namespace conformance {

/// False without the simulated machine: then writes are undone by their hooks, but there is no
/// stack to put back, and neither guards of static locals nor a second thread.
extern const bool has_machine;

using action = void (*)(void*);
/// Runs an area where its checks run: in the machine, on one of its threads.
void run_area(void (*area)());
/// Calls body(argument) in a transaction and aborts it at its end; false if it ended another way.
bool run_and_abort(action body, void* argument);
/// Calls body(argument) in a transaction and commits it.
bool run_and_commit(action body, void* argument);
/// Aborts the transaction that runs, from anywhere in the body of run_and_abort. Machine only.
[[noreturn]] void abort_here();

/// Prints and counts the outcome.
void report(const char* name, bool passed);

namespace detail {
template <class Body>
void call(void* body) {
  (*static_cast<Body*>(body))();
}
}  // namespace detail

template <class Body, class Unchanged>
void rolls_back(const char* name, Body body, Unchanged unchanged) {
  const bool aborted = run_and_abort(&detail::call<Body>, &body);
  report(name, aborted && unchanged());
}

template <class Body, class Changed>
void commits(const char* name, Body body, Changed changed) {
  const bool committed = run_and_commit(&detail::call<Body>, &body);
  report(name, committed && changed());
}

// The areas.
void scalars();
void aggregates();
void memory_functions();
void vectors();
void containers();
void strings();
void streams();
void exceptions();
void functions();
void statics();
void assembly();
void threads();

}  // namespace conformance
