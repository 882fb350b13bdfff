// SPDX-License-Identifier: Apache-2.0
//
// Eliding the program's locks where they are: a section begins a transaction, looks at the word of
// the system's own lock, and runs. Whoever takes the lock for real writes that word, by whatever
// function, and so aborts it; the lock keeps its algorithm and everything else that the system does
// with it. What a transaction cannot do, waiting on a condition for one, aborts it, and the section
// runs under the lock.
#include <errno.h>

#include "src/preload/run/counters.hpp"
#include "src/preload/run/layout.hpp"
#include "src/preload/run/modes.hpp"
#include "src/preload/run/system.hpp"
#include "unlatch/elision.hpp"
#include "unlatch/htm.hpp"
#include "unlatch/policies.hpp"

namespace unlatch::preload {
namespace {

using backend = htm::hardware;
using statistics::counter;

/// Undoes the section that is open. The code is none that a policy knows, so most take the lock at
/// once.
void run_under_lock() noexcept {
  constexpr std::uint8_t needs_lock_code = 0xfe;
  backend::abort<needs_lock_code>();
}

/// What policies keep for a lock, by rows: there is no room for it in the program's locks.
template <class Memory>
Memory& memory_of(detail::row_id row) noexcept {
  struct alignas(cache_line) padded {
    Memory memory;
  };
  static constinit padded memories[detail::max_rows] = {};
  return memories[row].memory;
}

struct mutex_view {
  using type = pthread_mutex_t;
  static constexpr bool has_readers = false;

  pthread_mutex_t& lock;

  auto& row_word() const noexcept { return word_of<std::uint16_t>(lock.__data.__elision); }
  template <bool Shared>
  const void* identity() const noexcept {
    return &lock;
  }
  template <bool Shared>
  bool is_free_for() const noexcept {
    return is_free(lock);
  }
  /// Whether this thread holds it for real, and the system will say so instead of waiting.
  bool is_mine() const noexcept {
    return !is_free(lock) && kind_of(lock).knows_owner() && is_owned_by(lock, this_thread_id());
  }
  /// Whether a section that is open may enter it once more.
  template <bool Shared>
  bool nests(const detail::section_context& section) const noexcept {
    return !section.is_open(&lock) || kind_of(lock).type == mutex_type::recursive;
  }
};

struct rwlock_view {
  using type = pthread_rwlock_t;
  static constexpr bool has_readers = true;

  pthread_rwlock_t& lock;

  auto& row_word() const noexcept { return word_of<std::uint32_t>(lock.__data.__pad3); }
  /// Reading and writing sections are told apart, since both end by the same call.
  template <bool Shared>
  const void* identity() const noexcept {
    return reinterpret_cast<const char*>(&lock) + (Shared ? 1 : 0);
  }
  template <bool Shared>
  bool is_free_for() const noexcept {
    return Shared ? is_write_free(lock) : is_free(lock);
  }
  bool is_mine() const noexcept {
    return !is_write_free(lock) && is_written_by(lock, this_thread_id());
  }
  template <bool Shared>
  bool nests(const detail::section_context& section) const noexcept {
    return !section.is_open(identity<false>()) && (Shared || !section.is_open(identity<true>()));
  }
};

/// As detail::elision wants a lock.
template <class View, class LockMemory>
struct elidable_view : View {
  detail::row_id row() const noexcept { return known_row(this->row_word()); }
  LockMemory& memory_of_lock() const noexcept { return memory_of<LockMemory>(row()); }
};

template <class Policy, class View>
struct eliding {
  using lock_type = typename View::type;
  using elision = detail::elision<Policy, backend>;
  using view_type = elidable_view<View, typename elision::lock_memory>;

  template <bool Shared>
  static int system_take(lock_type& lock, deadline until) noexcept {
    if constexpr (Shared)
      return system_lock_shared(lock, until);
    else
      return system_lock(lock, until);
  }

  /// Enters a section of a lock that is free, or undoes the transaction that is open.
  template <bool Shared>
  static void join(const view_type& lock) {
    if (!lock.template nests<Shared>(detail::this_section())) run_under_lock();
    elision::template join<Shared>(lock, known_row(lock.row_word()));
  }

