// SPDX-License-Identifier: Apache-2.0
//
// elide() against locks, a seqlock and GCC's transactions: one lock around a hash map, a red-black
// tree and a bank.
#include <fmt/core.h>

#include <mutex>
#include <numeric>
#include <shared_mutex>

#include "bench/elide/sections.hpp"
#include "bench/elide/workloads.hpp"
#include "bench/harness/session.hpp"
#include "unlatch/mutex.hpp"
#include "unlatch/spin_mutex.hpp"

#if UNLATCH_BENCH_TBB
#include <oneapi/tbb/spin_mutex.h>
#include <oneapi/tbb/spin_rw_mutex.h>
#endif
#if UNLATCH_BENCH_ITM
#include "bench/elide/itm.hpp"
#endif

namespace unlatch::bench {
namespace {

const std::vector<std::string> ours = {"elide, spin_mutex", "elide, mutex"};

/// All peers of a cell. `over(sections)` makes the work of one, `in_itm()` that in GCC's
/// transactions.
template <class Over, class InItm>
std::vector<peer> all_peers(Over over, [[maybe_unused]] InItm in_itm) {
  std::vector<peer> peers = {
      {"std::mutex", over(std::make_shared<studies::locked_sections<std::mutex>>())},
      {"TTAS", over(std::make_shared<studies::locked_sections<studies::ttas_mutex>>())},
      {ours[0], over(std::make_shared<elided_lock_sections<spin_mutex>>("spin_mutex"))},
      {ours[1], over(std::make_shared<elided_lock_sections<mutex>>("mutex"))},
      {"std::shared_mutex", over(std::make_shared<studies::shared_sections<std::shared_mutex>>())},
      {"seqlock", over(std::make_shared<seqlock_sections>())}};
#if UNLATCH_BENCH_TBB
  peers.push_back(
      {"tbb::spin_rw_mutex", over(std::make_shared<tbb_shared_sections<tbb::spin_rw_mutex>>())});
  peers.push_back({"tbb::speculative_spin_mutex",
                   over(std::make_shared<tbb_sections<tbb::speculative_spin_mutex>>())});
  peers.push_back({"tbb::speculative_spin_rw_mutex",
                   over(std::make_shared<tbb_shared_sections<tbb::speculative_spin_rw_mutex>>())});
#endif
#if UNLATCH_BENCH_ITM
  peers.push_back({"libitm", in_itm()});
#endif
  peers.push_back(control_of(peers[0]));
  peers.push_back(control_of(peers[1]));
  return peers;
}

/// Never slower than the better of std::mutex and TTAS; twice TTAS where several threads only read.
std::vector<target> targets(bool twice) {
  std::vector<target> all;
  for (const auto& name : ours) {
    all.push_back({name, {"std::mutex", "TTAS"}, 0.97});
    if (twice) all.push_back({name, {"TTAS"}, 2});
  }
  return all;
}

void measure(session& run, const std::string& name, std::uint64_t reads,
             const std::vector<peer>& peers) {
  for (const unsigned threads : run.asked().threads)
    run.measure({fmt::format("{} {} %", name, reads),
                 {{"reads_percent", reads}},
                 threads,
                 peers,
                 {"std::mutex", "TTAS"},
                 targets(reads == 100 && threads > 1)});
}

template <class Map, class... Arguments>
void measure_map(session& run, const std::string& name, std::uint64_t keys,
                 std::initializer_list<std::uint64_t> mixes, Arguments... arguments) {
  auto map = std::make_shared<Map>(arguments...);
  fill(*map, keys);
  for (const std::uint64_t reads : mixes) {
    measure(run, name, reads,
            all_peers([&](auto sections) { return map_work(map, sections, keys, reads); },
                      [&] { return itm_work(map, keys, reads); }));
  }
}

void measure_bank(session& run) {
  auto accounts = std::make_shared<bank>(10'000);
  for (const std::uint64_t sums : {0, 90}) {
    measure(run, "bank, sums", sums,
            all_peers([&](auto sections) { return bank_work(accounts, sections, sums); },
                      [&] { return itm_work(accounts, sums); }));
  }
  const auto& balances = accounts->balances;
  const auto total = std::accumulate(balances.begin(), balances.end(), std::uint64_t{0});
  if (total != balances.size() * bank::opening_balance)
    throw std::logic_error(
        "bank: money was made or lost, so sections of some peer ran into each "
        "other; measure the peers one by one to see whose");
}

}  // namespace
}  // namespace unlatch::bench

int main(int argc, char** argv) {
  using namespace unlatch::bench;
  options defaults;
  defaults.threads = {1, 2, 4};
  session run("elide", "elide() against locks and other ways to read without one", defaults, argc,
              argv);
  measure_map<hash_table>(run, "hash map, reads", 2'000, {100, 90, 50}, std::size_t{1'000});
  measure_map<tree>(run, "red-black tree, reads", 200'000, {100, 90});
  measure_bank(run);
  return run.finish();
}
