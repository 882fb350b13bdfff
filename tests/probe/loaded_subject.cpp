// SPDX-License-Identifier: Apache-2.0
//
// What the subject loads when it runs (subject_loading.cpp).
#include <cpuid.h>
#include <immintrin.h>

namespace {

volatile long value = 0;

bool add() {
  if (_xbegin() != _XBEGIN_STARTED) return false;
  value = value + 1;
  _xend();
  return true;
}

const bool committed_as_it_was_loaded = add();

}  // namespace

/// Whether a transaction committed when this was loaded, and another one does now.
extern "C" bool loaded_subject_commits() { return committed_as_it_was_loaded && add(); }

/// Whether CPUID shows RTM to this code.
extern "C" bool loaded_subject_sees_rtm() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & bit_RTM) != 0;
}
