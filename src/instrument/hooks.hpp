// SPDX-License-Identifier: Apache-2.0
//
// The contract between instrumented code and the simulated machine: the functions that the compiler
// pass makes the code call, and the data that the inlined part of them reads.
//
// Every hook is called *before* what it tells of. A hook may let other simulated CPUs run before it
// returns; between its return and the access it told of nothing else runs, so the access happens at
// the time of its hook. A hook for a write finds the old bytes still there, to log them. A hook
// that aborts the running transaction does not return.
//
// Hooks use the calling convention preserve_most: the caller's general registers survive except
// r11; vector registers do not. They must not throw. `cost` is in cycles: what the basic block did
// since the last hook that carried a cost.
//
// Return addresses: a hook's __builtin_return_address(0) lies in the instrumented function, with
// the source line of the access in its debug information. Calls are never merged with each other.
// What the fast path inlines keeps that property, so it holds for the slow hooks and for undo too.
//
// What the pass does not call a hook for: accesses to locals whose address never leaves their
// function (they live in registers or in the thread's own stack frame, which a transaction copies
// when it begins), to constants, and whatever precompiled code does; the pass warns of calls,
// inline assembly and intrinsics whose accesses it cannot see.
#pragma once

#include <cstdint>

#if defined(__clang__)
/// Marks a hook, where it is declared and where it is defined.
#define UNLATCH_LAB_HOOK __attribute__((preserve_most, nothrow))
#else
#define UNLATCH_LAB_HOOK
#endif

namespace unlatch::lab {

/// Bytes of a cache line, of an entry in the tag tables, and entries in each table.
inline constexpr std::uint64_t line_bytes = 64;
inline constexpr std::uint64_t tag_entries = 64;
/// Bytes of a simulated thread's stack, aligned to itself.
inline constexpr std::uint64_t stack_bytes = std::uint64_t{1} << 20;
/// In a size parameter: the access cannot cross a line, whatever its address.
inline constexpr std::uint32_t within_line = 0x10000;
inline constexpr std::uint32_t size_mask = 0xffff;

/// What the inlined fast path reads and writes: the runtime fills it in for the simulated CPU that
/// runs, at every switch and whenever one of these facts changes.
///
/// A line is its address divided by line_bytes; its entry in a table is its number modulo
/// tag_entries. An entry equal to the line says: a read (or write) of this line by this CPU hits
/// its L1, needs no word to any other CPU and no change to the running transaction's read (or
/// write) set, and no other simulated state changes by it except the clock. Anything else goes to a
/// slow hook.
struct fast_path {
  /// The running CPU's clock, in cycles. Never null: with no simulation running, a word of its own.
  std::uint64_t* clock;
  /// A hit may not carry the clock beyond this; what would goes to a slow hook, which may switch.
  std::uint64_t limit;
  /// Accesses in [stack_base, stack_base + stack_bytes) are the running thread's own stack: they
  /// cost stack_cost, and are neither logged nor tracked. 1 switches this off (another thread has
  /// seen the stack, or no simulation runs).
  std::uint64_t stack_base;
  std::uint64_t stack_cost;
  /// Where the run is given up (lab.hpp): looked at where `limit` is not, by accesses to the own
  /// stack and by loops without an access, so that these end, too.
  std::uint64_t time_limit;
  /// Cycles of a read and of a write that hit.
  std::uint64_t read_hit_cost;
  std::uint64_t write_hit_cost;
  /// Counts accesses that the fast path finished; the runtime reads and clears it.
  std::uint64_t accesses;
  /// Not 0 while the running CPU is in a transaction: a write that hits then calls undo.
  std::uint64_t in_transaction;
  const std::uint64_t* read_tags;
  const std::uint64_t* write_tags;
};

/// What an atomic access does (low 4 bits of unlatch_lab_atomic's third parameter; the memory order
/// is in the bits above, numbered as order below).
enum class atomic_operation : std::uint32_t { load, store, exchange, compare_exchange };
/// LLVM's numbering of memory orders (llvm::AtomicOrdering).
enum class order : std::uint32_t {
  not_atomic,
  unordered,
  relaxed,
  consume,
  acquire,
  release,
  acquire_release,
  sequential
};
/// Which memory a C string function reads and writes: the first parameter of unlatch_lab_string.
enum class string_operation : std::uint32_t {
  scan,     ///< reads `first` up to its terminator, at most `count` bytes: strlen, strnlen, strchr
  compare,  ///< reads both up to the first difference or terminator, at most `count`: strcmp
  copy,     ///< reads `second` with its terminator, writes as much to `first`: strcpy, stpcpy
  compare_bytes,  ///< reads both up to the first difference, at most `count`: memcmp, bcmp
  find_byte,      ///< reads `first` up to the byte `second` (a number), at most `count`: memchr
  copy_padded,    ///< reads `second` up to its terminator, writes `count` bytes to `first`: strncpy
  append          ///< as copy, to the end of the string `first`, which it also reads: strcat
};
/// Instructions that mean something to the machine beyond their time.
enum class instruction : std::uint32_t {
  pause,        ///< a spinning thread's hint; aborts a transaction on some machines
  cpuid,        ///< serializes; aborts a transaction
  system_call,  ///< a syscall instruction in inline assembly; aborts a transaction
  unfriendly    ///< any other that cannot be part of a transaction
};

}  // namespace unlatch::lab