  template <bool Shared>
  static int enter(lock_type& mutex, deadline until, const void* site) {
    const view_type lock{{mutex}};
    if (detail::this_section().in_transaction()) {
      if (lock.is_mine()) return system_take<Shared>(mutex, until);
      join<Shared>(lock);
      return 0;
    }
    const detail::row_id row = row_for(lock.row_word(), &mutex, site);
    detail::thread_row& counts = detail::this_thread_row(row);
    if (!lock.is_mine() && !elision::prefers_lock(row, counts)) {
      // Policies may wait for the lock, for ever if they like: not where there is a time limit.
      const bool entered = until.time == nullptr
                               ? elision::template enter<Shared>(lock, counts, row)
                               : elision::template try_enter<Shared>(lock, row);
      if (entered) return 0;
    }
    const int result = system_take<Shared>(mutex, until);
    if (result == 0) counts.add(counter::sections);
    return result;
  }

  template <bool Shared>
  static int try_enter(lock_type& mutex, int (*system_try)(lock_type*), const void* site) {
    const view_type lock{{mutex}};
    if (detail::this_section().in_transaction()) {
      if (lock.is_mine()) return system_try(&mutex);
      if (!lock.template is_free_for<Shared>()) return EBUSY;
      join<Shared>(lock);
      return 0;
    }
    const detail::row_id row = row_for(lock.row_word(), &mutex, site);
    detail::thread_row& counts = detail::this_thread_row(row);
    if (!lock.is_mine() && !elision::prefers_lock(row, counts) &&
        elision::template try_enter<Shared>(lock, row))
      return 0;
    const int result = system_try(&mutex);
    if (result == 0) counts.add(counter::sections);
    return result;
  }

  static int lock(lock_type& mutex, deadline until, const void* site) {
    return enter<false>(mutex, until, site);
  }
  static int lock_shared(lock_type& mutex, deadline until, const void* site) {
    return enter<true>(mutex, until, site);
  }
  static int try_lock(lock_type& mutex, const void* site) {
    if constexpr (View::has_readers)
      return try_enter<false>(mutex, system.rwlock_trywrlock, site);
    else
      return try_enter<false>(mutex, system.mutex_trylock, site);
  }
  static int try_lock_shared(lock_type& mutex, const void* site) {
    return try_enter<true>(mutex, system.rwlock_tryrdlock, site);
  }

  static int unlock(lock_type& mutex) {
    if (detail::this_section().in_transaction()) {
      view_type lock{{mutex}};
      if (elision::leave(lock)) return 0;
      if constexpr (View::has_readers)
        if (elision::template leave<true>(lock)) return 0;
    }
    if constexpr (View::has_readers)
      return system.rwlock_unlock(&mutex);
    else
      return system.mutex_unlock(&mutex);
  }

  static int destroy(lock_type& mutex) {
    if (detail::this_section().is_open(&mutex)) run_under_lock();
    return system.mutex_destroy(&mutex);
  }

  static int wait(pthread_cond_t& condition, lock_type& mutex, deadline until) {
    if (detail::this_section().in_transaction()) run_under_lock();
    return system_wait(condition, mutex, until);
  }
};

template <class Policy>
mode mode_of() noexcept {
  using mutexes = eliding<Policy, mutex_view>;
  using rwlocks = eliding<Policy, rwlock_view>;
  static constexpr mutex_mode mutex_functions = {mutexes::lock, mutexes::try_lock, mutexes::unlock,
                                                 mutexes::destroy, mutexes::wait};
  static constexpr rwlock_mode rwlock_functions = {rwlocks::lock, rwlocks::try_lock,
                                                   rwlocks::lock_shared, rwlocks::try_lock_shared,
                                                   rwlocks::unlock};
  return {&mutex_functions, &rwlock_functions};
}

}  // namespace

mode eliding_mode(std::string_view policy) noexcept {
  mode found;
  policy::all::with(policy, [&found]<class Policy> { found = mode_of<Policy>(); });
  return found;
}

}  // namespace unlatch::preload
