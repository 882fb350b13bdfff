// SPDX-License-Identifier: Apache-2.0
//
// What every other header takes from the machine: the size of a cache line, a pause for spin loops,
// a cycle counter, and the report of misuse in checked builds.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

/// 1 in checked builds (Debug, sanitizers): locks remember their owner and report misuse. The
/// layout of a lock depends on it, so all translation units of a program must agree.
#ifndef UNLATCH_CHECKED
#define UNLATCH_CHECKED 0
#endif

// 1 where the thread or address sanitizer watches: gcc says so by a macro, clang by a feature.
#if defined(__has_feature)
#define UNLATCH_HAS_FEATURE(x) __has_feature(x)
#else
#define UNLATCH_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || UNLATCH_HAS_FEATURE(thread_sanitizer)
#define UNLATCH_THREAD_SANITIZER 1
#else
#define UNLATCH_THREAD_SANITIZER 0
#endif
#if defined(__SANITIZE_ADDRESS__) || UNLATCH_HAS_FEATURE(address_sanitizer)
#define UNLATCH_ADDRESS_SANITIZER 1
#else
#define UNLATCH_ADDRESS_SANITIZER 0
#endif

namespace unlatch {

/// Bytes by which data of different threads is kept apart.
inline constexpr std::size_t cache_line = 64;

/// Tells the CPU that this is a spin loop. About 140 cycles on Skylake and later, 10 before.
inline void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#else
  asm volatile("" ::: "memory");
#endif
}

/// The time-stamp counter; ticks at a constant rate near the nominal frequency. About 20 cycles.
inline std::uint64_t timestamp() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return 0;
#endif
}

namespace detail {

/// Reports misuse of a lock in a checked build as assert() would: one line on standard error, then
/// abort(). `what` says what was done wrong and what to do instead.
[[noreturn]] void misuse(const char* what, const void* lock) noexcept;

/// A number for the calling thread, never 0 and never reused while the thread lives. One TLS
/// address.
inline std::uintptr_t this_thread_mark() noexcept {
  static thread_local char mark;
  return reinterpret_cast<std::uintptr_t>(&mark);
}

/// Remembers who holds an exclusive lock, in checked builds; otherwise it is empty and does
/// nothing.
class owner_check {
 public:
#if UNLATCH_CHECKED
  void before_lock(const void* lock) const noexcept {
    if (owner_.load(std::memory_order_relaxed) == this_thread_mark())
      misuse("recursive lock: this thread holds the lock already; these locks are not recursive",
             lock);
  }
  void after_lock() noexcept { owner_.store(this_thread_mark(), std::memory_order_relaxed); }
  void before_unlock(const void* lock) noexcept {
    if (owner_.load(std::memory_order_relaxed) != this_thread_mark())
      misuse("unlock without lock: this thread does not hold the lock exclusively", lock);
    owner_.store(0, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uintptr_t> owner_{0};
#else
  void before_lock(const void*) const noexcept {}
  void after_lock() noexcept {}
  void before_unlock(const void*) noexcept {}
#endif
};

}  // namespace detail
}  // namespace unlatch
