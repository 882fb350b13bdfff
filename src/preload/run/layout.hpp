// SPDX-License-Identifier: Apache-2.0
//
// What the GNU C library keeps in a pthread_mutex_t and a pthread_rwlock_t, and the room in them
// that it does not use. Programs are compiled with these layouts (the static initializers), so they
// stay; looks_as_expected() tries all the same.
//
//   pthread_mutex_t | bytes | the system's            | ours
//   ----------------+-------+-------------------------+------------------------------------------
//   __lock          |  0-3  | 0 free, 1 held, 2 held  | read in transactions
//                   |       | and waited for          |
//   __count         |  4-7  | depth, if recursive     | another algorithm's state, if not
//   __owner         |  8-11 | the holder's number     |
//   __kind          | 16-19 | type and flags          |
//   __elision       | 22-23 | of its own elision      | the row in the statistics
//   __list          | 24-39 | robust mutexes          | another algorithm's lock
//
//   pthread_rwlock_t| bytes |                         |
//   ----------------+-------+-------------------------+------------------------------------------
//   __readers       |  0-3  | bit 0: it is writers'   | read in transactions
//                   |       | turn, 1: a writer has   |
//                   |       | it or is next, 3-31:    |
//                   |       | readers                 |
//   __pad3          | 16-19 | nothing                 | the row in the statistics
//   __cur_writer    | 24-27 | the writer's number     |
//   __shared        | 28-31 | process-shared          |
//
// All of ours is 0 in an initialized lock, and 0 there means: new.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "src/probe/lock_run_area.hpp"

namespace unlatch::preload {

enum class mutex_type : std::uint8_t { normal, recursive, error_checking, adaptive };

/// How a mutex is to be treated: `served` and by its type, or left to the system.
struct mutex_kind {
  bool served;
  mutex_type type;            ///< if served
  probe::not_served because;  ///< if not

  /// Whether the system's functions look at who holds it.
  bool knows_owner() const noexcept {
    return type == mutex_type::recursive || type == mutex_type::error_checking;
  }
};

mutex_kind kind_of(const pthread_mutex_t& mutex) noexcept;

/// Whether a reader-writer lock can be elided: it belongs to one process.
inline bool is_served(const pthread_rwlock_t& lock) noexcept { return lock.__data.__shared == 0; }

/// The bytes of a member that several threads use, as a T.
template <class T, class Member>
std::atomic<T>& word_of(Member& member) noexcept {
  static_assert(sizeof(Member) == sizeof(std::atomic<T>));
  return reinterpret_cast<std::atomic<T>&>(member);
}
template <class T, class Member>
const std::atomic<T>& word_of(const Member& member) noexcept {
  static_assert(sizeof(Member) == sizeof(std::atomic<T>));
  return reinterpret_cast<const std::atomic<T>&>(member);
}

inline bool is_free(const pthread_mutex_t& mutex) noexcept {
  return word_of<int>(mutex.__data.__lock).load(std::memory_order_acquire) == 0;
}
inline bool is_owned_by(const pthread_mutex_t& mutex, int thread) noexcept {
  return word_of<int>(mutex.__data.__owner).load(std::memory_order_relaxed) == thread;
}

/// A writer takes a lock that readers have by becoming the next one; its turn is later, and writes
/// the word once more. Until then more readers may come, as one does that has it already.
inline bool is_write_free(const pthread_rwlock_t& lock) noexcept {
  constexpr std::uint32_t writer_inside = 1 | 2;
  return (word_of<std::uint32_t>(lock.__data.__readers).load(std::memory_order_acquire) &
          writer_inside) != writer_inside;
}
inline bool is_free(const pthread_rwlock_t& lock) noexcept {
  constexpr std::uint32_t writers_turn = 1;  // it stays so when a writer goes
  return (word_of<std::uint32_t>(lock.__data.__readers).load(std::memory_order_acquire) &
          ~writers_turn) == 0;
}
inline bool is_written_by(const pthread_rwlock_t& lock, int thread) noexcept {
  return word_of<int>(lock.__data.__cur_writer).load(std::memory_order_relaxed) == thread;
}

/// Tries the system's functions on locks of its own and looks whether they change the members above
/// as the table says. Microseconds; no lock of the program is touched.
bool looks_as_expected() noexcept;

}  // namespace unlatch::preload
