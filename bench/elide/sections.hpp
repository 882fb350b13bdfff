// SPDX-License-Identifier: Apache-2.0
//
// The peers of elide(), each as
//
//   sections.read(body)    body only reads
//   sections.update(body)  body may write
//
// where `body` is a generic lambda over `tx`: so one sequential algorithm serves every peer. Both
// return what the body returns. Those on the locks of the standard library are the studies' own
// (studies/sections.hpp); GCC's transactions are in itm.hpp.
//
// Thread safety: any number of threads at once; the lock inside is what is measured.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "studies/sections.hpp"
#include "studies/ttas_mutex.hpp"
#include "unlatch/access.hpp"
#include "unlatch/elide.hpp"
#include "unlatch/platform.hpp"
#include "unlatch/structures/plain_tx.hpp"

namespace unlatch::bench {

/// elide() on an elided<Lock>.
template <class Lock>
class elided_lock_sections {
 public:
  explicit elided_lock_sections(const char* name) : lock_(name) {}
  template <class Body>
  auto read(Body&& body) {
    return elide(lock_, std::forward<Body>(body));
  }
  template <class Body>
  auto update(Body&& body) {
    return elide(lock_, std::forward<Body>(body));
  }

 private:
  alignas(cache_line) elided<Lock> lock_;
};

/// oneTBB's mutexes, whose fast way is their scoped_lock.
template <class Mutex>
class tbb_sections {
 public:
  template <class Body>
  auto read(Body&& body) {
    return update(std::forward<Body>(body));
  }
  template <class Body>
  auto update(Body&& body) {
    const typename Mutex::scoped_lock lock(mutex_);
    plain_tx tx;
    return body(tx);
  }

 private:
  alignas(cache_line) Mutex mutex_;
};

template <class Mutex>
class tbb_shared_sections {
 public:
  template <class Body>
  auto read(Body&& body) {
    const typename Mutex::scoped_lock lock(mutex_, false);
    plain_tx tx;
    return body(tx);
  }
  template <class Body>
  auto update(Body&& body) {
    const typename Mutex::scoped_lock lock(mutex_, true);
    plain_tx tx;
    return body(tx);
  }

 private:
  alignas(cache_line) Mutex mutex_;
};

/// Memory that was a T and becomes a T again: what lets a seqlock's readers follow any pointer they
/// see. Each thread keeps its own.
template <class T>
class type_stable_pool {
 public:
  type_stable_pool() = default;
  type_stable_pool(const type_stable_pool&) = delete;
  type_stable_pool& operator=(const type_stable_pool&) = delete;
  ~type_stable_pool() {
    for (T* one : free_) delete one;
  }

  static type_stable_pool& of_this_thread() {
    static thread_local type_stable_pool pool;
    return pool;
  }

  template <class... Args>
  T* allocate(Args&&... args) {
    if (free_.empty()) return new T(std::forward<Args>(args)...);
    T* const reused = free_.back();
    free_.pop_back();
    return ::new (static_cast<void*>(reused)) T(std::forward<Args>(args)...);
  }
  void free(T* object) {
    static_assert(std::is_trivially_destructible_v<T>);
    free_.push_back(object);
  }

 private:
  std::vector<T*> free_;
};

/// A seqlock as one writes it by hand: readers look at the sequence before and after and run again
/// if it moved; writers exclude each other with a TTAS lock. Nodes are type-stable.
class seqlock_sections {
 public:
  template <class Body>
  auto read(Body&& body) {
    for (;;) {
      const std::uint64_t before = sequence_.load(std::memory_order_acquire);
      if (before % 2 == 0) {
        try {
          read_access tx{*this, before};
          auto result = body(tx);
          std::atomic_thread_fence(std::memory_order_acquire);
          if (unchanged_since(before)) return result;
        } catch (const lost&) {
        }
      }
      cpu_relax();
    }
  }

  template <class Body>
  auto update(Body&& body) {
    const std::scoped_lock lock(mutex_);
    const odd_while_writing odd(sequence_);
    write_access tx;
    return body(tx);
  }

 private:
  /// A reader may have been led in a circle.
  struct lost {};

  struct read_access {
    static constexpr unsigned between_looks = 4096;

    const seqlock_sections& sections;
    std::uint64_t before;
    unsigned left = between_looks;

    template <class T>
    std::remove_const_t<T> read(const T& x) {
      if (--left == 0) [[unlikely]] {
        if (!sections.unchanged_since(before)) throw lost();
        left = between_looks;
      }
      return detail::load_shared(x);
    }
  };

  struct write_access {
    template <class T>
    std::remove_const_t<T> read(const T& x) const {
      return x;
    }
    template <class T>
    void write(T& x, const std::type_identity_t<T>& value) const {
      detail::store_shared(x, value);
    }
    template <class T, class... Args>
    T* allocate(Args&&... args) const {
      return type_stable_pool<T>::of_this_thread().allocate(std::forward<Args>(args)...);
    }
    template <class T>
    void retire(T* object) const {
      type_stable_pool<T>::of_this_thread().free(object);
    }
  };

  class odd_while_writing {
   public:
    explicit odd_while_writing(std::atomic<std::uint64_t>& sequence) : sequence_(sequence) {
      sequence_.store(sequence_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_release);
    }
    ~odd_while_writing() {
      sequence_.store(sequence_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    odd_while_writing(const odd_while_writing&) = delete;
    odd_while_writing& operator=(const odd_while_writing&) = delete;

   private:
    std::atomic<std::uint64_t>& sequence_;
  };

  bool unchanged_since(std::uint64_t before) const {
    return sequence_.load(std::memory_order_relaxed) == before;
  }

  studies::ttas_mutex mutex_;
  alignas(cache_line) std::atomic<std::uint64_t> sequence_{0};
};

}  // namespace unlatch::bench
