// SPDX-License-Identifier: Apache-2.0
//
// What programs are told that ask CPUID: an RTM that works, on whatever CPU this is.
//
// A CPU with CPUID faulting raises SIGSEGV for the instruction once the kernel is asked to
// (arch_prctl(2), ARCH_SET_CPUID), wherever the code came from. On others the instructions are
// found and replaced by UD2.
#pragma once

#include <cstdint>

namespace unlatch::probe::engine {

/// Makes CPUID raise SIGSEGV in the calling thread and those that it will start. False where it
/// cannot be made to. From then on nothing here may execute it but answer_cpuid().
[[nodiscard]] bool trap_cpuid() noexcept;

/// Whether a SIGSEGV of this code was raised by the CPUID at `ip`.
[[nodiscard]] bool is_trapped_cpuid(int signal_code, std::uint64_t ip) noexcept;

/// The instruction's length.
inline constexpr unsigned cpuid_bytes = 2;

/// What CPUID leaves in its registers, with RTM. Some microseconds; far more in a virtual machine,
/// where its hypervisor answers.
void answer_cpuid(std::uint32_t& eax, std::uint32_t& ebx, std::uint32_t& ecx,
                  std::uint32_t& edx) noexcept;

}  // namespace unlatch::probe::engine
