// SPDX-License-Identifier: Apache-2.0
//
// The program that the tests emulate: each of its cases executes transactions and prints what it
// saw, or nothing; its exit status is 0 if it saw what it must.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

namespace unlatch::probe::testing {

using subject_case = bool (*)();

/// The cases of a file, by name.
using subject_cases = std::map<std::string, subject_case>;

subject_cases transaction_cases();
subject_cases instruction_cases();
subject_cases thread_cases();
subject_cases signal_cases();
subject_cases loading_cases();

/// An address where nothing is.
inline volatile int* volatile nowhere = reinterpret_cast<volatile int*>(8);

/// What _xbegin() returned, printed as "status 0x…" if it is one of an abort.
inline bool aborted_with(unsigned status) {
  if (status == _XBEGIN_STARTED) return false;
  std::printf("status %#x\n", status);
  return true;
}

}  // namespace unlatch::probe::testing
