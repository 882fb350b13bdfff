// SPDX-License-Identifier: Apache-2.0
//
// plain_tx: runs a sequential structure (basic_hash_map, ...) without elide(): under a lock that
// everybody takes, or by one thread before the structure is shared. The members do what those of
// speculative_tx do, at once.
//
// Thread safety: none of its own. Nobody else may look at the structure meanwhile, not even a
// software speculation.
#pragma once

#include <type_traits>
#include <utility>

namespace unlatch {

struct plain_tx {
  template <class T>
  std::remove_const_t<T> read(const T& x) const {
    return x;
  }
  template <class T>
  void write(T& x, const std::type_identity_t<T>& value) const {
    x = value;
  }
  template <class T, class... Args>
  T* allocate(Args&&... args) const {
    return new T(std::forward<Args>(args)...);
  }
  template <class T>
  void retire(T* object) const {
    delete object;
  }
  template <class F>
  void on_commit(F&& f) const {
    std::forward<F>(f)();
  }
};

}  // namespace unlatch
