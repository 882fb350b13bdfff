// SPDX-License-Identifier: Apache-2.0
//
// The only file that knows transaction instructions: beginning, ending and aborting a hardware
// transaction, and reading the status of an abort.
//
// A *backend* is a type with the static members of `none` below. Locks and policies take it as a
// parameter, so the same code runs on hardware (`rtm`), in the simulated machine, against a
// scripted backend in tests, or not at all. The instructions are emitted as bytes: one build,
// without -mrtm, runs everywhere and decides at run time.
//
// Source: Intel 64 Software Developer's Manual, volume 1, chapter 16 (RTM), table 16-1 (abort
// status).
#pragma once

#include <cstdint>
#include <string>

namespace unlatch::htm {

/// Why a transaction aborted, as the statistics count it.
enum class cause : std::uint8_t { conflict, capacity, lock_held, explicit_code, nested, other };

/// The word that begin() returns: either "started", or what the aborted transaction left in EAX.
class status {
 public:
  static constexpr std::uint32_t started_word = ~0u;
  static constexpr std::uint32_t explicit_bit = 1u << 0;
  static constexpr std::uint32_t retry_bit = 1u << 1;
  static constexpr std::uint32_t conflict_bit = 1u << 2;
  static constexpr std::uint32_t capacity_bit = 1u << 3;
  static constexpr std::uint32_t debug_bit = 1u << 4;
  static constexpr std::uint32_t nested_bit = 1u << 5;
  /// The abort code by which elision says "the lock is held", as in Intel's and glibc's code.
  static constexpr std::uint8_t lock_held_code = 0xff;

  constexpr status() noexcept = default;
  constexpr explicit status(std::uint32_t word) noexcept : word_(word) {}
  static constexpr status aborted_with(std::uint8_t code) noexcept {
    return status(explicit_bit | std::uint32_t{code} << 24);
  }

  constexpr bool started() const noexcept { return word_ == started_word; }
  /// abort<code>() was executed; code() says which.
  constexpr bool explicit_abort() const noexcept { return word_ & explicit_bit; }
  constexpr std::uint8_t code() const noexcept { return static_cast<std::uint8_t>(word_ >> 24); }
  /// The hardware believes that a retry may succeed.
  constexpr bool retry() const noexcept { return word_ & retry_bit; }
  /// Another CPU wanted a line of this transaction.
  constexpr bool conflict() const noexcept { return word_ & conflict_bit; }
  /// The read or write set did not fit.
  constexpr bool capacity() const noexcept { return word_ & capacity_bit; }
  constexpr bool debug() const noexcept { return word_ & debug_bit; }
  /// It happened in a nested transaction (also: nested deeper than the hardware allows).
  constexpr bool nested() const noexcept { return word_ & nested_bit; }
  /// An elided section found its lock held.
  constexpr bool lock_held() const noexcept { return explicit_abort() && code() == lock_held_code; }
  constexpr std::uint32_t word() const noexcept { return word_; }

  /// The one cause to count. Capacity goes before conflict: an eviction sets both on some CPUs. A
  /// word of 0 is an interrupt, a system call, a page fault or an unfriendly instruction: `other`.
  constexpr cause why() const noexcept {
    if (lock_held()) return cause::lock_held;
    if (explicit_abort()) return cause::explicit_code;
    if (capacity()) return cause::capacity;
    if (conflict()) return cause::conflict;
    if (nested()) return cause::nested;
    return cause::other;
  }

  friend constexpr bool operator==(status, status) noexcept = default;

 private:
  std::uint32_t word_ = 0;
};

/// No transactions at all. Also the list of what a backend must offer.
struct none {
  /// Whether begin() can ever succeed. Must be cheap: it is asked at every lock operation.
  static constexpr bool available() noexcept { return false; }
  /// Starts a transaction. Returns a second time, with the reason, if the transaction aborts.
  static status begin() noexcept { return status{}; }
  /// Ends the transaction and makes its writes visible at once. Only while active().
  static void commit() noexcept {}
  /// Aborts with `Code`. On hardware control goes back to begin(); a scripted backend cannot roll
  /// back and returns the status instead, so callers must go on as if begin() had returned it.
  template <std::uint8_t Code>
  static status abort() noexcept {
    return status::aborted_with(Code);
  }
  /// Whether the calling thread is inside a transaction.
  static bool active() noexcept { return false; }
};

namespace detail {
/// Set once, before main(): begin() works here. Found by trying it, because RTM_ALWAYS_ABORT
/// machines enumerate RTM and abort always, and because TSXLDTRK is enumerated where RTM is not.
extern bool rtm_works;
}  // namespace detail

#if defined(UNLATCH_LAB)
extern "C" {
extern bool unlatch_lab_has_transactions;
std::uint32_t unlatch_lab_begin() noexcept;
void unlatch_lab_commit() noexcept;
void unlatch_lab_abort(std::uint8_t code) noexcept;
bool unlatch_lab_active() noexcept;
std::uint32_t unlatch_lab_elided_exchange(std::uint32_t* lock, std::uint32_t value) noexcept;
void unlatch_lab_elided_store(std::uint32_t* lock, std::uint32_t value) noexcept;
}

/// The simulated machine's transactions, in code that is built to run in it. Its aborts put memory,
/// registers and the stack back as hardware does.
struct lab {
  static bool available() noexcept { return unlatch_lab_has_transactions; }
  static status begin() noexcept { return status(unlatch_lab_begin()); }
  static void commit() noexcept { unlatch_lab_commit(); }
  template <std::uint8_t Code>
  static status abort() noexcept {
    unlatch_lab_abort(Code);
    return status::aborted_with(Code);
  }
  static bool active() noexcept { return unlatch_lab_active(); }

