// SPDX-License-Identifier: Apache-2.0
#include "call_chain.hpp"

#include <unwind.h>

#include "machine.hpp"

namespace unlatch::lab {

namespace {

constexpr unsigned most_frames = 64;

struct walk {
  std::uintptr_t from;
  bool there;
  unsigned frames;
  unsigned found;
  call_chain callers;
};

_Unwind_Reason_Code visit(_Unwind_Context* frame, void* state) {
  walk& all = *static_cast<walk*>(state);
  const std::uintptr_t code = _Unwind_GetIP(frame);
  if (all.there) {
    all.callers.code[all.found++] = code;
  } else {
    all.there = code == all.from;
  }
  const bool more = all.found < call_chain::most && ++all.frames < most_frames;
  return more ? _URC_NO_REASON : _URC_END_OF_STACK;
}

}  // namespace

call_chain callers_of(std::uintptr_t code) noexcept {
  walk all{code, false, 0, 0, {}};
  cpu* const running = the.running;
  the.running = nullptr;  // the unwinder's lock is the host's
  _Unwind_Backtrace(visit, &all);
  the.running = running;
  return all.callers;
}

}  // namespace unlatch::lab
