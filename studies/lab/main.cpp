// SPDX-License-Identifier: Apache-2.0
//
// unlatch-lab: measures one cell of a study on a simulated machine. Reads a request from standard
// input and writes the measurement to standard output (studies/lab_protocol.hpp); what goes wrong
// is told on standard error with exit code 1, or 3 for a cell that has used up its virtual time.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <iterator>
#include <string>

#include "src/lab/given_up.hpp"
#include "src/lab/lab.hpp"
#include "studies/lab/blame.hpp"
#include "studies/lab_protocol.hpp"

namespace unlatch::studies {
namespace {

/// The machine's own counters over the whole run, the warming up of the window included. cycles_t
/// and cycles_ct, misc1 to misc5 are what perf calls cycles-t, cycles-ct and
/// *_retired.aborted_misc.
nlohmann::json machine_counters(const lab::run_result& run) {
  const auto& all = run.all;
  return {{"cycles", run.cycles},
          {"cycles_busy", all.cycles_busy},
          {"cycles_t", all.cycles_in_transactions},
          {"cycles_ct", all.cycles_committed},
          {"started", all.started},
          {"committed", all.committed},
          {"aborted", all.aborted},
          {"misc1", all.misc1()},
          {"misc2", all.misc2()},
          {"misc3", all.misc3()},
          {"misc4", all.misc4()},
          {"misc5", all.misc5()},
          {"accesses", all.accesses},
          {"l1_misses", all.l1_misses},
          {"l2_misses", all.l2_misses},
          {"l3_misses", all.l3_misses},
          {"transfers", all.transfers},
          {"upgrades", all.upgrades},
          {"stall_cycles", all.stall_cycles},
          {"queue_cycles", all.queue_cycles},
          {"interrupts", all.interrupts},
          {"page_faults", all.page_faults},
          {"system_calls", all.system_calls},
          {"migrations", all.migrations}};
}

/// Where the library counted none: transactions that a study ran by itself, or by prefixes.
transaction_counts machine_transactions(const lab::counters& all) {
  transaction_counts counts;
  counts.started = all.started + all.hle_started;
  counts.committed = all.committed + all.hle_committed;
  counts.aborted.conflict = all.aborts[0];
  counts.aborted.capacity = all.aborts[1] + all.aborts[2];
  counts.aborted.explicitly = all.aborts[3];
  for (std::size_t reason = 4; reason < std::size(all.aborts); ++reason) {
    counts.aborted.other += all.aborts[reason];
  }
  return counts;
}

measurement simulate(const lab_request& request) {
  const study& what = find_study(request.study);
  measurement measured;
  std::exception_ptr failure;
  const std::uint64_t limit_ms = virtual_limit_ms(request.what);
  const lab::options how{.seed = request.what.seed,
                         .most_cycles = lab::cycles_of_ms(limit_ms, request.on.constants.mhz),
                         .blame = request.blame};
  const auto run = lab::run(request.on.constants, how, [&] {
    try {
      measured = what.measure(request.what, {});
    } catch (...) {
      failure = std::current_exception();
    }
  });
  if (!run.finished) {
    std::fprintf(stderr, "%s\n", lab::describe_given_up(run, limit_ms).c_str());
    // Not by exit(): what runs there may wait for the threads that were left where they stood.
    std::_Exit(lab::given_up_status);
  }
  if (failure) std::rethrow_exception(failure);
  measured.context_switches = run.all.context_switches;
  if (measured.transactions.started == 0) measured.transactions = machine_transactions(run.all);
  measured.extra["machine"] = machine_counters(run);
  if (request.blame) measured.extra["blame"] = blame_of(run.blame);
  return measured;
}

}  // namespace
}  // namespace unlatch::studies

int main() {
  using namespace unlatch::studies;
  try {
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    // Lines of source in it may be in any encoding.
    const auto answer = to_json(simulate(parse_lab_request(text)))
                            .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    std::printf("%s\n", answer.c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
