// SPDX-License-Identifier: Apache-2.0
//
// LevelDB's own db_bench, stock, on the library, and with its lock plainly elided (Chitters et al.,
// section 5). Each cell is a process of its own on a fresh database.
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "src/lab/model_file.hpp"
#include "studies/program_study.hpp"
#include "studies/studies.hpp"
#include "systems/leveldb/db_bench.hpp"

namespace unlatch::studies {
namespace {

leveldb_driver::db_bench_cell wanted_of(const cell& one) {
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
    const auto result = leveldb_driver::run_db_bench(program, wanted_of(one), stop);
    measurement measured = measurement_of(result);
    add_context_switches(measured, result.switches);
    return measured;
  });
}

/// The program is the simulated machine here; it is told the model in a file.
measurement measure_simulated(const cell& one, const lab::model_file& machine,
                              const std::stop_token& stop) {
  const auto program = leveldb_driver::find_simulated_program("leveldb_db_bench_" + one.mode);
  return with_interruption(stop, [&] {
    const leveldb_driver::scratch_directory told;
    leveldb_driver::db_bench_cell wanted = wanted_of(one);
    wanted.machine = told.path() / "machine.json";
    wanted.seed = one.seed;
    std::ofstream(wanted.machine) << lab::to_json(machine);
    const auto result = leveldb_driver::run_db_bench(program, wanted, stop);
    measurement measured = measurement_of(result);
    const auto counters = nlohmann::json::parse(result.machine_counters);
    measured.transactions.started = counters.at("started");
    measured.transactions.committed = counters.at("committed");
    const auto& aborts = counters.at("aborts");
    measured.transactions.aborted.conflict = aborts.at("conflict");
    measured.transactions.aborted.capacity = aborts.at("capacity");
    measured.transactions.aborted.explicitly = aborts.at("explicit");
    measured.transactions.aborted.other =
        aborts.at("nested").get<std::uint64_t>() + aborts.at("other").get<std::uint64_t>();
    measured.context_switches = counters.at("context_switches");
    measured.extra["machine"] = counters;
    return measured;
  });
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
  what.modes.push_back({"elided",
                        "as 'unlatch', with the policy of glibc's elision in place of ours",
                        {"glibc"},
                        machine_need::simulated_transactions});
  what.parameters = {{"operations", "operations a thread, and keys in the database", 100'000,
                      20'000, 1, std::numeric_limits<std::uint32_t>::max(), 10'000},
                     {"value_size", "bytes of a value", 50, 50, 1, 1'000'000}};
  what.threads = {1, 2, 4, 8};
  what.measure = measure_db_bench;
  what.measure_on = measure_simulated;
  return what;
}

}  // namespace unlatch::studies
