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
#include <type_traits>
#include <utility>

#include "studies/policies.hpp"
#include "studies/study.hpp"
#include "studies/ttas_mutex.hpp"
#include "unlatch/platform.hpp"

namespace unlatch::studies {

/// Accesses under a lock that every thread takes: nobody looks in meanwhile.
struct plain_access {
  template <class T>
  [[nodiscard]] T read(const T& from) const {
    return from;
  }
  template <class T>
  void write(T& to, const std::type_identity_t<T>& value) const {
    to = value;
  }
  template <class T, class... Arguments>
  [[nodiscard]] T* allocate(Arguments&&... arguments) const {
    return new T(std::forward<Arguments>(arguments)...);
  }
  template <class T>
  void retire(T* object) const {
    delete object;
  }
};

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
    plain_access tx;
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
    plain_access tx;
    return body(tx);
  }
  template <class Body>
  auto update(Body&& body) {
    const std::scoped_lock lock(mutex_);
    plain_access tx;
    return body(tx);
  }

 private:
  alignas(cache_line) SharedMutex mutex_;
};

/// The modes of every structure study; the baseline first.
[[nodiscard]] inline std::vector<study_mode> section_modes() {
  return {{"std_mutex", "std::mutex around every section", {}},
          {"ttas", "a test-and-test-and-set spin lock around every section", {}},
          {"shared_mutex", "std::shared_mutex, shared by sections that only read", {}}};
}

/// Calls `measure(sections)` with fresh sections of the cell's mode and policy and returns what it
/// returns. Throws unknown_name for a mode that is none of section_modes().
template <class Measure>
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
  throw unknown_name("mode", one.mode, names_of(section_modes()));
}

}  // namespace unlatch::studies
