// SPDX-License-Identifier: Apache-2.0
//
// Runs sections of an elided lock on the scripted backend and tells how they ran.
#pragma once

#include <initializer_list>
#include <ostream>
#include <string>

#include "support/observed_lock.hpp"
#include "support/scripted_htm.hpp"
#include "unlatch/elided.hpp"

namespace unlatch::testing {

/// A lock name that nothing has been learned for yet.
inline std::string new_name() {
  static int count = 0;
  return "lock of test " + std::to_string(++count);
}

/// How a section ran: in how many transactions, and whether it took the lock in the end.
struct way {
  unsigned transactions;
  bool locked;

  bool operator==(const way&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const way& w) {
    return out << w.transactions << " transactions, then " << (w.locked ? "the lock" : "done");
  }
};

constexpr way elided_after(unsigned transactions) { return {transactions, false}; }
constexpr way locked_after(unsigned transactions) { return {transactions, true}; }

template <class Policy>
class policy_driver {
 public:
  policy_driver() { observed_lock::reset(); }

  /// Runs a section whose transactions end as `script` says, and start after that.
  way section(std::initializer_list<htm::status> script = {}) { return run(script, started); }

  /// Runs a section whose transactions all abort.
  way aborted_section(htm::status always) { return run({}, always); }

  /// Runs a section while the lock looks held for the next `looks` looks.
  way section_with_lock_held(unsigned looks) {
    observed_lock::appear_held(looks);
    const way result = section();
    observed_lock::appear_held(0);
    return result;
  }

  /// How many sections in a row take the lock without a try; the one after them is run, too.
  unsigned skipped(std::initializer_list<htm::status> next_script = {}) {
    unsigned n = 0;
    while (section(next_script) == locked_after(0)) ++n;
    return n;
  }

 private:
  way run(std::initializer_list<htm::status> script, htm::status afterwards) {
    scripted::play(script, afterwards);
    const unsigned locks = observed_lock::locks();
    lock_.lock();
    const way result{scripted::begins(), observed_lock::locks() != locks};
    lock_.unlock();
    return result;
  }

  elided<observed_lock, Policy, scripted> lock_{new_name()};
};

}  // namespace unlatch::testing