extern "C" {

extern unlatch::lab::fast_path unlatch_lab_fast;

/// A plain read (write) of `size & size_mask` bytes; `size` may have within_line set. With the fast
/// path linked, these two and the next two are inlined and the runtime's own definitions serve
/// only objects that were built without it.
UNLATCH_LAB_HOOK void unlatch_lab_read(void* address, std::uint32_t size, std::uint32_t cost);
UNLATCH_LAB_HOOK void unlatch_lab_write(void* address, std::uint32_t size, std::uint32_t cost);
/// A basic block took `cost` cycles that no other hook carried.
UNLATCH_LAB_HOOK void unlatch_lab_block(std::uint32_t cost);
/// The end of a turn of a loop in which no access was told. Inlined, too.
UNLATCH_LAB_HOOK void unlatch_lab_turn(std::uint32_t cost);

/// The same, when the fast path could not do it: nothing has been charged yet, not even `cost`.
UNLATCH_LAB_HOOK void unlatch_lab_read_slow(void* address, std::uint32_t size, std::uint32_t cost);
UNLATCH_LAB_HOOK void unlatch_lab_write_slow(void* address, std::uint32_t size, std::uint32_t cost);
/// The same for a turn that ends after time_limit.
UNLATCH_LAB_HOOK void unlatch_lab_turn_slow(std::uint32_t cost);
/// A write that hit, in a transaction: log the old bytes. Already charged; must not switch.
UNLATCH_LAB_HOOK void unlatch_lab_undo(void* address, std::uint32_t size);

/// An atomic access; `what` is atomic_operation | order << 4. Also a volatile-like access of inline
/// assembly with a memory operand (sequential).
UNLATCH_LAB_HOOK void unlatch_lab_atomic(void* address, std::uint32_t size, std::uint32_t what,
                                         std::uint32_t cost);
/// memcpy, memmove: reads `count` bytes at `from`, writes them at `to`. `count` may be 0.
UNLATCH_LAB_HOOK void unlatch_lab_copy(void* to, void* from, std::uint64_t count,
                                       std::uint32_t cost);
/// Reads `count` bytes, or writes them if `how & 1`; `count` may be 0. `how & 4`: it belongs to the
/// access that the hook before told of, so nothing else may run in between.
UNLATCH_LAB_HOOK void unlatch_lab_range(void* address, std::uint64_t count, std::uint32_t how,
                                        std::uint32_t cost);
/// A vector access with a mask: element i, of `element` bytes at address + i * element, is read
/// (written if `write`) when bit i of `mask` is set.
UNLATCH_LAB_HOOK void unlatch_lab_mask(void* address, std::uint32_t element, std::uint64_t mask,
                                       std::uint32_t write, std::uint32_t cost);
/// A gather (scatter if `write`): element i at addresses[i], when bit i of `mask` is set.
UNLATCH_LAB_HOOK void unlatch_lab_gather(void** addresses, std::uint32_t elements,
                                         std::uint32_t element, std::uint64_t mask,
                                         std::uint32_t write, std::uint32_t cost);
/// A fence between threads; `which` is an order.
UNLATCH_LAB_HOOK void unlatch_lab_fence(std::uint32_t which, std::uint32_t cost);
/// A call of a C string function follows; `which` is a string_operation. `count` is ~0 where the
/// function has no limit.
UNLATCH_LAB_HOOK void unlatch_lab_string(std::uint32_t which, const char* first, const char* second,
                                         std::uint64_t count);
/// An instruction of the list above follows (pause: is left out, the hook stands for it).
UNLATCH_LAB_HOOK void unlatch_lab_instruction(std::uint32_t which, std::uint32_t cost);
/// Stands in for the timestamp counter (rdtsc, rdtscp): the running CPU's clock, or the host's when
/// no simulation runs.
UNLATCH_LAB_HOOK std::uint64_t unlatch_lab_timestamp(std::uint32_t cost);

}  // extern "C"
