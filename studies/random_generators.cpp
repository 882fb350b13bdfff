// SPDX-License-Identifier: Apache-2.0
//
// What the random generator of a benchmark does to it (Schrimpf 2014, appendix C.6): withdrawals
// and deposits in a bank of few accounts under one lock, with accounts chosen in four ways.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "studies/formatted.hpp"
#include "studies/random.hpp"
#include "studies/sections.hpp"
#include "studies/studies.hpp"
#include "studies/window.hpp"

namespace unlatch::studies {
namespace {

constexpr std::uint64_t start_balance = 1000;

/// Schrimpf's generator: its state is one word that all threads write.
class shared_generator {
 public:
  std::uint64_t below(std::uint64_t bound) {
    const auto next = (state_.load(std::memory_order_relaxed) * 32719 + 3) % 32749;
    state_.store(next, std::memory_order_relaxed);
    return next % bound;
  }

 private:
  alignas(cache_line) std::atomic<std::uint64_t> state_{1};
};

/// Chooses the accounts of one thread.
class account_chooser {
 public:
  account_chooser(const cell& one, unsigned thread, shared_generator& shared)
      : how_(one.case_name),
        accounts_(one.params.at("accounts")),
        shared_(shared),
        random_(one.seed, thread + 1),
        first_(accounts_ * thread / one.threads),
        count_(std::max<std::uint64_t>(1, accounts_ * (thread + 1) / one.threads - first_)) {
    if (how_ == "saved") {
      for (std::size_t i = 0; i < saved_numbers; ++i) saved_.push_back(random_.below(accounts_));
    }
  }

  std::uint64_t next() {
    if (how_ == "shared") return shared_.below(accounts_);
    if (how_ == "saved") return saved_[step_++ % saved_numbers];
    if (how_ == "partitioned") return (first_ + step_++ % count_) % accounts_;
    return random_.below(accounts_);
  }

 private:
  static constexpr std::size_t saved_numbers = 1024;

  std::string how_;
  std::uint64_t accounts_;
  shared_generator& shared_;
  random_numbers random_;
  std::uint64_t first_;
  std::uint64_t count_;
  std::uint64_t step_ = 0;
  std::vector<std::uint64_t> saved_;
};

template <class Sections>
measurement measure_random(Sections& sections, const cell& one, const std::stop_token& stop) {
  struct alignas(cache_line) account {
    std::uint64_t balance = start_balance;
  };
  std::vector<account> accounts(one.params.at("accounts"));
  shared_generator shared;
  window during(std::chrono::milliseconds(one.params.at("window_ms")));
  auto measured = during.run(one.threads, stop, [&](unsigned thread) {
    account_chooser chooser(one, thread, shared);
    return count_operations(during, [&] {
      auto& from = accounts[chooser.next()].balance;
      auto& to = accounts[chooser.next()].balance;
      sections.update([&](auto& tx) {
        const auto money = tx.read(from);
        if (money == 0) return;
        tx.write(from, money - 1);
        tx.write(to, tx.read(to) + 1);
      });
    });
  });
  std::uint64_t sum = 0;
  for (const auto& one_account : accounts) sum += one_account.balance;
  if (sum != accounts.size() * start_balance) {
    throw study_error(formatted(
        "study random, mode {}, policy {}: the accounts hold {} and should hold {}; sections ran "
        "into each other, please report this",
        one.mode, one.policy, sum, accounts.size() * start_balance));
  }
  return measured;
}

}  // namespace

study random_study() {
  study what;
  what.name = "random";
  what.description = "Transfers in a small bank whose accounts are chosen by different generators";
  what.cases = {{"own", "a generator a thread"},
                {"shared", "one generator whose state all threads write"},
                {"saved", "numbers drawn beforehand"},
                {"partitioned", "each thread walks over accounts of its own"}};
  what.modes = section_modes();
  what.parameters = {{"accounts", "number of accounts", 100, 100, 2, 100'000'000},
                     {"window_ms", "length of a cell in milliseconds", 200, 100, 1, 600'000, 2}};
  what.threads = {1, 2, 4};
  what.measure = [](const cell& one, const std::stop_token& stop) {
    return with_sections(one, [&](auto& sections) { return measure_random(sections, one, stop); });
  };
  return what;
}

}  // namespace unlatch::studies
