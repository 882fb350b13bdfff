// SPDX-License-Identifier: Apache-2.0
//
// The object that `unlatch run` loads into a program: stands in front of the system's functions for
// mutexes, reader-writer locks and waits on conditions. Hands over to what was asked for, and to
// the system what is not served.
//
// Does nothing where the environment names no area (lock_run_area.hpp).
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "src/preload/run/counters.hpp"
#include "src/preload/run/layout.hpp"
#include "src/preload/run/modes.hpp"
#include "src/preload/run/system.hpp"
#include "unlatch/htm.hpp"
#include "unlatch/parking.hpp"

namespace unlatch::preload {
namespace {

using probe::lock_run_area;
using probe::not_running;

#define UNLATCH_EXPORTED extern "C" __attribute__((visibility("default")))
#define UNLATCH_CALL_SITE __builtin_extract_return_addr(__builtin_return_address(0))

constinit mode now{};

constinit std::atomic<bool> is_ready{false};
constinit std::atomic<bool> is_begun{false};
constinit thread_local bool begins [[gnu::tls_model("initial-exec")]] = false;

lock_run_area* map_area(const char* file) noexcept {
  const int descriptor = open(file, O_RDWR | O_CLOEXEC);
  void* const mapped = descriptor < 0 ? MAP_FAILED
                                      : mmap(nullptr, sizeof(lock_run_area), PROT_READ | PROT_WRITE,
                                             MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (descriptor >= 0) close(descriptor);
  auto* const area = mapped == MAP_FAILED ? nullptr : static_cast<lock_run_area*>(mapped);
  if (area == nullptr || area->magic != lock_run_area::magic_number) {
    complain("a program cannot reach the memory shared with it; it runs as it is");
    return nullptr;
  }
  madvise(mapped, sizeof(lock_run_area), MADV_DONTDUMP);
  return area;
}

not_running obstacle(const lock_run_area& area) noexcept {
  if (!looks_as_expected()) return not_running::unexpected_layout;
  if (area.settings.algorithm != probe::lock_algorithm::elided) return not_running::none;
  return htm::describe().what == htm::support::works ? not_running::none
                                                     : not_running::no_transactions;
}

void after_fork_in_child() noexcept {
  forget_thread_id();
  counters_after_fork();
  swapped_locks_after_fork();
}

void start(const char* file) noexcept {
  lock_run_area* const area = map_area(file);
  if (area == nullptr) return;
  const not_running why = obstacle(*area);
  area->processes.fetch_add(1, std::memory_order_relaxed);
  area->not_running[static_cast<std::uint32_t>(why)].fetch_add(1, std::memory_order_relaxed);
  if (why != not_running::none) return;
  set_area(*area);
  prepare_queue_nodes();
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  now = area->settings.algorithm == probe::lock_algorithm::elided
            ? eliding_mode(area->settings.policy)
            : swapped_mode(area->settings.algorithm);
}

/// At the first lock of the process, or by the constructor if none comes before. What this thread
/// locks while it is here, by the dynamic linker's or the allocator's hand, the system locks; it is
/// unlocked before this is done.
[[gnu::noinline, gnu::cold]] void make_ready() noexcept {
  if (begins) return;
  if (is_begun.exchange(true)) {
    while (!is_ready.load(std::memory_order_acquire)) parking::yield();
    return;
  }
  begins = true;
  const int error = errno;
  find_system_functions();
  if (const char* const file = getenv(probe::lock_run_variable)) start(file);
  errno = error;
  begins = false;
  is_ready.store(true, std::memory_order_release);
}

const mode& current() noexcept {
  if (!is_ready.load(std::memory_order_acquire)) [[unlikely]] {
    static constexpr mode systems_own{};
    make_ready();
    if (begins) return systems_own;
  }
  return now;
}

[[gnu::constructor]] void start_if_nobody_locks() noexcept { current(); }

/// Whether a call for a mutex is ours; counts those that are not though the mode has mutexes.
bool is_ours(const mutex_mode* mode, const pthread_mutex_t& mutex) noexcept {
  return mode != nullptr && kind_of(mutex).served;
}
bool is_ours(const rwlock_mode* mode, const pthread_rwlock_t& lock) noexcept {
  return mode != nullptr && is_served(lock);
}

void count_refused(const pthread_mutex_t& mutex) noexcept {
  if (now.mutexes != nullptr) count_refused_section(kind_of(mutex).because);
}
void count_refused(const pthread_rwlock_t&) noexcept {
  if (now.rwlocks != nullptr) count_refused_section(probe::not_served::process_shared);
}

int lock_mutex(pthread_mutex_t* mutex, deadline until, const void* site) {
  const auto* const mode = current().mutexes;
  if (is_ours(mode, *mutex)) return mode->lock(*mutex, until, site);
  count_refused(*mutex);
  return system_lock(*mutex, until);
}

int lock_rwlock(pthread_rwlock_t* lock, deadline until, const void* site) {
  const auto* const mode = current().rwlocks;
  if (is_ours(mode, *lock)) return mode->lock(*lock, until, site);
  count_refused(*lock);
  return system_lock(*lock, until);
}

int lock_rwlock_shared(pthread_rwlock_t* lock, deadline until, const void* site) {
  const auto* const mode = current().rwlocks;
  if (is_ours(mode, *lock)) return mode->lock_shared(*lock, until, site);
  count_refused(*lock);
  return system_lock_shared(*lock, until);
}

int wait_on(pthread_cond_t* condition, pthread_mutex_t* mutex, deadline until) {
  const auto* const mode = current().mutexes;
  if (is_ours(mode, *mutex)) return mode->wait(*condition, *mutex, until);
  return system_wait(*condition, *mutex, until);
}

}  // namespace

// --- mutexes ------------------------------------------------------------------------------------

UNLATCH_EXPORTED int pthread_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t* with) {
  const auto* const mode = current().mutexes;
  const int result = system.mutex_init(mutex, with);
  if (result == 0 && mode != nullptr && !kind_of(*mutex).served)
    count_refused_lock(kind_of(*mutex).because);
  return result;
}

UNLATCH_EXPORTED int pthread_mutex_destroy(pthread_mutex_t* mutex) {
  const auto* const mode = current().mutexes;
  return is_ours(mode, *mutex) ? mode->destroy(*mutex) : system.mutex_destroy(mutex);
}

UNLATCH_EXPORTED int pthread_mutex_lock(pthread_mutex_t* mutex) {
  return lock_mutex(mutex, {}, UNLATCH_CALL_SITE);
}

UNLATCH_EXPORTED int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* time) {
  return lock_mutex(mutex, {CLOCK_REALTIME, time}, UNLATCH_CALL_SITE);
}

