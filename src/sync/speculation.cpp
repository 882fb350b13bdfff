// SPDX-License-Identifier: Apache-2.0
//
// Leaving a failed speculation: by a jump where that skips no destructor, else by an exception.
#include "unlatch/speculation.hpp"

#include <unwind.h>

#include <atomic>
#include <cstdint>
#include <cstring>

namespace unlatch::detail {
namespace {

/// Reads the language-specific data that the compiler emits for the C++ personality routine.
/// Format: Itanium C++ ABI, exception handling tables; encodings: LSB 5.0, section 10.5.1.
class table_reader {
 public:
  explicit table_reader(const unsigned char* p) noexcept : p_(p) {}

  const unsigned char* position() const noexcept { return p_; }
  unsigned char byte() noexcept { return *p_++; }

  std::uintptr_t uleb128() noexcept {
    std::uintptr_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const unsigned char b = byte();
      value |= std::uintptr_t{b & 0x7fu} << shift;
      if ((b & 0x80) == 0) return value;
    }
  }

  /// Reads an unsigned offset; false for an encoding that call-site tables do not use.
  bool offset(unsigned char encoding, std::uintptr_t& value) noexcept {
    switch (encoding & 0x0f) {
      case 0x01:
        value = uleb128();
        return true;
      case 0x02:
        value = fixed<std::uint16_t>();
        return true;
      case 0x03:
        value = fixed<std::uint32_t>();
        return true;
      case 0x00:
      case 0x04:
        value = fixed<std::uint64_t>();
        return true;
      default:
        return false;
    }
  }

 private:
  template <class T>
  T fixed() noexcept {
    T value;
    std::memcpy(&value, p_, sizeof(value));
    p_ += sizeof(value);
    return value;
  }

  const unsigned char* p_;
};

/// Whether unwinding through a call that returns to `function + offset` would do nothing there.
bool nothing_to_unwind(const unsigned char* table, std::uintptr_t offset) noexcept {
  constexpr unsigned char omitted = 0xff;
  if (table == nullptr) return true;  // a function without cleanups and handlers
  table_reader in(table);
  std::uintptr_t skipped = 0;
  if (const auto landing_base = in.byte();
      landing_base != omitted && !in.offset(landing_base, skipped))
    return false;
  if (const auto types = in.byte(); types != omitted) in.uleb128();
  const unsigned char encoding = in.byte();
  const std::uintptr_t length = in.uleb128();
  const unsigned char* const end = in.position() + length;
  while (in.position() < end) {
    std::uintptr_t start = 0, size = 0, landing_pad = 0;
    if (!in.offset(encoding, start) || !in.offset(encoding, size) ||
        !in.offset(encoding, landing_pad))
      return false;
    in.uleb128();  // the action
    if (offset >= start && offset < start + size) return landing_pad == 0;
  }
  return false;  // not covered: the function is noexcept there
}

struct frame_query {
  std::uintptr_t address;
  bool found;
  bool may_jump;
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* frame, void* argument) {
  auto& query = *static_cast<frame_query*>(argument);
  if (_Unwind_GetIP(frame) != query.address) return _URC_NO_REASON;
  query.found = true;
  // The address after a call may belong to the next region: look up the call itself.
  query.may_jump = nothing_to_unwind(
      reinterpret_cast<const unsigned char*>(_Unwind_GetLanguageSpecificData(frame)),
      query.address - 1 - _Unwind_GetRegionStart(frame));
  return _URC_END_OF_STACK;
}

/// Whether an abort from the call that returns to `address`, which is on the stack, may jump. Walks
/// the stack once per address and remembers: address << 1 | answer, in a direct-mapped table.
bool may_jump_from(void* return_address) noexcept {
  static std::atomic<std::uintptr_t> answers[1024];
  const auto address = reinterpret_cast<std::uintptr_t>(return_address);
  std::atomic<std::uintptr_t>& slot = answers[(address ^ address >> 10) % 1024];
  const std::uintptr_t known = slot.load(std::memory_order_relaxed);
  if (known >> 1 == (address << 1) >> 1) [[likely]]
    return known & 1;
  frame_query query{address, false, false};
  _Unwind_Backtrace(look_at_frame, &query);
  const bool answer = query.found && query.may_jump;
  slot.store(address << 1 | std::uintptr_t{answer}, std::memory_order_relaxed);
  return answer;
}

#if UNLATCH_ADDRESS_SANITIZER || UNLATCH_THREAD_SANITIZER || \
    !(defined(__x86_64__) || defined(__aarch64__))
constexpr bool jumps_work =
    false;  // the sanitizers follow frames; elsewhere stack_pointer() is unknown
#else
constexpr bool jumps_work = true;
#endif

}  // namespace

void speculation::abandon() {
  abandoned_ = true;
  snapshot_ = never;
  if (jumps_work && __builtin_dwarf_cfa() == stack_ && may_jump_from(__builtin_return_address(0)))
    __builtin_longjmp(resume_, 1);
  throw speculation_aborted{};
}

void speculation::undo() noexcept {
  while (allocation_count_ > 0) {
    const allocation& last = allocations_[--allocation_count_];
    last.deleter(last.object);
  }
  section_.drop_deferred(deferred_before_);
}

}  // namespace unlatch::detail
