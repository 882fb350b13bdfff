// SPDX-License-Identifier: Apache-2.0
//
// A program on the library for the emulator: every lock and policy, threads that keep an invariant.
#include <array>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "unlatch/unlatch.hpp"

namespace {

using namespace unlatch;

constexpr int threads = 2;
constexpr int rounds = 60;

/// Prints the policy's name, how many sections ran, and how many of them in transactions. False if
/// the two halves of the account differ, or if money was lost.
template <class Lock, class Policy>
bool keeps_the_balance(const char* lock_name, const char* policy_name) {
  const std::string name = std::string(lock_name) + " " + policy_name;
  elided<Lock, Policy> latch(name);
  struct alignas(cache_line) {
    volatile long in = 0, out = 0;
  } account;
  bool torn = false;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        const std::scoped_lock guard(latch);
        if (account.in != account.out) torn = true;
        account.in = account.in + 1;
        account.out = account.out + 1;
      }
    });
  }
  for (auto& thread : running) thread.join();
  long elided_sections = 0, sections = 0;
  for (const auto& row : statistics::snapshot().rows) {
    if (row.lock != name) continue;
    elided_sections += static_cast<long>(row[statistics::counter::elided]);
    sections += static_cast<long>(row[statistics::counter::sections]);
  }
  std::printf("%s sections %ld elided %ld\n", name.c_str(), sections, elided_sections);
  return !torn && account.in == threads * rounds && account.out == threads * rounds &&
         sections == threads * rounds;
}

template <class Lock>
bool every_policy(const char* name) {
  const std::array kept{keeps_the_balance<Lock, policy::hle>(name, "hle"),
                        keeps_the_balance<Lock, policy::fixed<5>>(name, "fixed<5>"),
                        keeps_the_balance<Lock, policy::glibc>(name, "glibc"),
                        keeps_the_balance<Lock, policy::tbb>(name, "tbb"),
                        keeps_the_balance<Lock, policy::mariadb>(name, "mariadb"),
                        keeps_the_balance<Lock, policy::ck>(name, "ck"),
                        keeps_the_balance<Lock, policy::cervini>(name, "cervini"),
                        keeps_the_balance<Lock, policy::xsync>(name, "xsync"),
                        keeps_the_balance<Lock, policy::niessing>(name, "niessing"),
                        keeps_the_balance<Lock, policy::johnson>(name, "johnson"),
                        keeps_the_balance<Lock, policy::adaptive>(name, "adaptive")};
  for (const bool each : kept) {
    if (!each) return false;
  }
  return true;
}

/// Readers and writers of one counter, by closures.
bool closures_keep_the_balance() {
  elided<mutex> latch("closures");
  long in = 0, out = 0;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        elide(latch, [&](auto& tx) {
          tx.write(in, tx.read(in) + 1);
          tx.write(out, tx.read(out) + 1);
        });
      }
    });
  }
  for (auto& thread : running) thread.join();
  return in == threads * rounds && out == threads * rounds;
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("available %d\n", htm::available() ? 1 : 0);
  const char* const what = argc > 1 ? argv[1] : "";
  bool kept = false;
  if (std::strcmp(what, "mutex") == 0) kept = every_policy<mutex>(what);
  if (std::strcmp(what, "spin_mutex") == 0) kept = every_policy<spin_mutex>(what);
  if (std::strcmp(what, "closures") == 0) kept = closures_keep_the_balance();
  return kept ? 0 : 1;
}
