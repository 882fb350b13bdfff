// SPDX-License-Identifier: Apache-2.0
//
// section: a lock guard that is counted for the place where it stands. std::scoped_lock works on
// every lock here and is counted for the lock's name alone; use this one where statistics and
// learning should tell call sites apart.
//
//   { auto guard = unlatch::section(latch); ... }
//   { auto guard = unlatch::shared_section(latch); ... }
#pragma once

#include "unlatch/elided.hpp"
#include "unlatch/statistics.hpp"

namespace unlatch {
namespace detail {

/// One static object for each place: `Place` is a lambda's type, and each use of a default argument
/// `[] {}` makes a new one.
template <class Place>
inline constinit call_site site_of_guard{};

template <class Lock>
class [[nodiscard]] exclusive_guard {
 public:
  exclusive_guard(Lock& lock, call_site& site, const source_place where) : lock_(lock) {
    lock_.lock(site, where);
  }
  ~exclusive_guard() { lock_.unlock(); }
  exclusive_guard(const exclusive_guard&) = delete;
  exclusive_guard& operator=(const exclusive_guard&) = delete;

 private:
  Lock& lock_;
};

template <class Lock>
class [[nodiscard]] shared_guard {
 public:
  shared_guard(Lock& lock, call_site& site, const source_place where) : lock_(lock) {
    lock_.lock_shared(site, where);
  }
  ~shared_guard() { lock_.unlock_shared(); }
  shared_guard(const shared_guard&) = delete;
  shared_guard& operator=(const shared_guard&) = delete;

 private:
  Lock& lock_;
};

}  // namespace detail

/// Enters an exclusive section of `lock`, an elided<>, until the returned guard goes out of scope.
/// The caller must not hold the lock. Costs what lock() and unlock() cost.
template <class Place = decltype([] {}), class Lock>
detail::exclusive_guard<Lock> section(Lock& lock,
                                      const source_place where = source_place::current()) {
  return {lock, detail::site_of_guard<Place>, where};
}

/// As section(), in shared mode.
template <class Place = decltype([] {}), shared_elidable Inner, class Policy, class Htm>
detail::shared_guard<elided<Inner, Policy, Htm>> shared_section(
    elided<Inner, Policy, Htm>& lock, const source_place where = source_place::current()) {
  return {lock, detail::site_of_guard<Place>, where};
}

}  // namespace unlatch
