// SPDX-License-Identifier: Apache-2.0
#include "src/probe/engine/cpuid.hpp"

#include <asm/prctl.h>
#include <cpuid.h>
#include <signal.h>

#include "src/probe/engine/system_calls.hpp"

namespace unlatch::probe::engine {
namespace {

bool trapped;

bool let_cpuid(bool run) noexcept {
  return system_call(SYS_arch_prctl, long{ARCH_SET_CPUID}, long{run}) == 0;
}

// Leaf 7, subleaf 0 (Intel 64 Software Developer's Manual, volume 2, table 3-8).
constexpr std::uint32_t feature_leaf = 7;
constexpr std::uint32_t hle = 1u << 4, rtm = 1u << 11;  // in EBX
// In EDX. The emulator knows no suspended tracking of loads.
constexpr std::uint32_t rtm_always_abort = 1u << 11, force_abort_control = 1u << 13,
                        suspends_load_tracking = 1u << 16;

}  // namespace

bool trap_cpuid() noexcept { return trapped = let_cpuid(false); }

bool is_trapped_cpuid(int signal_code, std::uint64_t ip) noexcept {
  // A general protection fault; its instruction has been fetched, unless a jump led to where no
  // addresses are.
  constexpr std::uint64_t addresses_end = std::uint64_t{1} << 56;
  if (!trapped || signal_code != SI_KERNEL || ip >= addresses_end) return false;
  const auto* const code = reinterpret_cast<const std::uint8_t*>(ip);
  return code[0] == 0x0f && code[1] == 0xa2;
}

void answer_cpuid(std::uint32_t& eax, std::uint32_t& ebx, std::uint32_t& ecx,
                  std::uint32_t& edx) noexcept {
  const bool features = eax == feature_leaf && ecx == 0;
  if (trapped) let_cpuid(true);
  __cpuid_count(eax, ecx, eax, ebx, ecx, edx);
  if (trapped) let_cpuid(false);
  if (!features) return;
  ebx = (ebx & ~hle) | rtm;
  edx &= ~(rtm_always_abort | force_abort_control | suspends_load_tracking);
}

}  // namespace unlatch::probe::engine