  /// XACQUIRE XCHG: begins a transaction with the lock in its read set and returns the lock's
  /// value; executes the exchange for real after an abort, and where there is no elision. Inside,
  /// the lock keeps its old value for this thread too (on hardware the thread would see `value`).
  static std::uint32_t exchange_elided(std::uint32_t& lock, std::uint32_t value) noexcept {
    return unlatch_lab_elided_exchange(&lock, value);
  }
  /// XRELEASE MOV: ends what exchange_elided() of this lock began; otherwise a release store.
  static void store_elided(std::uint32_t& lock, std::uint32_t value) noexcept {
    unlatch_lab_elided_store(&lock, value);
  }
};
#endif

#if defined(__x86_64__)
/// Intel's restricted transactional memory. None of these may be called unless available().
struct rtm {
  static bool available() noexcept { return detail::rtm_works; }

  [[gnu::always_inline]] static inline status begin() noexcept {
    std::uint32_t word = status::started_word;
    asm volatile(".byte 0xc7, 0xf8\n\t.long 0"  // xbegin to the next instruction
                 : "+a"(word)
                 :
                 : "memory");
    return status(word);
  }
  [[gnu::always_inline]] static inline void commit() noexcept {
    asm volatile(".byte 0x0f, 0x01, 0xd5" ::: "memory");  // xend
  }
  template <std::uint8_t Code>
  [[gnu::always_inline]] static inline status abort() noexcept {
    asm volatile(".byte 0xc6, 0xf8, %c0" ::"i"(Code) : "memory");  // xabort
    return status::aborted_with(Code);
  }
  [[gnu::always_inline]] static inline bool active() noexcept {
    bool inside;
    asm volatile(".byte 0x0f, 0x01, 0xd6\n\tsetne %0" : "=r"(inside)::"cc", "memory");  // xtest
    return inside;
  }
};
#endif

#if defined(UNLATCH_LAB)
using hardware = lab;
#elif defined(__x86_64__)
using hardware = rtm;
#else
using hardware = none;
#endif

/// What this CPU and kernel offer, and why not.
enum class support : std::uint8_t {
  works,           ///< a transaction committed
  not_enumerated,  ///< CPUID does not show RTM: not there, or switched off by kernel or firmware
  always_aborts,   ///< CPUID shows RTM (perhaps with RTM_ALWAYS_ABORT), but no transaction commits
  no_backend,      ///< no backend for this architecture
};

struct description {
  support what = support::no_backend;
  bool cpuid_rtm = false;               ///< CPUID.7.0:EBX[11]
  bool cpuid_hle = false;               ///< CPUID.7.0:EBX[4]
  bool cpuid_rtm_always_abort = false;  ///< CPUID.7.0:EDX[11]
  bool cpuid_tsx_force_abort = false;   ///< CPUID.7.0:EDX[13]
  bool cpuid_tsxldtrk = false;          ///< CPUID.7.0:EDX[16]; does not imply RTM
  bool emulated = false;                ///< by `unlatch emulate`, whatever CPUID says
};

/// Finds out by CPUID and by trying (at most a hundred empty transactions). Microseconds; no lock.
/// CPUID shows no RTM under `unlatch emulate` unless that is asked for, so its preloaded object
/// says that RTM is there, by the function unlatch_emulates_rtm(); then nothing is tried.
description describe() noexcept;

/// Whether hardware transactions work here. A load and a branch.
inline bool available() noexcept { return hardware::available(); }

/// A short name for a cause: "conflict", "capacity", "lock_held", "explicit", "nested", "other".
const char* to_string(cause why) noexcept;
/// A sentence for people: what there is, and if nothing, why.
std::string to_string(const description& d);

}  // namespace unlatch::htm
