// SPDX-License-Identifier: Apache-2.0
//
// The file into which a profiled program records what its locks did. It is mapped into the
// program, so what has happened is there however the program ends.
//
// The file is a header and then blocks of block_bytes each. Whoever needs blocks takes the next
// ones from the header, has the file system reserve them, and maps them; the first bytes of what
// was taken together say what it holds. Blocks that say nothing were taken by somebody who was
// killed before it came to that: they are skipped one by one.
//
// Thread safety
//   1. The header's settings are written before the program starts; the rest of it is atomic.
//   2. A run of blocks is written by one thread at a time; `used` is raised after what it counts.
//      Counters in it are read while they are written: they are atomic, though only one thread
//      changes them.
//
// Only plain numbers and characters: the recorder must not need a library of the program's.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

namespace unlatch::probe::recording {

/// The environment variable that names the file. Without it the preloaded object does nothing.
inline constexpr char file_variable[] = "UNLATCH_PROFILE";

inline constexpr std::uint64_t block_bytes = std::uint64_t{1} << 16;

struct header {
  static constexpr std::uint64_t magic_number = 0x3165'6c69'666f'7270;

  std::uint64_t magic;
  std::uint64_t tsc_per_ms;          ///< ticks of the time-stamp counter in a millisecond
  std::uint64_t began;               ///< time-stamp counter
  std::atomic<std::uint64_t> ended;  ///< time-stamp counter; 0 while the program runs
  /// Of a thousand parts of a process's time, how many go to stepping through sections; 0: none.
  std::uint32_t sampling_permille;
  std::atomic<std::uint32_t> failure;       ///< the first error that ended recording; an errno
  std::atomic<std::uint64_t> next_block;    ///< the first that nobody has taken; the header is one
  std::atomic<std::uint64_t> processes;     ///< that have begun to record
  std::atomic<std::uint64_t> lost_uses;     ///< acquisitions that found no room
  std::atomic<std::uint64_t> lost_threads;  ///< threads that could not be recorded
};
static_assert(sizeof(header) <= block_bytes);

enum class content : std::uint32_t { nothing, modules, uses, samples };

/// The beginning of a run of blocks.
struct alignas(64) block_head {
  std::atomic<content> what;
  std::uint32_t blocks;   ///< in the run
  std::uint32_t process;  ///< its number in this file, from 1
  std::int32_t process_id;
  std::atomic<std::uint64_t> used;  ///< bytes behind this head, or entries for content::uses
};

/// Where the objects of a process are, in content::modules: one after the other, each followed by
/// its path and filled up to a multiple of 8 bytes.
struct module {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t file_offset;
  std::uint32_t path_bytes;  ///< 0: code without a file
  std::uint32_t executable;
};

/// How a lock was taken.
enum class lock_kind : std::uint32_t {
  mutex,
  read,       ///< a read-write lock, shared
  write,      ///< a read-write lock, exclusively
  spin,       ///< a pthread spin lock
  condition,  ///< a mutex again, on return from waiting for a condition
};

/// How long something took, counted in classes a quarter of an octave wide.
struct duration_counts {
  static constexpr unsigned classes = 128;
  static constexpr unsigned first_octave = 4;  ///< all below 16 ticks are of the first class
  std::atomic<std::uint32_t> of[classes];

  static constexpr unsigned class_of(std::uint64_t ticks) noexcept {
    if (ticks < (1u << first_octave)) return 0;
    const unsigned octave = static_cast<unsigned>(std::bit_width(ticks)) - 1;
    const unsigned quarter = static_cast<unsigned>(ticks >> (octave - 2)) & 3;
    const unsigned place = 4 * (octave - first_octave) + quarter;
    return place < classes ? place : classes - 1;
  }
  /// The least duration of a class.
  static constexpr std::uint64_t least(unsigned place) noexcept {
    if (place == 0) return 0;
    return (std::uint64_t{4} + place % 4) << (place / 4 + first_octave - 2);
  }
};

using counter = std::atomic<std::uint64_t>;

/// What one thread, or several one after the other, did with a lock at a call site. What every
/// acquisition changes is on the first line.
struct alignas(64) lock_use {
  std::uint64_t lock;  ///< its address
  std::uint64_t site;  ///< where the call returned to
  lock_kind kind;
  std::uint32_t thread;  ///< the recorded thread's number in its process, from 1
  counter acquired;
  // The recorder's own: when to step a section next.
  std::uint32_t until_sample;  ///< acquisitions; 0 in a new row
  std::uint32_t sample_every;

  counter contended;            ///< of them: the lock was not free at first
  counter contended_by_sample;  ///< of them: its holder was being stepped, which takes longer
  counter refused;              ///< attempts that ended without the lock
  counter wait_ticks;           ///< spent waiting for the lock or, for a condition, for that
  counter timed;                ///< of `acquired`: how long they held the lock is in `held`
  counter held_ticks;           ///< of the timed ones
  duration_counts held;
};

/// Why stepping through a section ended.
enum class sample_end : std::uint32_t {
  released,     ///< the lock was given back
  waited,       ///< for a condition
  system_call,  ///< one that may sleep, end the thread or change how signals come
  too_long,
  not_stepped,  ///< an instruction that cannot be stepped
  transaction,  ///< the program's own
  fault,
};

/// What a section did that a transaction may not do.
struct section_event {
  enum class what : std::uint32_t { none, system_call, unfriendly };
  what kind;
  std::uint32_t count;
  std::uint64_t number;  ///< of the system call
  std::uint64_t first;   ///< the instruction that did it first
  char mnemonic[16];
};

/// A line that a section touched.
struct touched_line {
  std::uint64_t line;     ///< its first byte
  std::uint64_t read;     ///< a bit a byte
  std::uint64_t written;  ///< a bit a byte
  std::uint64_t reader;   ///< the first instruction that read of it
  std::uint64_t writer;
  std::uint32_t by_program;    ///< touched outside of allocation functions
  std::uint32_t by_allocator;  ///< touched inside of them
};

/// A section that was executed instruction by instruction, in content::samples. `lines` of
/// touched_line follow.
struct section_sample {
  static constexpr unsigned most_events = 8;
  static constexpr unsigned most_nested = 4;
  std::uint32_t bytes;  ///< with all that follows
  std::uint64_t lock;
  std::uint64_t site;
  lock_kind kind;
  std::uint32_t thread;
  std::uint64_t when;  ///< time-stamp counter, at its beginning
  std::uint64_t took;  ///< ticks until stepping ended
  std::uint64_t instructions;
  sample_end end;
  std::uint32_t lines;
  std::uint64_t ended_at;    ///< the instruction; 0 if `end` is released or waited
  std::uint32_t lost_lines;  ///< accesses to lines that found no room
  std::uint32_t page_faults;
  std::uint32_t decoded;  ///< instructions that were seen for the first time, which faults as well
  std::uint32_t allocations;  ///< calls of allocation functions
  std::uint32_t nested_count;
  std::uint64_t nested[most_nested];  ///< the first other locks that were taken
  section_event events[most_events];
};

inline constexpr std::uint64_t uses_in_block =
    (block_bytes - sizeof(block_head)) / sizeof(lock_use);

}  // namespace unlatch::probe::recording