UNLATCH_EXPORTED int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                             const timespec* time) {
  return lock_mutex(mutex, {clock, time}, UNLATCH_CALL_SITE);
}

UNLATCH_EXPORTED int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  const auto* const mode = current().mutexes;
  if (is_ours(mode, *mutex)) return mode->try_lock(*mutex, UNLATCH_CALL_SITE);
  count_refused(*mutex);
  return system.mutex_trylock(mutex);
}

UNLATCH_EXPORTED int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  const auto* const mode = current().mutexes;
  return is_ours(mode, *mutex) ? mode->unlock(*mutex) : system.mutex_unlock(mutex);
}

// --- conditions ---------------------------------------------------------------------------------

UNLATCH_EXPORTED int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return wait_on(condition, mutex, {});
}

UNLATCH_EXPORTED int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                            const timespec* time) {
  return wait_on(condition, mutex, {own_clock, time});
}

UNLATCH_EXPORTED int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                            clockid_t clock, const timespec* time) {
  return wait_on(condition, mutex, {clock, time});
}

// --- reader-writer locks ------------------------------------------------------------------------

UNLATCH_EXPORTED int pthread_rwlock_init(pthread_rwlock_t* lock, const pthread_rwlockattr_t* with) {
  const auto* const mode = current().rwlocks;
  const int result = system.rwlock_init(lock, with);
  if (result == 0 && mode != nullptr && !is_served(*lock))
    count_refused_lock(probe::not_served::process_shared);
  return result;
}

UNLATCH_EXPORTED int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  return lock_rwlock_shared(lock, {}, UNLATCH_CALL_SITE);
}

UNLATCH_EXPORTED int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* time) {
  return lock_rwlock_shared(lock, {CLOCK_REALTIME, time}, UNLATCH_CALL_SITE);
}

UNLATCH_EXPORTED int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                                const timespec* time) {
  return lock_rwlock_shared(lock, {clock, time}, UNLATCH_CALL_SITE);
}

UNLATCH_EXPORTED int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) {
  const auto* const mode = current().rwlocks;
  if (is_ours(mode, *lock)) return mode->try_lock_shared(*lock, UNLATCH_CALL_SITE);
  count_refused(*lock);
  return system.rwlock_tryrdlock(lock);
}

UNLATCH_EXPORTED int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  return lock_rwlock(lock, {}, UNLATCH_CALL_SITE);
}

UNLATCH_EXPORTED int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* time) {
  return lock_rwlock(lock, {CLOCK_REALTIME, time}, UNLATCH_CALL_SITE);
}

UNLATCH_EXPORTED int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                                const timespec* time) {
  return lock_rwlock(lock, {clock, time}, UNLATCH_CALL_SITE);
}

UNLATCH_EXPORTED int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) {
  const auto* const mode = current().rwlocks;
  if (is_ours(mode, *lock)) return mode->try_lock(*lock, UNLATCH_CALL_SITE);
  count_refused(*lock);
  return system.rwlock_trywrlock(lock);
}

UNLATCH_EXPORTED int pthread_rwlock_unlock(pthread_rwlock_t* lock) {
  const auto* const mode = current().rwlocks;
  return is_ours(mode, *lock) ? mode->unlock(*lock) : system.rwlock_unlock(lock);
}

// --- the same by the names that old programs use ------------------------------------------------

#define UNLATCH_ALSO(name, function) \
  UNLATCH_EXPORTED decltype(function) name __attribute__((alias(#function)));

UNLATCH_ALSO(__pthread_mutex_init, pthread_mutex_init)
UNLATCH_ALSO(__pthread_mutex_destroy, pthread_mutex_destroy)
UNLATCH_ALSO(__pthread_mutex_lock, pthread_mutex_lock)
UNLATCH_ALSO(__pthread_mutex_trylock, pthread_mutex_trylock)
UNLATCH_ALSO(__pthread_mutex_unlock, pthread_mutex_unlock)
UNLATCH_ALSO(__pthread_rwlock_init, pthread_rwlock_init)
UNLATCH_ALSO(__pthread_rwlock_rdlock, pthread_rwlock_rdlock)
UNLATCH_ALSO(__pthread_rwlock_tryrdlock, pthread_rwlock_tryrdlock)
UNLATCH_ALSO(__pthread_rwlock_wrlock, pthread_rwlock_wrlock)
UNLATCH_ALSO(__pthread_rwlock_trywrlock, pthread_rwlock_trywrlock)
UNLATCH_ALSO(__pthread_rwlock_unlock, pthread_rwlock_unlock)

}  // namespace unlatch::preload
