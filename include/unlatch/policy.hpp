// SPDX-License-Identifier: Apache-2.0
//
// Elision policies: what to do when a transaction aborts. A policy is a type with no objects:
//
//   struct P {
//     static constexpr std::string_view name;
//     static constexpr memory_scope scope;       // where `memory` lives
//     struct memory;                             // what it learns; trivial, zero at first, <= 32
//     bytes static constexpr std::uint64_t wait_ticks; // how long to wait for a held lock before
//     beginning static bool admits(memory&);               // may this section try at all? static
//     decision decide(const outcome&, memory&);  // after an abort static void committed(memory&,
//     unsigned attempts);
//   };
//
// The published ones stand here under their authors' names, with the figures they give, so that
// they can be compared. The default is `adaptive` (adaptive.hpp).
//
// A memory of scope `lock` is shared by the threads, one a lock, and accessed without order; one of
// scope `thread` is kept per thread and statistics row, so it never causes a conflict.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <string_view>

#include "unlatch/htm.hpp"
#include "unlatch/platform.hpp"

namespace unlatch {

/// What a policy is told of an abort.
struct outcome {
  htm::status status;
  unsigned attempt;         ///< 1 for the first transaction of this section
  bool lock_held;           ///< whether the lock is held right now
  std::uint64_t ticks = 0;  ///< from begin to abort, for a policy whose memory has `joining`
};

/// What to do next.
enum class next_step : std::uint8_t {
  retry,            ///< begin again now
  wait_then_retry,  ///< wait until the lock is free, then begin again
  fall_back,        ///< take the lock
};

struct decision {
  next_step step;
  std::uint32_t pauses = 0;  ///< cpu_relax() this often first
  std::uint64_t ticks = 0;   ///< or wait so long
};

enum class memory_scope : std::uint8_t { none, lock, thread };

/// When elide() speculates in software, where the hardware has no transactions.
enum class software_use : std::uint8_t {
  measured,  ///< where it is faster than the lock (path_choice.hpp); the default
  always,
  never,
};

template <class Policy>
constexpr software_use software_use_of() noexcept {
  if constexpr (requires { Policy::software; })
    return Policy::software;
  else
    return software_use::measured;
}

/// Whether elision is tried only where it is faster than the lock (path_choice.hpp).
template <class Policy>
constexpr bool is_measured() noexcept {
  if constexpr (requires { Policy::measured; })
    return Policy::measured;
  else
    return false;
}

namespace policy {

inline constexpr std::uint64_t no_wait = 0;
inline constexpr std::uint64_t wait_for_ever = std::numeric_limits<std::uint64_t>::max();

namespace detail {

struct nothing {};

/// A policy that remembers nothing and always tries.
struct memoryless {
  static constexpr memory_scope scope = memory_scope::none;
  using memory = nothing;
  static bool admits(memory&) noexcept { return true; }
  static void committed(memory&, unsigned) noexcept {}
};

/// Sections still to be skipped on one lock; threads may lose each other's updates, as in glibc.
struct shared_skip {
  std::atomic<std::uint16_t> left{0};
  bool take() noexcept {
    const std::uint16_t n = left.load(std::memory_order_relaxed);
    if (n == 0) return false;
    left.store(static_cast<std::uint16_t>(n - 1), std::memory_order_relaxed);
    return true;
  }
  void set(std::uint16_t n) noexcept {
    if (left.load(std::memory_order_relaxed) != n) left.store(n, std::memory_order_relaxed);
  }
};

/// A random number below `bound`; no state is shared between threads.
inline std::uint32_t random_below(std::uint32_t bound) noexcept {
  static thread_local std::uint64_t state = unlatch::detail::this_thread_mark() | 1;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return static_cast<std::uint32_t>((state >> 32) * bound >> 32);
}

}  // namespace detail

/// Hardware lock elision: one attempt, then the lock, as the XACQUIRE prefix does.
/// Source: Intel SDM volume 1, 16.3.2; Schrimpf 2014, section 2.4.
struct hle : detail::memoryless {
  static constexpr std::string_view name = "hle";
  static constexpr std::uint64_t wait_ticks = wait_for_ever;
  static decision decide(const outcome&, memory&) noexcept { return {next_step::fall_back}; }
};

/// N attempts whatever the cause, each after waiting for the lock. N = 0 never speculates in
/// any way: the plain lock.
template <unsigned N>
struct fixed : detail::memoryless {
  static constexpr std::string_view name = "fixed";
  static constexpr software_use software = N == 0 ? software_use::never : software_use::measured;
  static constexpr std::uint64_t wait_ticks = wait_for_ever;
  static bool admits(memory&) noexcept { return N != 0; }
  static decision decide(const outcome& o, memory&) noexcept {
    return {o.attempt < N ? next_step::wait_then_retry : next_step::fall_back};
  }
};

/// glibc's elision (removed in 2.43): 3 attempts; the lock at once and for the next 3 sections if
/// the lock was held or the hardware sees no point in a retry. Source: glibc 2.42,
/// sysdeps/unix/sysv/linux/x86/elision-lock.c and elision-conf.c.
struct glibc {
  static constexpr std::string_view name = "glibc";
  static constexpr memory_scope scope = memory_scope::lock;
  using memory = detail::shared_skip;
  static constexpr std::uint64_t wait_ticks = no_wait;
  static bool admits(memory& m) noexcept { return !m.take(); }
  static decision decide(const outcome& o, memory& m) noexcept {
    if (!o.status.retry()) {
      m.set(3);
      return {next_step::fall_back};
    }
    return {o.attempt < 3 ? next_step::retry : next_step::fall_back};
  }
  static void committed(memory&, unsigned) noexcept {}
};

/// oneTBB's speculative_spin_mutex: waits for the lock; 10 attempts for everything that may pass.
/// Source: oneTBB 2021, src/tbb/rtm_mutex.cpp (retry_threshold).
struct tbb : detail::memoryless {
  static constexpr std::string_view name = "tbb";
  static constexpr std::uint64_t wait_ticks = wait_for_ever;
  static decision decide(const outcome& o, memory&) noexcept {
    const bool may_pass = o.status.explicit_abort() || o.status.retry() || o.status.conflict();
    return {may_pass && o.attempt < 10 ? next_step::wait_then_retry : next_step::fall_back};
  }
};

/// MariaDB's transactional_lock_guard: one attempt, no waiting, no memory.
/// Source: MariaDB 10.11, storage/innobase/include/transactional_lock_guard.h.
struct mariadb : detail::memoryless {
  static constexpr std::string_view name = "mariadb";
  static constexpr std::uint64_t wait_ticks = no_wait;
  static decision decide(const outcome&, memory&) noexcept { return {next_step::fall_back}; }
};

/// Concurrency Kit's adaptive elision with its default configuration, per cause: lock busy, wait up
/// to 256 looks and skip 5; conflict with the retry bit, 5 attempts and skip 2; other explicit
/// aborts skip 3; all else is taken for permanent and skips 65535. As its configuration describes
/// it; the loop shipped in 0.7.1 ends after 5 attempts before it looks at the cause. Source: ck
/// 0.7.1, include/ck_elide.h.
struct ck {
  static constexpr std::string_view name = "ck";
  static constexpr memory_scope scope = memory_scope::thread;
  struct memory {
    std::uint32_t skip;
  };
  static constexpr std::uint64_t wait_ticks = no_wait;
  static bool admits(memory& m) noexcept {
    if (m.skip == 0) return true;
    --m.skip;
    return false;
  }
  static decision decide(const outcome& o, memory& m) noexcept {
    if (o.status.lock_held()) {
      if (o.attempt < 5) return {next_step::wait_then_retry};
      m.skip = 5;
    } else if (o.status.explicit_abort()) {
      m.skip = 3;
    } else if (o.status.retry() && o.status.conflict()) {
      if (o.attempt < 5) return {next_step::retry};
      m.skip = 2;
    } else {
      m.skip = std::numeric_limits<std::uint16_t>::max();
    }
    return {next_step::fall_back};
  }
  static void committed(memory& m, unsigned) noexcept { m.skip = 0; }
};

/// Cervini's occ_rwlock in Shore-MT: 2 attempts; lock held, wait; conflict, up to 9 pauses at
/// random; retry bit, one pause; else the lock. Source: Cervini 2015, section 3.
struct cervini : detail::memoryless {
  static constexpr std::string_view name = "cervini";
  static constexpr std::uint64_t wait_ticks = no_wait;
  static decision decide(const outcome& o, memory&) noexcept {
    if (o.attempt >= 2) return {next_step::fall_back};
    if (o.status.lock_held()) return {next_step::wait_then_retry};
    if (o.status.conflict()) return {next_step::retry, detail::random_below(10)};
    if (o.status.retry()) return {next_step::retry, 1};
    return {next_step::fall_back};
  }
};

/// XSync's adaptive elision: the limit of attempts falls to 1 at an abort and grows by 1 with a
/// commit, up to 8 (the paper gives no maximum; 8 is ours). Source: Chitters, Midvidy, Tsui,
/// section 4.2.1.
struct xsync {
  static constexpr std::string_view name = "xsync";
  static constexpr memory_scope scope = memory_scope::thread;
  static constexpr std::uint32_t most_attempts = 8;
  struct memory {
    std::uint32_t limit_less_one;
  };
  static constexpr std::uint64_t wait_ticks = wait_for_ever;
  static bool admits(memory&) noexcept { return true; }
  static decision decide(const outcome& o, memory& m) noexcept {
    const std::uint32_t limit = m.limit_less_one + 1;
    m.limit_less_one = 0;
    return {o.attempt < limit ? next_step::wait_then_retry : next_step::fall_back};
  }
  static void committed(memory& m, unsigned) noexcept {
    if (m.limit_less_one + 1 < most_attempts) ++m.limit_less_one;
  }
};

/// Nießing's transactional queue: 10 attempts, the latch tested before and inside each, and waited
/// for. Source: Nießing 2020, algorithms 3.4 to 3.7.
struct niessing : detail::memoryless {
  static constexpr std::string_view name = "niessing";
  static constexpr std::uint64_t wait_ticks = wait_for_ever;
  static decision decide(const outcome& o, memory&) noexcept {
    return {o.attempt < 10 ? next_step::wait_then_retry : next_step::fall_back};
  }
};

/// Johnson's tx_wlock for the address-space semaphore: 5 failures with linear back-off, waits at
/// most 10 000 cycles for the lock, and a capacity abort goes straight to it. The unit of back-off
/// is not given; 16 pauses is ours. Source: Johnson 2014, section 3.2.
struct johnson : detail::memoryless {
  static constexpr std::string_view name = "johnson";
  static constexpr std::uint64_t wait_ticks = 10'000;
  static decision decide(const outcome& o, memory&) noexcept {
    if (o.status.capacity() || o.attempt > 5) return {next_step::fall_back};
    return {next_step::wait_then_retry, 16 * o.attempt};
  }
};

}  // namespace policy
}  // namespace unlatch
