// SPDX-License-Identifier: Apache-2.0
#include "src/probe/engine/find_instructions.hpp"

#include <setjmp.h>
#include <signal.h>

#include "src/probe/engine/instruction.hpp"

namespace unlatch::probe::engine {
namespace {

struct range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] bool has(std::uint64_t address) const noexcept {
    return address >= begin && address < end;
  }
};

/// The sorted table of .eh_frame_hdr (Linux Standard Base, core part, 10.6.2).
class function_starts {
 public:
  function_starts() = default;
  explicit function_starts(std::uint64_t header) noexcept {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(header);
    constexpr std::uint8_t version = 1, pointer_sdata4 = 0x1b, count_udata4 = 0x03,
                           table_sdata4 = 0x3b;
    if (bytes[0] != version || bytes[1] != pointer_sdata4 || bytes[2] != count_udata4 ||
        bytes[3] != table_sdata4) {
      return;
    }
    header_ = header;
    count_ = *reinterpret_cast<const std::uint32_t*>(header + 8);
  }

  /// The last start at or before `address`; `otherwise` if there is none.
  [[nodiscard]] std::uint64_t before(std::uint64_t address,
                                     std::uint64_t otherwise) const noexcept {
    std::uint32_t low = 0, high = count_;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (start(middle) <= address) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low == 0 ? otherwise : start(low - 1);
  }

 private:
  [[nodiscard]] std::uint64_t start(std::uint32_t i) const noexcept {
    const auto* const entry = reinterpret_cast<const std::int32_t*>(header_ + 12 + 8 * i);
    return header_ + static_cast<std::uint64_t>(std::int64_t{*entry});
  }

  std::uint64_t header_ = 0;
  std::uint32_t count_ = 0;
};

/// Whether decoding from `from` comes upon `address`; what stands there is in `there`.
bool comes_upon(std::uint64_t address, std::uint64_t from, std::uint64_t end,
                instruction& there) noexcept {
  for (;;) {
    const std::uint64_t left = end - from;
    const auto available = static_cast<unsigned>(
        left < instruction::most_bytes ? left : std::uint64_t{instruction::most_bytes});
    const bool decoded =
        decode(reinterpret_cast<const std::uint8_t*>(from), available, from, there);
    if (from >= address) return decoded && from == address;
    from += decoded ? there.length : 1;
  }
}

void find_in(const range& code, const function_starts& functions,
             const sought_instructions& sought) noexcept {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(code.begin);
  const std::uint64_t count = code.end - code.begin;
  for (std::uint64_t i = 0; i + 1 < count; ++i) {
    const bool xbegin = bytes[i] == 0xc7 && bytes[i + 1] == 0xf8 && sought.xbegin != nullptr;
    const bool cpuid = bytes[i] == 0x0f && bytes[i + 1] == 0xa2 && sought.cpuid != nullptr;
    if (!xbegin && !cpuid) continue;
    const std::uint64_t address = code.begin + i;
    instruction there = {};
    if (!comes_upon(address, functions.before(address, code.begin), code.end, there)) continue;
    if (there.how == way::begin && xbegin && code.has(there.target)) sought.xbegin(address);
    if (there.asks_cpu && cpuid) sought.cpuid(address);
  }
}

sigjmp_buf after_trap;

}  // namespace

bool xbegin_traps() noexcept {
  struct sigaction trap = {}, before = {};
  trap.sa_handler = [](int) { siglongjmp(after_trap, 1); };
  sigaction(SIGILL, &trap, &before);
  bool traps = true;
  if (sigsetjmp(after_trap, 1) == 0) {
    // Commits what begins, where there are transactions after all.
    asm volatile(
        ".byte 0xc7, 0xf8\n\t.long 1f - .Lnext%=\n"
        ".Lnext%=:\n\t.byte 0x0f, 0x01, 0xd5\n"
        "1:" ::
            : "rax", "memory");
    traps = false;
  }
  sigaction(SIGILL, &before, nullptr);
  return traps;
}

void find_instructions(const loaded_object& object, const sought_instructions& sought) noexcept {
  function_starts functions;
  for (unsigned i = 0; i < object.header_count; ++i) {
    const auto& segment = object.headers[i];
    if (segment.p_type == PT_GNU_EH_FRAME) functions = function_starts(object.begin_of(segment));
  }
  for (unsigned i = 0; i < object.header_count; ++i) {
    const auto& segment = object.headers[i];
    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X) || !(segment.p_flags & PF_R)) {
      continue;
    }
    const std::uint64_t begin = object.begin_of(segment);
    find_in({begin, begin + segment.p_filesz}, functions, sought);
  }
}

}  // namespace unlatch::probe::engine
