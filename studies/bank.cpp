// SPDX-License-Identifier: Apache-2.0
//
// The closed bank (Schrimpf 2014, chapter 3): accounts under one lock; a transfer moves money
// between pairs of them, an audit adds some up. The sum of all accounts never changes, and is
// checked.
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "studies/formatted.hpp"
#include "studies/random.hpp"
#include "studies/sections.hpp"
#include "studies/studies.hpp"
#include "studies/window.hpp"

namespace unlatch::studies {
namespace {

constexpr std::size_t accounts_touched = 10;
constexpr std::uint64_t opening_balance = 1000;

using choice = std::array<std::uint32_t, accounts_touched>;

/// Moves one unit from every even place of `chosen` to the next, where there is one to move.
template <class Tx>
void transfer(Tx& tx, std::vector<std::uint64_t>& balances, const choice& chosen) {
  for (std::size_t i = 0; i < chosen.size(); i += 2) {
    const auto from = tx.read(balances[chosen[i]]);
    if (from == 0) continue;
    tx.write(balances[chosen[i]], from - 1);
    tx.write(balances[chosen[i + 1]], tx.read(balances[chosen[i + 1]]) + 1);
  }
}

template <class Tx>
std::uint64_t audit(Tx& tx, const std::vector<std::uint64_t>& balances, const choice& chosen) {
  std::uint64_t sum = 0;
  for (const auto account : chosen) sum += tx.read(balances[account]);
  return sum;
}

template <class Sections>
measurement measure_bank(Sections& sections, const cell& one, const std::stop_token& stop) {
  const auto count = one.params.at("accounts");
  const std::uint64_t audits = one.case_name == "audits" ? 90 : 0;
  std::vector<std::uint64_t> balances(count, opening_balance);
  window during(std::chrono::milliseconds(one.params.at("window_ms")));
  auto measured = during.run(one.threads, stop, [&](unsigned thread) {
    random_numbers random(one.seed, thread);
    std::uint64_t seen = 0;
    const auto counted = count_operations(during, [&] {
      choice chosen;
      for (auto& account : chosen) account = static_cast<std::uint32_t>(random.below(count));
      if (random.below(100) < audits) {
        seen += sections.read([&](auto& tx) { return audit(tx, balances, chosen); });
      } else {
        sections.update([&](auto& tx) { transfer(tx, balances, chosen); });
      }
    });
    asm volatile("" : : "r"(seen));
    return counted;
  });
  const auto sum = std::accumulate(balances.begin(), balances.end(), std::uint64_t{0});
  if (sum != count * opening_balance) {
    throw study_error(
        formatted("study bank, mode {}, policy {}: the accounts hold {} and should hold {}; "
                  "sections ran into "
                  "each other, please report this",
                  one.mode, one.policy, sum, count * opening_balance));
  }
  return measured;
}

}  // namespace

study bank_study() {
  study bank;
  bank.name = "bank";
  bank.description = "Transfers between accounts under one lock; the money is counted afterwards";
  bank.cases = {{"transfers", "every section moves money between five pairs of accounts"},
                {"audits", "90 % of the sections add up ten accounts, the others transfer"}};
  bank.modes = section_modes();
  bank.parameters = {{"accounts", "number of accounts", 10'000, 10'000, 2, 100'000'000},
                     {"window_ms", "length of a cell in milliseconds", 200, 100, 1, 600'000, 2}};
  bank.threads = {1, 2, 4};
  bank.measure = [](const cell& one, const std::stop_token& stop) {
    return with_sections(one, [&](auto& sections) { return measure_bank(sections, one, stop); });
  };
  return bank;
}

}  // namespace unlatch::studies
