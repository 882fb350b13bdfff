// SPDX-License-Identifier: Apache-2.0
#include "src/probe/engine/patch.hpp"

#include <fcntl.h>
#include <signal.h>

#include "src/probe/engine/program_memory.hpp"
#include "src/probe/engine/signals.hpp"
#include "src/probe/engine/slots.hpp"
#include "src/probe/engine/system_calls.hpp"
#include "src/probe/engine/transaction.hpp"

namespace unlatch::probe::engine {
namespace {

constexpr std::uint64_t often = 4;

/// lea -128(%rsp), %rsp; push the address of the XBEGIN; jump to unlatch_enter_from_jump.
struct [[gnu::packed]] approach {
  std::uint8_t skip_red_zone[5] = {0x48, 0x8d, 0x64, 0x24, 0x80};
  std::uint8_t push[2] = {0xff, 0x35};
  std::uint32_t push_offset = 6;
  std::uint8_t jump[2] = {0xff, 0x25};
  std::uint32_t jump_offset = 8;
  std::uint64_t address;
  std::uint64_t entry = reinterpret_cast<std::uint64_t>(&unlatch_enter_from_jump);
};

bool put_jump(site_memory& site) noexcept {
  if (site.approach == nullptr) {
    site.approach = executable_memory_near(site.address, sizeof(approach));
  }
  auto* const room = site.approach;
  if (room == nullptr) return false;
  approach way_in;
  way_in.address = site.address;
  for (unsigned i = 0; i < sizeof way_in; ++i) {
    room[i] = reinterpret_cast<const std::uint8_t*>(&way_in)[i];
  }
  constexpr unsigned jump_bytes = 5;
  const auto distance = static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(room) -
                                                   (site.address + jump_bytes));
  std::uint8_t code[xbegin_bytes] = {0xe9, 0, 0, 0, 0, 0x90};
  for (unsigned i = 0; i < 4; ++i) code[1 + i] = static_cast<std::uint8_t>(distance >> (8 * i));
  if (!write_code(site.address, code, sizeof code)) return false;
  site.now = replacement::jump;
  return true;
}

void put_trap(site_memory& site, replacement as) noexcept {
  constexpr std::uint8_t ud2[] = {0x0f, 0x0b};
  if (write_code(site.address, ud2, sizeof ud2)) site.now = as;
}

}  // namespace

bool write_code(std::uint64_t address, const std::uint8_t* code, unsigned bytes) noexcept {
  const long memory = system_call(SYS_open, "/proc/self/mem", long{O_RDWR | O_CLOEXEC}, 0L);
  if (memory < 0) return false;
  const long written = system_call(SYS_pwrite64, memory, code, long{bytes}, address);
  system_call(SYS_close, memory);
  return written == long{bytes};
}

void replace_xbegin(std::uint64_t address, const emulation_settings& settings) noexcept {
  site_memory* const site = site_at(address);
  if (site == nullptr) return;
  site->handler = abort_handler_of(address);
  if (!settings.patch || !put_jump(*site)) put_trap(*site, replacement::trap);
}

void replace_cpuid(std::uint64_t address) noexcept {
  if (auto* const site = site_at(address)) put_trap(*site, replacement::cpuid_trap);
}

void replace_if_hot(site_memory& site, const emulation_settings& settings) noexcept {
  if (!settings.patch || site.now == replacement::jump || site.cannot_be_patched) return;
  if (++site.begun < often) return;
  site.handler = abort_handler_of(site.address);
  site.cannot_be_patched = !put_jump(site);
}

std::uint64_t abort_handler_of(std::uint64_t address) noexcept {
  std::uint8_t code[xbegin_bytes];
  load_code(address, code, sizeof code);
  // What is known of the address may be about an object that has been unloaded since.
  const bool is_xbegin = code[0] == 0xc7 && code[1] == 0xf8;
  if (const auto* const site = known_site(address); site != nullptr && !is_xbegin) {
    return site->handler;
  }
  std::uint32_t distance = 0;
  for (unsigned i = 0; i < 4; ++i) distance |= std::uint32_t{code[2 + i]} << (8 * i);
  return address + xbegin_bytes + static_cast<std::uint64_t>(static_cast<std::int32_t>(distance));
}

bool replaces_xbegin(const instruction& what) noexcept {
  if (what.how == way::jump) return in_slot(what.target);
  return what.how == way::unfriendly && replacement_at(what.address) == replacement::trap;
}

replacement replacement_at(std::uint64_t address) noexcept {
  const site_memory* const site = known_site(address);
  return site == nullptr ? replacement::none : site->now;
}

extern "C" void unlatch_begin_from_jump(const std::uint64_t* pushed) noexcept {
  std::uint64_t before = 0;
  const std::uint64_t blocked = mask_in_transactions;
  system_call(SYS_rt_sigprocmask, long{SIG_SETMASK}, &blocked, &before, sizeof before);
  registers from;
  for (unsigned i = 0; i < pushed_count; ++i) from.general[pushed_order[i]] = pushed[i];
  from.flags = pushed[pushed_count];
  from.ip = pushed[pushed_count + 1];
  from.general[rsp] = reinterpret_cast<std::uint64_t>(pushed + pushed_count + 2) + red_zone;
  own_engine(from, before);
}

}  // namespace unlatch::probe::engine
