// SPDX-License-Identifier: Apache-2.0
//
// YCSB's core workloads on LevelDB, stock and on the library (Chitters et al., section 5). What is
// measured is the run phase; the load phase's throughput stands beside it in each record.
#include <string>

#include "studies/program_study.hpp"
#include "studies/studies.hpp"
#include "systems/leveldb/db_bench.hpp"

namespace unlatch::studies {
namespace {

leveldb_driver::ycsb_cell ycsb_cell_of(const cell& one) {
  leveldb_driver::ycsb_cell wanted;
  wanted.workload = one.case_name;
  wanted.threads = one.threads;
  wanted.seed = one.seed;
  wanted.settings = {"recordcount=" + std::to_string(one.params.at("records")),
                     "operationcount=" + std::to_string(one.params.at("operations"))};
  return wanted;
}

measurement measurement_of(const leveldb_driver::ycsb_results& result) {
  measurement measured;
  measured.ops = result.run.operations;
  measured.seconds = result.run.seconds;
  measured.latency_us = result.run.latency_us;
  measured.extra["load_throughput"] = result.load.throughput();
  return measured;
}

measurement measure_ycsb(const cell& one, const std::stop_token& stop) {
  const auto program = leveldb_driver::find_program("leveldb_ycsb_" + one.mode);
  return with_interruption(stop, [&] {
    const auto result = leveldb_driver::run_ycsb(program, ycsb_cell_of(one), stop);
    measurement measured = measurement_of(result);
    add_context_switches(measured, result.run.switches);
    return measured;
  });
}

/// The program is the simulated machine here; its counters cover the load phase, too.
measurement simulate_ycsb(const cell& one, const lab::model_file& on, const std::stop_token& stop) {
  const auto program = leveldb_driver::find_simulated_program("leveldb_ycsb_" + one.mode);
  leveldb_driver::ycsb_cell wanted = ycsb_cell_of(one);
  const auto result = with_machine("ycsb", one, on, stop, [&](const auto& machine) {
    wanted.machine = machine;
    return leveldb_driver::run_ycsb(program, wanted, stop);
  });
  measurement measured = measurement_of(result);
  add_machine_counters(measured, result.machine_counters);
  return measured;
}

}  // namespace

study ycsb_study() {
  study what;
  what.name = "ycsb";
  what.description = "YCSB's workloads A to F on LevelDB: stock beside the build on this library";
  what.cases = {{"workloada", "50 % reads, 50 % updates, zipfian"},
                {"workloadb", "95 % reads, 5 % updates, zipfian"},
                {"workloadc", "reads only, zipfian"},
                {"workloadd", "95 % reads of the latest, 5 % inserts"},
                {"workloade", "95 % short scans, 5 % inserts, zipfian"},
                {"workloadf", "50 % reads, 50 % read-modify-writes, zipfian"}};
  what.modes = leveldb_modes();
  what.parameters = {{"records", "records in the database", 100'000, 10'000, 1},
                     {"operations", "operations of all threads together", 100'000, 10'000, 1}};
  what.threads = {1, 2, 4};
  what.measure = measure_ycsb;
  what.measure_on = simulate_ycsb;
  return what;
}

}  // namespace unlatch::studies
