// SPDX-License-Identifier: Apache-2.0
#include "src/probe/recorder/sampling.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "src/probe/engine/context.hpp"
#include "src/probe/engine/instruction_cache.hpp"
#include "src/probe/engine/program_memory.hpp"
#include "src/probe/engine/slots.hpp"
#include "src/probe/engine/step.hpp"
#include "src/probe/engine/system_calls.hpp"
#include "src/probe/engine/vector_state.hpp"
#include "src/probe/recorder/acquisitions.hpp"
#include "src/probe/recorder/allocation_functions.hpp"
#include "src/probe/recorder/file.hpp"
#include "src/probe/recorder/process_memory.hpp"
#include "src/probe/recorder/section_lines.hpp"
#include "src/probe/recorder/section_system_calls.hpp"

// Fills the context as it is where this returns to, and steps on from there. What a called function
// may change is not kept.
asm(R"(
  .text
  .hidden unlatch_step_from_return
  .type unlatch_step_from_return, @function
unlatch_step_from_return:
  mov %rbx, unlatch_context+24(%rip)
  mov %rbp, unlatch_context+40(%rip)
  mov %r12, unlatch_context+96(%rip)
  mov %r13, unlatch_context+104(%rip)
  mov %r14, unlatch_context+112(%rip)
  mov %r15, unlatch_context+120(%rip)
  pushfq
  popq unlatch_context+136(%rip)
  mov (%rsp), %rax
  mov %rax, unlatch_context+128(%rip)
  lea 8(%rsp), %rax
  mov %rax, unlatch_context+32(%rip)
  jmp unlatch_enter_engine
)");

extern "C" {
__attribute__((visibility("hidden"))) void unlatch_step_from_return() noexcept;
// The linker's names for where this object is, up to the end of its code.
__attribute__((visibility("hidden"))) extern const char __ehdr_start[];
__attribute__((visibility("hidden"))) extern const char etext[];
}

