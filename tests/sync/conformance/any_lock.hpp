// SPDX-License-Identifier: Apache-2.0
//
// Every lock x policy x backend behind one interface, so that the conformance tests are compiled
// once and run for all of them.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/scripted_htm.hpp"
#include "unlatch/coarsening.hpp"
#include "unlatch/elided.hpp"

namespace unlatch::testing {

/// An elided lock of any type. The shared members are for locks with a shared mode.
class any_lock {
 public:
  virtual ~any_lock() = default;
  virtual void lock() = 0;
  virtual bool try_lock() = 0;
  virtual void unlock() = 0;
  virtual bool is_free() const = 0;
  virtual void on_unlock(std::function<void()> action) = 0;
  virtual void lock_shared() = 0;
  virtual bool try_lock_shared() = 0;
  virtual void unlock_shared() = 0;
};

struct named_maker {
  std::string_view policy;
  std::unique_ptr<any_lock> (*make)();
};

/// A lock and where it runs, with every policy.
struct combination {
  std::string lock;
  std::string where;
  bool isolates;  ///< sections exclude each other between threads
  bool shared;    ///< the lock has a shared mode
  void (*prepare)();
  std::vector<named_maker> makers;

  /// With the default policy.
  std::unique_ptr<any_lock> make() const;
  friend std::ostream& operator<<(std::ostream& out, const combination& c);
};

/// All of them; those that fit for tests in many threads; of these, those with a shared mode.
std::vector<combination> every_combination();
std::vector<combination> isolating_combinations();
std::vector<combination> shared_combinations();

// --- where locks run
// ------------------------------------------------------------------------------

struct without_transactions {
  using htm = unlatch::htm::none;
  static constexpr const char* name = "without_transactions";
  static constexpr bool isolates = true;
  static void prepare() {}
};
struct on_this_hardware {
  using htm = unlatch::htm::hardware;
  static constexpr const char* name = "on_this_hardware";
  static constexpr bool isolates = true;
  static void prepare() {}
};
struct where_all_abort {
  using htm = scripted;
  static constexpr const char* name = "where_all_abort";
  static constexpr bool isolates = true;
  static void prepare() { scripted::play({}, conflict); }
};
struct where_all_commit {
  using htm = scripted;
  static constexpr const char* name = "where_all_commit";
  static constexpr bool isolates = false;
  static void prepare() { scripted::play({}, started); }
};

template <class Lock, class Policy, class Htm>
class erased_lock final : public any_lock {
 public:
  void lock() override { lock_.lock(); }
  bool try_lock() override { return lock_.try_lock(); }
  void unlock() override { lock_.unlock(); }
  bool is_free() const override { return lock_.is_free(); }
  void on_unlock(std::function<void()> action) override { lock_.on_unlock(std::move(action)); }
  void lock_shared() override {
    if constexpr (shared_elidable<Lock>) lock_.lock_shared();
  }
  bool try_lock_shared() override {
    if constexpr (shared_elidable<Lock>)
      return lock_.try_lock_shared();
    else
      return false;
  }
  void unlock_shared() override {
    if constexpr (shared_elidable<Lock>) lock_.unlock_shared();
  }

  static std::unique_ptr<any_lock> make() { return std::make_unique<erased_lock>(); }

 private:
  // The row, where the policy learns, is shared by locks of one name: one name for each policy.
  elided<Lock, Policy, Htm> lock_{std::string("conformance, ") + std::string(Policy::name)};
};

template <class Lock, class Where>
combination combine(const char* lock_name) {
  combination c{lock_name, Where::name, Where::isolates, shared_elidable<Lock>, Where::prepare, {}};
  const auto add = [&]<class... Policy>() {
    (c.makers.push_back({Policy::name, erased_lock<Lock, Policy, typename Where::htm>::make}), ...);
  };
  add.template
  operator()<policy::adaptive, policy::hle, policy::fixed<0>, policy::fixed<3>, policy::glibc,
             policy::tbb, policy::mariadb, policy::ck, policy::cervini, policy::xsync,
             policy::niessing, policy::johnson, policy::coarsened<policy::adaptive>>();
  return c;
}

template <class Lock>
std::vector<combination> combine_everywhere(const char* lock_name) {
  return {combine<Lock, without_transactions>(lock_name),
          combine<Lock, on_this_hardware>(lock_name), combine<Lock, where_all_abort>(lock_name),
          combine<Lock, where_all_commit>(lock_name)};
}

// One a file, which compile side by side.
std::vector<combination> combinations_of_mutex();
std::vector<combination> combinations_of_spin_mutex();
std::vector<combination> combinations_of_ticket_mutex();
std::vector<combination> combinations_of_mcs_mutex();
std::vector<combination> combinations_of_shared_mutex();
std::vector<combination> combinations_of_sr_latch();
std::vector<combination> combinations_of_rw_semaphore();

}  // namespace unlatch::testing
