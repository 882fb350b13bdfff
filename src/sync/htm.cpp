// SPDX-License-Identifier: Apache-2.0
#include "unlatch/htm.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#if defined(__x86_64__)
/// Defined by the object that `unlatch emulate` loads, if it is loaded: whether it emulates RTM.
extern "C" [[gnu::weak]] bool unlatch_emulates_rtm() noexcept;
#endif

namespace unlatch::htm {

#if defined(__x86_64__)
namespace {

/// A transaction must commit once in a hundred tries: an interrupt may take one, not all.
bool a_transaction_commits() noexcept {
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (rtm::begin().started()) {
      rtm::commit();
      return true;
    }
  }
  return false;
}

}  // namespace

description describe() noexcept {
  description d;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  d.what = support::not_enumerated;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return d;
  d.cpuid_hle = ebx & (1u << 4);
  d.cpuid_rtm = ebx & (1u << 11);
  d.cpuid_rtm_always_abort = edx & (1u << 11);
  d.cpuid_tsx_force_abort = edx & (1u << 13);
  d.cpuid_tsxldtrk = edx & (1u << 16);
  d.emulated = unlatch_emulates_rtm != nullptr && unlatch_emulates_rtm();
  if (d.emulated) {
    d.what = support::works;
    return d;
  }
  if (d.cpuid_rtm) d.what = a_transaction_commits() ? support::works : support::always_aborts;
  return d;
}
#else
description describe() noexcept { return {}; }
#endif

namespace detail {
// Constant-initialized to false first, so a lock used by an earlier static constructor is a plain
// lock.
bool rtm_works = false;
namespace {
[[gnu::constructor(101)]] void find_out() { rtm_works = describe().what == support::works; }
}  // namespace
}  // namespace detail

const char* to_string(cause why) noexcept {
  switch (why) {
    case cause::conflict:
      return "conflict";
    case cause::capacity:
      return "capacity";
    case cause::lock_held:
      return "lock_held";
    case cause::explicit_code:
      return "explicit";
    case cause::nested:
      return "nested";
    case cause::other:
      return "other";
  }
  return "other";
}

std::string to_string(const description& d) {
  switch (d.what) {
    case support::works:
      if (d.emulated) return "RTM is emulated: transactions work, at the speed of an emulator.";
      return "Hardware transactions (RTM) work: a transaction committed.";
    case support::always_aborts:
      return std::string("The CPU enumerates RTM, but every transaction aborts") +
             (d.cpuid_rtm_always_abort ? " (RTM_ALWAYS_ABORT: microcode or kernel switched it off; "
                                         "see the kernel's tsx= option)."
                                       : " (a hundred empty transactions aborted).");
    case support::not_enumerated:
      if (d.cpuid_rtm_always_abort)
        return "No hardware transactions: the CPU has RTM, but it is switched off "
               "(RTM_ALWAYS_ABORT; "
               "see the kernel's tsx= option).";
      if (d.cpuid_tsxldtrk)
        return "No hardware transactions: CPUID shows TSXLDTRK but not RTM, so RTM was switched "
               "off by "
               "the kernel, the firmware or the hypervisor.";
      return "No hardware transactions: CPUID does not show RTM (not built in, or switched off).";
    case support::no_backend:
      return "No hardware transactions: unlatch has no transaction backend for this architecture.";
  }
  return {};
}

}  // namespace unlatch::htm
