// SPDX-License-Identifier: Apache-2.0
//
// One measurement of LevelDB by its own db_bench, and by the YCSB client: run as a program of its
// own on a fresh database, its output read into numbers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "systems/leveldb/program.hpp"

namespace unlatch::leveldb_driver {

struct db_bench_cell {
  /// One of db_bench's own names: fillseq, fillrandom, overwrite, readrandom, readwhilewriting, ...
  std::string benchmark;
  unsigned threads = 1;
  /// Operations of each thread, and the range of the keys: db_bench's --num. With T threads a
  /// benchmark performs T times as many.
  std::uint64_t operations_per_thread = 100'000;
  unsigned value_size = 50;
  /// Where the database's own directory is made; empty: the system's directory for temporary files.
  std::filesystem::path scratch;
  /// What `program` runs on; nothing: this machine.
  std::optional<simulated_machine> machine{};
};

struct db_bench_result {
  std::uint64_t operations = 0;
  /// From the start of the first thread to the end of the last where db_bench says enough to know
  /// it (it reports a rate in MB/s), else the mean time of a thread. readwhilewriting: the
  /// readers'.
  double seconds = 0;
  /// As db_bench prints it: the mean time that one operation takes one thread.
  double micros_per_op = 0;
  /// Of the measured benchmark, opening and closing the database included.
  context_switches switches;
  /// What a simulated machine counted, as JSON; else empty.
  std::string machine_counters;

  [[nodiscard]] double throughput() const { return static_cast<double>(operations) / seconds; }
};

/// Runs one cell with `program`, a db_bench. A benchmark that needs data gets it first, by
/// fillrandom with one thread and a full compaction, in a process of its own: so the context
/// switches are those of the benchmark alone, and every thread count starts from the same database.
/// A stop request kills it. Throws program_error.
[[nodiscard]] db_bench_result run_db_bench(const std::filesystem::path& program,
                                           const db_bench_cell& cell,
                                           const std::stop_token& stop = {});

/// Reads the result of `cell` from what db_bench printed. Throws program_error if it is not there.
[[nodiscard]] db_bench_result parse_db_bench(std::string_view output, const db_bench_cell& cell);

/// The benchmarks of the study.
inline constexpr std::string_view db_bench_benchmarks[] = {"fillseq", "fillrandom", "readrandom",
                                                           "overwrite", "readwhilewriting"};

struct ycsb_cell {
  /// A property file, or one of workloada to workloadf.
  std::string workload;
  unsigned threads = 1;
  std::uint64_t seed = 1;
  /// Settings that replace the workload's: "recordcount=100000".
  std::vector<std::string> settings;
  std::filesystem::path scratch;
  std::optional<simulated_machine> machine{};
};

/// One phase, load or run.
struct ycsb_result {
  std::uint64_t operations = 0;
  double seconds = 0;
  /// "p50", "p90", "p99", "p999", "max".
  std::map<std::string, double> latency_us;
  context_switches switches;

  [[nodiscard]] double throughput() const { return static_cast<double>(operations) / seconds; }
};

struct ycsb_results {
  ycsb_result load;
  ycsb_result run;
  /// What a simulated machine counted in both, as JSON; else empty.
  std::string machine_counters;
};

/// Loads a database with `program`, a YCSB client, and runs the workload on it. A stop request
/// kills it. Throws program_error.
[[nodiscard]] ycsb_results run_ycsb(const std::filesystem::path& program, const ycsb_cell& cell,
                                    const std::stop_token& stop = {});

}  // namespace unlatch::leveldb_driver
