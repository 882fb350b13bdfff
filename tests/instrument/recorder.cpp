// SPDX-License-Identifier: Apache-2.0
//
// The hooks, as a list of events. Not instrumented. The fast path never hits here, so that reads
// and writes come by their slow hooks, and the time is always up; a table of lines that hit can be
// tried with the machine itself.

#include "recorder.hpp"

#include "src/instrument/hooks.hpp"

namespace {

using recorder::kind;

recorder::event events[recorder::most_events];
int event_count = 0;
int turn_count = 0;
std::uint64_t now = 0;
constexpr std::uint64_t no_tags[unlatch::lab::tag_entries] = {};

void note(kind what, const void* address, std::uint64_t size, std::uint64_t detail,
          std::uint32_t cost, const void* code) {
  now += cost;
  if (event_count < recorder::most_events) {
    events[event_count++] = {what, address, size, detail, code};
  }
}

}  // namespace

namespace recorder {

void start() { event_count = turn_count = 0; }
int count() { return event_count; }
int turns() { return turn_count; }
const event& at(int index) { return events[index]; }
std::uint64_t clock() { return now; }

}  // namespace recorder

#define CODE __builtin_return_address(0)

extern "C" {

unlatch::lab::fast_path unlatch_lab_fast{&now, 0, 1, 0, 0, 0, 0, 0, 0, no_tags, no_tags};

UNLATCH_LAB_HOOK void unlatch_lab_read_slow(void* address, std::uint32_t size, std::uint32_t cost) {
  note(kind::read, address, size, 0, cost + 1, CODE);
}
UNLATCH_LAB_HOOK void unlatch_lab_write_slow(void* address, std::uint32_t size,
                                             std::uint32_t cost) {
  note(kind::write, address, size, 0, cost + 1, CODE);
}
UNLATCH_LAB_HOOK void unlatch_lab_read(void* address, std::uint32_t size, std::uint32_t cost) {
  note(kind::read, address, size, 0, cost + 1, CODE);
}
UNLATCH_LAB_HOOK void unlatch_lab_write(void* address, std::uint32_t size, std::uint32_t cost) {
  note(kind::write, address, size, 0, cost + 1, CODE);
}
UNLATCH_LAB_HOOK void unlatch_lab_undo(void*, std::uint32_t) {}
UNLATCH_LAB_HOOK void unlatch_lab_block(std::uint32_t cost) { now += cost; }
UNLATCH_LAB_HOOK void unlatch_lab_turn_slow(std::uint32_t cost) {
  now += cost;
  ++turn_count;
}
UNLATCH_LAB_HOOK void unlatch_lab_turn(std::uint32_t cost) { unlatch_lab_turn_slow(cost); }
UNLATCH_LAB_HOOK void unlatch_lab_atomic(void* address, std::uint32_t size, std::uint32_t what,
                                         std::uint32_t cost) {
  note(kind::atomic, address, size, what, cost, CODE);
}
UNLATCH_LAB_HOOK void unlatch_lab_copy(void* to, void* from, std::uint64_t count,
                                       std::uint32_t cost) {
  note(kind::copy, to, count, reinterpret_cast<std::uint64_t>(from), cost, CODE);
}
UNLATCH_LAB_HOOK void unlatch_lab_range(void* address, std::uint64_t count, std::uint32_t how,
                                        std::uint32_t cost) {
  note(kind::range, address, count, how, cost, CODE);
}
UNLATCH_LAB_HOOK void unlatch_lab_mask(void* address, std::uint32_t element, std::uint64_t mask,
                                       std::uint32_t, std::uint32_t cost) {
  note(kind::mask, address, element, mask, cost, CODE);
}
UNLATCH_LAB_HOOK void unlatch_lab_gather(void** addresses, std::uint32_t, std::uint32_t element,
                                         std::uint64_t mask, std::uint32_t, std::uint32_t cost) {
  note(kind::gather, addresses[0], element, mask, cost, CODE);
}
UNLATCH_LAB_HOOK void unlatch_lab_fence(std::uint32_t which, std::uint32_t cost) {
  note(kind::fence, nullptr, 0, which, cost, CODE);
}
UNLATCH_LAB_HOOK void unlatch_lab_string(std::uint32_t which, const char* first, const char*,
                                         std::uint64_t count) {
  note(kind::string, first, count, which, 0, CODE);
}
UNLATCH_LAB_HOOK void unlatch_lab_instruction(std::uint32_t which, std::uint32_t cost) {
  note(kind::instruction, nullptr, 0, which, cost, CODE);
}
UNLATCH_LAB_HOOK std::uint64_t unlatch_lab_timestamp(std::uint32_t cost) {
  note(kind::timestamp, nullptr, 0, 0, cost, CODE);
  return now;
}

}  // extern "C"
