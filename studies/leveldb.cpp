// SPDX-License-Identifier: Apache-2.0
//
// LevelDB's own db_bench, stock, on the library, with its lock plainly elided, and as Chitters et
// al. changed it (section 5). Each cell is a process of its own on a fresh database.
#include <limits>
#include <string>

#include "studies/program_study.hpp"
#include "studies/studies.hpp"
#include "systems/leveldb/db_bench.hpp"

namespace unlatch::studies {
namespace {

leveldb_driver::db_bench_cell db_bench_cell_of(const cell& one) {
  leveldb_driver::db_bench_cell wanted;
  wanted.benchmark = one.case_name;
  wanted.threads = one.threads;
  wanted.operations_per_thread = one.params.at("operations");
  wanted.value_size = static_cast<unsigned>(one.params.at("value_size"));
  return wanted;
}

measurement measurement_of(const leveldb_driver::db_bench_result& result) {
  measurement measured;
  measured.ops = result.operations;
  measured.seconds = result.seconds;
  measured.extra["micros_per_op"] = result.micros_per_op;
  return measured;
}

measurement measure_db_bench(const cell& one, const std::stop_token& stop) {
  const auto program = leveldb_driver::find_program("leveldb_db_bench_" + one.mode);
  return with_interruption(stop, [&] {
    const auto result = leveldb_driver::run_db_bench(program, db_bench_cell_of(one), stop);
    measurement measured = measurement_of(result);
    add_context_switches(measured, result.switches);
    return measured;
  });
}

/// The program is the simulated machine here.
measurement simulate_db_bench(const cell& one, const lab::model_file& on,
                              const std::stop_token& stop) {
  const auto program = leveldb_driver::find_simulated_program("leveldb_db_bench_" + one.mode);
  leveldb_driver::db_bench_cell wanted = db_bench_cell_of(one);
  const auto result = with_machine("leveldb", one, on, stop, [&](const auto& machine) {
    wanted.machine = machine;
    return leveldb_driver::run_db_bench(program, wanted, stop);
  });
  measurement measured = measurement_of(result);
  add_machine_counters(measured, result.machine_counters);
  return measured;
}

}  // namespace

study leveldb_study() {
  study what;
  what.name = "leveldb";
  what.description = "LevelDB's db_bench with 16-byte keys: stock beside the build on this library";
  what.cases = {{"fillseq", "write in the order of the keys into an empty database"},
                {"fillrandom", "write in random order into an empty database"},
                {"readrandom", "read random keys"},
                {"overwrite", "overwrite random keys"},
                {"readwhilewriting", "read random keys while one more thread writes"}};
  what.modes = leveldb_modes();
  what.parameters = {{"operations", "operations a thread, and keys in the database", 100'000,
                      20'000, 1, std::numeric_limits<std::uint32_t>::max(), 10'000},
                     {"value_size", "bytes of a value", 50, 50, 1, 1'000'000}};
  what.threads = {1, 2, 4, 8};
  what.measure = measure_db_bench;
  what.measure_on = simulate_db_bench;
  return what;
}

}  // namespace unlatch::studies
