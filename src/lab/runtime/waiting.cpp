// SPDX-License-Identifier: Apache-2.0
#include "waiting.hpp"

#include <bit>

#include "dispatch.hpp"
#include "explore.hpp"
#include "interrupts.hpp"

// The hook for instructions: notes the registers as the program has them, then goes on in C++.
asm(R"(
.text
.globl unlatch_lab_instruction
.type unlatch_lab_instruction,@function
unlatch_lab_instruction:
  mov %rax,unlatch_lab_registers
  mov %rbx,unlatch_lab_registers+8
  mov %rcx,unlatch_lab_registers+16
  mov %rdx,unlatch_lab_registers+24
  mov %rbp,unlatch_lab_registers+32
  mov %rsp,unlatch_lab_registers+40
  mov %r8,unlatch_lab_registers+48
  mov %r9,unlatch_lab_registers+56
  mov %r10,unlatch_lab_registers+64
  mov %r12,unlatch_lab_registers+72
  mov %r13,unlatch_lab_registers+80
  mov %r14,unlatch_lab_registers+88
  mov %r15,unlatch_lab_registers+96
  jmp unlatch_lab_instruction_noted
.size unlatch_lab_instruction,.-unlatch_lab_instruction
)");

extern "C" {
__attribute__((visibility("hidden"))) std::uint64_t unlatch_lab_registers[13];
}

namespace unlatch::lab::waiting {

namespace {

constexpr std::size_t registers = sizeof unlatch_lab_registers / sizeof unlatch_lab_registers[0];
constexpr std::size_t stack_register = 5;
constexpr std::size_t most_stack = 16 * 1024;  // more is not looked through

// What a CPU was like at its last pause.
struct state {
  std::uint64_t registers[waiting::registers];
  std::uint64_t stack;  // a hash of the live stack
  bool stack_known;
  const thread* whose;
  std::uint64_t misses;
  cycles at;
  cycles period;  // while asleep: from pause to pause
};

state last[most_cpus];

std::uint64_t hash_stack(std::uintptr_t from, std::uintptr_t to) noexcept {
  std::uint64_t hash = 0;
  for (std::uintptr_t at = from; at < to; at += sizeof hash) {
    hash = (std::rotl(hash, 5) ^ *reinterpret_cast<const std::uint64_t*>(at)) * 0x9e3779b97f4a7c15;
  }
  return hash;
}

// Notes the state; whether it is that of the last pause, with nothing but hits in between.
bool is_unchanged(cpu& me, const std::uint64_t (&now)[registers]) noexcept {
  state& before = last[me.number];
  const thread& self = *me.current;
  const std::uintptr_t top = self.stack + stack_bytes;
  if (top - now[stack_register] > most_stack) return false;
  bool same =
      before.whose == &self && !me.wrote && !me.disturbed && before.misses == me.meter.l1_misses;
  before.whose = &self;
  before.misses = me.meter.l1_misses;
  for (std::size_t i = 0; i < registers; ++i) {
    same = same && before.registers[i] == now[i];
    before.registers[i] = now[i];
  }
  me.disturbed = false;
  if (me.wrote) {
    me.wrote = false;
    // So that the next write is noted.
    __builtin_memset(me.write_tags, 0, sizeof me.write_tags);
  }
  // The stack is looked at when the rest has been the same once, and compared when twice.
  const bool compare = same && before.stack_known;
  before.stack_known = same;
  if (!same) return false;
  const std::uint64_t stack = hash_stack(now[stack_register], top);
  same = compare && stack == before.stack;
  before.stack = stack;
  return same;
}

void sleep(cpu& me, cycles period, std::uintptr_t code) noexcept {
  const cycles now = clock_of(me);
  const cycles event = interrupts::next_event(me);
  last[me.number].period = period;
  me.asleep = true;
  ++the.asleep;
  const cycles rounds = event <= now ? 1 : (event - now + period - 1) / period;
  clock_of(me) = event == never ? never - 1 : now + rounds * period;
  the.ready.move(me.number, clock_of(me));
  dispatch::switch_from(*me.current);
  if (!me.asleep) return;
  if (clock_of(me) == never - 1) fail("all simulated threads spin on what nobody will change");
  me.asleep = false;  // nobody has woken it: the event is due
  --the.asleep;
  last[me.number].whose = nullptr;
  synchronize(code);
}

}  // namespace

void pause(std::uintptr_t code) noexcept {
  std::uint64_t now[registers];
  for (std::size_t i = 0; i < registers; ++i) now[i] = unlatch_lab_registers[i];
  *unlatch_lab_fast.clock += the.rules.core.pause;
  if (the.strategy != nullptr) {
    explore::consider(scheduling_point::kind::pause, 0, 0, code);
    return;
  }
  // Nobody can notice a pause; but what is read after it must be what is there then. So the next
  // access waits for the others, however private it is; many pauses in a row wait by themselves.
  constexpr cycles longest_row = 2000;
  if (clock_of(*the.running) > the.switch_limit) {
    if (clock_of(*the.running) - the.switch_limit > longest_row) {
      synchronize(code);
    } else {
      unlatch_lab_fast.limit = 0;
    }
  }
  if (!the.pass_over_spinning) return;
  cpu& me = *the.running;
  const cycles at = clock_of(me);
  const bool unchanged = is_unchanged(me, now);
  const cycles period = at - last[me.number].at;
  last[me.number].at = at;
  if (unchanged && period != 0) sleep(me, period, code);
}

void wake(cpu& which, cycles at) noexcept {
  which.disturbed = true;
  if (!which.asleep) return;
  which.asleep = false;
  --the.asleep;
  const state& since = last[which.number];
  const cycles periods = at > since.at ? (at - since.at) / since.period : 0;
  last[which.number].at += periods * since.period;
  clock_of(which) = last[which.number].at;
  which.slowed_until = clock_of(which);
  dispatch::clock_changed(which);
}

bool wake_for(const cpu& me, std::uint32_t line, bool write, bool in_l1) noexcept {
  const cycles now = clock_of(me);
  bool behind = false;
  const auto rouse = [&](cpu& which) {
    if (!which.asleep) return;
    wake(which, now);
    behind = behind || clock_of(which) < now;
  };
  if (me.sibling != nullptr && (write || !in_l1)) rouse(*me.sibling);
  if (!write) return behind;
  const line_record& record = the.lines[line];
  for (std::uint32_t i = 0; i < the.rules.cpus(); ++i) {
    cpu& other = the.cpus[i];
    if (other.asleep && &other != &me && (record.holders & other.core_bit) != 0) rouse(other);
  }
  return behind;
}

void begin_run() noexcept {
  the.asleep = 0;
  for (state& each : last) each = {};
}

}  // namespace unlatch::lab::waiting
