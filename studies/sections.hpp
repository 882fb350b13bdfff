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
#include "studies/prefix_lock.hpp"
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

/// A published policy as it was published: it decides about hardware transactions, and without them
/// takes the lock. Speculating in software is the library's own.
template <class Policy>
struct as_published : Policy {
  static constexpr software_use software = software_use::never;
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
  using policy_type =
      std::conditional_t<std::is_same_v<Policy, policy::adaptive>, Policy, as_published<Policy>>;
  alignas(cache_line) elided<mutex, policy_type> mutex_{"study"};
};

/// Every section is a hardware transaction, begun again until it commits: there is no lock, and no
/// progress is guaranteed; a section that allocates may fault on a new page for ever. "Elision
/// only" in Schrimpf 2014, section 3.3.
class retried_sections {
 public:
  template <class Body>
  auto read(Body&& body) {
    return update(std::forward<Body>(body));
  }
  template <class Body>
  auto update(Body&& body) {
    while (!htm::hardware::begin().started()) cpu_relax();
    const commit_at_end end;
    plain_tx tx;
    return body(tx);
  }

 private:
  struct commit_at_end {
    commit_at_end() = default;
    commit_at_end(const commit_at_end&) = delete;
    commit_at_end& operator=(const commit_at_end&) = delete;
    ~commit_at_end() { htm::hardware::commit(); }
  };
};

/// What sections of a study do: without a lock to fall back to, they must not allocate.
enum class section_kind : std::uint8_t { allocating, plain };

/// The modes of every structure study; the baseline first. `Policies` is a policies_by_name.
template <class Policies = elision_policies>
[[nodiscard]] std::vector<study_mode> section_modes(section_kind kind = section_kind::plain) {
  std::vector<study_mode> modes{
      {"std_mutex", "std::mutex around every section"},
      {"mutex", "unlatch::mutex around every section: what the mode unlatch elides"},
      {"ttas", "a test-and-test-and-set spin lock around every section"},
      {"shared_mutex", "std::shared_mutex, shared by sections that only read"},
      {"unlatch", "unlatch::elide on an elided<mutex>", Policies::names()},
      {"prefixes", "a spin lock elided by XACQUIRE and XRELEASE", {}, machine_need::prefixes}};
  if (kind == section_kind::plain) {
    modes.push_back({"retry",
                     "a hardware transaction that is retried for ever, without a lock",
                     {},
                     machine_need::transactions});
  }
  return modes;
}

/// Calls `measure.template operator()<Sections>()` with the type of sections of the cell's mode and
/// policy and returns what it returns. Throws unknown_name for a mode that is none of
/// section_modes().
template <class Policies = elision_policies, class Measure>
measurement with_section_type(const cell& one, Measure&& measure) {
  if (one.mode == "std_mutex") return measure.template operator()<locked_sections<std::mutex>>();
  if (one.mode == "mutex") return measure.template operator()<locked_sections<mutex>>();
  if (one.mode == "ttas") return measure.template operator()<locked_sections<ttas_mutex>>();
  if (one.mode == "shared_mutex") {
    return measure.template operator()<shared_sections<std::shared_mutex>>();
  }
  if (one.mode == "prefixes") return measure.template operator()<locked_sections<prefix_lock>>();
  if (one.mode == "retry") return measure.template operator()<retried_sections>();
  require_name("mode", one.mode, {"unlatch"});
  measurement measured;
  Policies::with(one.policy, [&]<class Policy> {
    measured = measure.template operator()<elided_sections<Policy>>();
  });
  return measured;
}

/// The same, and calls `measure(sections)` with fresh sections of that type.
template <class Policies = elision_policies, class Measure>
measurement with_sections(const cell& one, Measure&& measure) {
  return with_section_type<Policies>(one, [&]<class Sections> {
    Sections sections;
    return measure(sections);
  });
}

}  // namespace unlatch::studies