namespace unlatch::probe::recorder {
namespace {

using engine::instruction;
using engine::resume_frame;
using engine::system_call;
using engine::unlatch_context;
using engine::way;
using recording::sample_end;
using recording::section_event;
using recording::section_sample;

constexpr std::uint64_t most_instructions = 20'000;

/// The section that is being stepped. It belongs to process_memory::sampler.
struct {
  section_sample record;
  recorded_thread* thread;
  std::uint32_t depth;     ///< how often the thread has taken the lock
  std::uint64_t mask;      ///< the program's signal mask
  std::uint64_t stepping;  ///< ticks spent here
  std::uint64_t since;     ///< when stepping began or went on
  long faults_before;
  std::uint64_t decoded_before;
  bool outside;                        ///< stepping has left the profiler's functions
  bool running;                        ///< stepping, or handling a fault of it
  bool transferred;                    ///< the last instruction was a jump
  std::uint64_t allocator_returns_to;  ///< 0: not in an allocation function
  std::uint64_t allocator_stack;
} section;

// Where general registers lie in a ucontext, by their number in an instruction's encoding.
constexpr int place_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                              REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                              REG_R12, REG_R13, REG_R14, REG_R15};

engine::registers& program = unlatch_context.program;
bool prepared;

bool is_own_code(std::uint64_t ip) noexcept {
  return ip >= reinterpret_cast<std::uint64_t>(__ehdr_start) &&
         ip < reinterpret_cast<std::uint64_t>(etext);
}

long page_faults() noexcept {
  rusage used = {};
  system_call(SYS_getrusage, long{RUSAGE_THREAD}, &used);
  return used.ru_minflt + used.ru_majflt;
}

constexpr std::uint64_t signal_bit(int number) noexcept { return std::uint64_t{1} << (number - 1); }
/// What stays open while stepping: faults, which cannot wait.
constexpr std::uint64_t fault_signals = signal_bit(SIGSEGV) | signal_bit(SIGBUS) |
                                        signal_bit(SIGFPE) | signal_bit(SIGILL) |
                                        signal_bit(SIGTRAP);

void note_event(section_event::what kind, std::uint64_t number, const char* mnemonic) noexcept {
  for (section_event& each : section.record.events) {
    const bool same = each.kind == kind && each.number == number &&
                      (kind == section_event::what::system_call || each.first == program.ip);
    if (same) {
      ++each.count;
      return;
    }
    if (each.kind != section_event::what::none) continue;
    each = {kind, 1, number, program.ip, {}};
    for (unsigned i = 0; mnemonic[i] != 0 && i + 1 < sizeof each.mnemonic; ++i) {
      each.mnemonic[i] = mnemonic[i];
    }
    return;
  }
}

/// Notes where allocation functions begin and end.
void follow_allocator() noexcept {
  if (section.allocator_returns_to != 0) {
    if (program.ip != section.allocator_returns_to ||
        program.general[engine::rsp] <= section.allocator_stack) {
      return;
    }
    section.allocator_returns_to = 0;
    note_accesses_of(accessor::program);
  } else if (section.transferred && is_allocation_function(program.ip)) {
    ++section.record.allocations;
    section.allocator_stack = program.general[engine::rsp];
    section.allocator_returns_to = engine::load_word(section.allocator_stack);
    note_accesses_of(accessor::allocator);
  }
}

recording::block_head* block_for(std::uint64_t bytes) noexcept {
  constexpr std::uint32_t blocks = 4;
  static_assert(sizeof(section_sample) + most_section_lines * sizeof(recording::touched_line) +
                    sizeof(recording::block_head) <=
                blocks * recording::block_bytes);
  auto*& block = this_process().samples;
  constexpr std::uint64_t room = blocks * recording::block_bytes - sizeof(recording::block_head);
  if (block == nullptr || block->used.load(std::memory_order_relaxed) + bytes > room) {
    recording::block_head* const taken = take_blocks(blocks, process_number());
    if (taken == nullptr) return nullptr;
    taken->what.store(recording::content::samples, std::memory_order_release);
    block = taken;
  }
  return block;
}

void write_record() noexcept {
  section_sample& record = section.record;
  record.lines = section_line_count();
  record.lost_lines = lost_section_lines();
  record.bytes =
      static_cast<std::uint32_t>(sizeof record + record.lines * sizeof(recording::touched_line));
  recording::block_head* const block = block_for(record.bytes);
  if (block == nullptr) return;
  char* const to = reinterpret_cast<char*>(block + 1) + block->used.load(std::memory_order_relaxed);
  __builtin_memcpy(to, &record, sizeof record);
  __builtin_memcpy(to + sizeof record, section_lines(),
                   record.lines * sizeof(recording::touched_line));
  block->used.fetch_add(record.bytes, std::memory_order_release);
}

/// The ticks that stepping took, without those in which the thread had no CPU: then it took longer
/// than any instruction does.
std::uint64_t stepping_cost() noexcept {
  constexpr std::uint64_t most_ns = 500, most_ns_decoding = 5000, most_ns_else = 50'000;
  const std::uint64_t most = section.record.instructions * most_ns +
                             section.record.decoded * most_ns_decoding + most_ns_else;
  const std::uint64_t most_ticks = most * header().tsc_per_ms / 1'000'000;
  return section.stepping < most_ticks ? section.stepping : most_ticks;
}

/// Records the section. The engine is still the thread's.
void finish(sample_end how, std::uint64_t at) noexcept {
  section.record.took = ticks() - section.record.when;
  section.record.end = how;
  section.record.ended_at = at;
  section.record.page_faults = static_cast<std::uint32_t>(page_faults() - section.faults_before);
  section.record.decoded =
      static_cast<std::uint32_t>(engine::decoded_instructions() - section.decoded_before);
  section.thread->sampling = false;
  process_memory& memory = this_process();
  memory.sampled_lock.store(0, std::memory_order_relaxed);
  const std::uint64_t before_writing = ticks();
  write_record();
  const std::uint64_t now = ticks();
  section.stepping += now - before_writing;
  const std::uint64_t permille = header().sampling_permille;
  // Twice: who wants the lock meanwhile waits as long.
  const std::uint64_t for_budget = 2 * stepping_cost() * (1000 - permille) / permille;
  // Samples thin out with time: of n times as long a run they are ln n times as many, at most.
  constexpr std::uint64_t thinning = 2000;
  const std::uint64_t for_room = (now - memory.first_sample) / thinning;
  memory.next_sample.store(now + (for_budget > for_room ? for_budget : for_room),
                           std::memory_order_relaxed);
}

void free_engine() noexcept { this_process().sampler.store(nullptr, std::memory_order_release); }

void leave_stepping() noexcept {
  section.stepping += ticks() - section.since;
  section.running = false;
  note_accesses_of(accessor::nobody);
}

resume_frame* go_on_natively() noexcept {
  leave_stepping();
  return engine::frame_for_program(section.mask);
}

resume_frame* end(sample_end how) noexcept {
  resume_frame* const frame = go_on_natively();
  finish(how, program.ip);
  return frame;
}

/// Whether stepping may go on with an instruction that aborts transactions.
bool steps_unfriendly(const instruction& next) noexcept {
  if (!next.is_system_call()) {
    note_event(section_event::what::unfriendly, 0, next.mnemonic);
    return next.is_stepped;
  }
  note_event(section_event::what::system_call, program.general[engine::rax], "");
  return next.is_stepped && returns_at_once(program);
}

resume_frame* run() noexcept {
  for (;;) {
    const bool own = is_own_code(program.ip);
    if (own && section.outside) return go_on_natively();
    if (!own && !section.outside) {
      section.outside = true;
      note_accesses_of(accessor::program);
    }
    if (section.outside) follow_allocator();
    const instruction* const next = engine::instruction_at(program.ip);
    if (next == nullptr) return end(sample_end::not_stepped);
    if (section.outside && ++section.record.instructions > most_instructions) {
      return end(sample_end::too_long);
    }
    section.transferred = next->how == way::call || next->how == way::call_operand ||
                          next->how == way::jump || next->how == way::jump_to_operand;
    switch (next->how) {
      case way::begin:
      case way::end:
      case way::abort:
      case way::test:
        return end(sample_end::transaction);
      case way::not_stepped:
        return end(sample_end::not_stepped);
      case way::unfriendly:
        if (!steps_unfriendly(*next)) {
          return end(next->is_system_call() ? sample_end::system_call : sample_end::not_stepped);
        }
        [[fallthrough]];
      default:
        static_cast<void>(engine::step(*next));
    }
  }
}

/// When to look at a row's next section: evenly spread, in no rhythm that a program may have.
std::uint32_t next_distance(const recording::lock_use& use) noexcept {
  const std::uint64_t acquired = use.acquired.load(std::memory_order_relaxed);
  const auto mixed = static_cast<std::uint32_t>(acquired * 0x9e37'79b9'7f4a'7c15u >> 32);
  return 1 + mixed % use.sample_every;
}

void begin(recorded_thread& thread, const recording::lock_use& use) noexcept {
  section = {};
  section.record.lock = use.lock;
  section.record.site = use.site;
  section.record.kind = use.kind;
  section.record.thread = thread.number;
  section.thread = &thread;
  section.depth = 1;
  begin_section_lines();
  section.faults_before = page_faults();
  section.decoded_before = engine::decoded_instructions();
  section.record.when = ticks();
  process_memory& memory = this_process();
  if (memory.first_sample == 0) memory.first_sample = section.record.when;
  memory.sampled_lock.store(use.lock, std::memory_order_relaxed);
  thread.sampling = true;
}

}  // namespace

void prepare_sampling() noexcept {
  if (header().sampling_permille == 0) return;
  if (!engine::prepare_vector_state()) {
    engine::complain(
        "this CPU has vector registers that the profiler does not know: locks are "
        "counted, no section is looked into");
    return;
  }
  engine::prepare_decoder();
  find_allocation_functions();
  prepared = true;
}

bool is_sampled_now(recorded_thread& thread, recording::lock_use& use) noexcept {
  constexpr std::uint32_t first = 16, most = 1024;
  if (use.sample_every == 0) {
    // Not the very first: it binds functions and touches pages that later ones do not.
    use.sample_every = first;
    use.until_sample = first / 2 + next_distance(use);
    return false;
  }
  use.until_sample = next_distance(use);
  if (!prepared || thread.sampling) return false;
  process_memory& memory = this_process();
  if (ticks() < memory.next_sample.load(std::memory_order_relaxed)) return false;
  recorded_thread* nobody = nullptr;
  if (!memory.sampler.compare_exchange_strong(nobody, &thread, std::memory_order_acquire)) {
    return false;
  }
  if (use.sample_every < most) use.sample_every += use.sample_every / 8;
  begin(thread, use);
  return true;
}

[[gnu::noinline]] void step_on(recorded_thread& thread) noexcept {
  if (!thread.sampling) return;
  const std::uint64_t blocked = ~fault_signals;
  system_call(SYS_rt_sigprocmask, long{SIG_SETMASK}, &blocked, &section.mask, sizeof blocked);
  section.outside = false;
  section.transferred = false;
  section.running = true;
  section.since = ticks();
  unlatch_context.run = run;
  unlatch_step_from_return();
}

void note_nested(recorded_thread& thread, std::uint64_t lock) noexcept {
  if (!thread.sampling) return;
  section_sample& record = section.record;
  if (lock == record.lock) {
    ++section.depth;
    return;
  }
  if (record.nested_count < section_sample::most_nested) record.nested[record.nested_count] = lock;
  ++record.nested_count;
}

void end_sample(recorded_thread& thread, std::uint64_t lock, sample_end how) noexcept {
  if (!thread.sampling || lock != section.record.lock || --section.depth != 0) return;
  finish(how, 0);
  free_engine();
}

void abandon_sample(recorded_thread& thread) noexcept {
  if (!thread.sampling) return;
  thread.sampling = false;
  this_process().sampled_lock.store(0, std::memory_order_relaxed);
  free_engine();
}

bool is_being_sampled(std::uint64_t lock) noexcept {
  return this_process().sampled_lock.load(std::memory_order_relaxed) == lock;
}

bool undo_fault(void* frame) noexcept {
  const recorded_thread* const thread = current_thread();
  if (thread == nullptr || !thread->sampling || !section.running) return false;
  auto& interrupted = *static_cast<ucontext_t*>(frame);
  auto& words = interrupted.uc_mcontext.gregs;
  const auto ip = static_cast<std::uint64_t>(words[REG_RIP]);
  if (engine::accesses_program_memory(ip)) {
    for (unsigned i = 0; i < 16; ++i) {
      words[place_of[i]] = static_cast<greg_t>(program.general[i]);
    }
    words[REG_EFL] = static_cast<greg_t>(program.flags);
  } else if (!engine::in_slot(ip)) {
    return false;
  }
  // In a slot the registers are the program's, as they are before the instruction.
  words[REG_RIP] = static_cast<greg_t>(program.ip);
  *reinterpret_cast<std::uint64_t*>(&interrupted.uc_sigmask) = section.mask;
  leave_stepping();
  finish(sample_end::fault, program.ip);
  free_engine();
  return true;
}

}  // namespace unlatch::probe::recorder

namespace unlatch::probe::engine {

extern "C" void unlatch_release_engine(std::uint64_t signal_mask) noexcept {
  if (!recorder::section.thread->sampling) recorder::free_engine();
  system_call(SYS_rt_sigprocmask, long{SIG_SETMASK}, &signal_mask, nullptr, sizeof signal_mask);
}

}  // namespace unlatch::probe::engine
