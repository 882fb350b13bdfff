// SPDX-License-Identifier: Apache-2.0
//
// The ways to run a critical section that the structure studies compare, behind one interface:
//
//   sections.read(body)    body only reads
//   sections.update(body)  body may write
//
// `body` is a generic lambda over the access object `tx`, as for elide(): so one sequential
// algorithm serves every mode. Both return what the body returns.
//
// Thread safety: any number of threads at once; the lock inside is what is measured.
#pragma once

#include <mutex>
#include <shared_mutex>
#include <utility>

#include "studies/policies.hpp"
#include "studies/study.hpp"
#include "studies/ttas_mutex.hpp"
#include "unlatch/elide.hpp"
#include "unlatch/mutex.hpp"
#include "unlatch/platform.hpp"
#include "unlatch/structures/plain_tx.hpp"

namespace unlatch::studies {

/// Every section takes the mutex.
template <class Mutex>
class locked_sections {
 public:
  template <class Body>
  auto read(Body&& body) {
    return update(std::forward<Body>(body));
  }
  template <class Body>
  auto update(Body&& body) {
    const std::scoped_lock lock(mutex_);
    plain_tx tx;
    return body(tx);
  }

 private:
  alignas(cache_line) Mutex mutex_;
};

/// Sections that only read share the mutex.
template <class SharedMutex>
class shared_sections {
 public:
  template <class Body>
  auto read(Body&& body) {
    const std::shared_lock lock(mutex_);
    plain_tx tx;
    return body(tx);
  }
  template <class Body>
  auto update(Body&& body) {
    const std::scoped_lock lock(mutex_);
    plain_tx tx;
    return body(tx);
  }

 private:
  alignas(cache_line) SharedMutex mutex_;
};

/// Sections run without the lock where that pays: elide() on the library's mutex.
template <class Policy>
class elided_sections {
 public:
  template <class Body>
  auto read(Body&& body) {
    return elide(mutex_, std::forward<Body>(body));
  }
  template <class Body>
  auto update(Body&& body) {
    return elide(mutex_, std::forward<Body>(body));
  }

 private:
  alignas(cache_line) elided<mutex, Policy> mutex_{"study"};
};

/// The modes of every structure study; the baseline first. `Policies` is a policy_list.
template <class Policies = elision_policies>
[[nodiscard]] std::vector<study_mode> section_modes() {
  return {{"std_mutex", "std::mutex around every section"},
          {"ttas", "a test-and-test-and-set spin lock around every section"},
          {"shared_mutex", "std::shared_mutex, shared by sections that only read"},
          {"unlatch", "unlatch::elide on an elided<mutex>", Policies::names()}};
}

/// Calls `measure(sections)` with fresh sections of the cell's mode and policy and returns what it
/// returns. Throws unknown_name for a mode that is none of section_modes().
template <class Policies = elision_policies, class Measure>
measurement with_sections(const cell& one, Measure&& measure) {
  if (one.mode == "std_mutex") {
    locked_sections<std::mutex> sections;
    return measure(sections);
  }
  if (one.mode == "ttas") {
    locked_sections<ttas_mutex> sections;
    return measure(sections);
  }
  if (one.mode == "shared_mutex") {
    shared_sections<std::shared_mutex> sections;
    return measure(sections);
  }
  require_name("mode", one.mode, {"unlatch"});
  measurement measured;
  Policies::with(one.policy, [&]<class Policy> {
    elided_sections<Policy> sections;
    measured = measure(sections);
  });
  return measured;
}

}  // namespace unlatch::studies
