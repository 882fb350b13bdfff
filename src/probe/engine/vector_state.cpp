// SPDX-License-Identifier: Apache-2.0
#include "src/probe/engine/vector_state.hpp"

#include <cpuid.h>

namespace unlatch::probe::engine {
namespace {

// Components of XSAVE (Intel 64 Software Developer's Manual, volume 1, section 13.1).
enum component : unsigned {
  ymm_high = 2,
  zmm_high = 6,
  zmm_upper = 7,
  tile_config = 17,
  tile_data = 18
};
constexpr unsigned xmm_offset = 160;

std::uint64_t kept_components;
unsigned offset_of[64];

}  // namespace

bool prepare_vector_state() noexcept {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_OSXSAVE)) return false;
  asm volatile("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
  kept_components = eax | std::uint64_t{edx} << 32;
  kept_components &= ~(std::uint64_t{1} << tile_config | std::uint64_t{1} << tile_data);
  for (unsigned i = 2; i < 63; ++i) {
    if (!(kept_components >> i & 1)) continue;
    if (!__get_cpuid_count(0xd, i, &eax, &ebx, &ecx, &edx)) return false;
    offset_of[i] = ebx;
    if (ebx + eax > vector_state::most_bytes) return false;
  }
  return true;
}

void vector_state::save() noexcept {
  asm volatile("xsave64 %0"
               : "+m"(bytes)
               : "a"(static_cast<std::uint32_t>(kept_components)),
                 "d"(static_cast<std::uint32_t>(kept_components >> 32))
               : "memory");
}

void vector_state::restore() const noexcept {
  asm volatile("xrstor64 %0"
               :
               : "m"(bytes), "a"(static_cast<std::uint32_t>(kept_components)),
                 "d"(static_cast<std::uint32_t>(kept_components >> 32))
               : "memory");
}

void vector_state::copy_vector(unsigned number, unsigned most, std::uint8_t* into) const noexcept {
  for (unsigned i = 0; i < most; ++i) {
    unsigned from;
    if (number >= 16) {
      from = offset_of[zmm_upper] + 64 * (number - 16) + i;
    } else if (i < 16) {
      from = xmm_offset + 16 * number + i;
    } else if (i < 32) {
      from = offset_of[ymm_high] + 16 * number + (i - 16);
    } else {
      from = offset_of[zmm_high] + 32 * number + (i - 32);
    }
    into[i] = bytes[from];
  }
}

}  // namespace unlatch::probe::engine
