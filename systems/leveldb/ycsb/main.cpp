// SPDX-License-Identifier: Apache-2.0
//
// leveldb_ycsb_stock, leveldb_ycsb_unlatch: YCSB's core workloads on LevelDB, from the command
// line.
#include <leveldb/db.h>
#include <leveldb/options.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "systems/leveldb/ycsb/client.hpp"
#include "systems/leveldb/ycsb/properties.hpp"
#include "systems/leveldb/ycsb/workload.hpp"

namespace {

namespace ycsb = unlatch::ycsb;

struct arguments {
  std::string workload;
  std::vector<std::string> settings;
  std::string database;
  std::string phase = "both";
  unsigned threads = 1;
  std::uint64_t seed = 1;
  bool json = false;
};

/// A workload is a property file, or the name of one of those beside this program.
std::filesystem::path find_workload(const std::string& named) {
  if (std::filesystem::exists(named)) return named;
  const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "workloads";
  const auto standard = beside / named;
  return std::filesystem::exists(standard) ? standard : std::filesystem::path(named);
}

nlohmann::ordered_json latencies(const ycsb::latency_histogram& histogram) {
  const auto microseconds = [](std::uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1000;
  };
  return {{"p50", microseconds(histogram.percentile(0.5))},
          {"p90", microseconds(histogram.percentile(0.9))},
          {"p99", microseconds(histogram.percentile(0.99))},
          {"p999", microseconds(histogram.percentile(0.999))},
          {"max", microseconds(histogram.longest())}};
}

nlohmann::ordered_json describe(const std::string& phase, const arguments& given,
                                const ycsb::phase_result& result) {
  nlohmann::ordered_json described = {
      {"phase", phase},
      {"workload", std::filesystem::path(given.workload).filename().string()},
      {"threads", given.threads},
      {"seed", given.seed},
      {"ops", result.operations},
      {"seconds", result.seconds},
      {"throughput", static_cast<double>(result.operations) / result.seconds},
      {"latency_us", latencies(result.latency)},
      {"not_found", result.not_found},
      {"context_switches",
       {{"voluntary", result.voluntary_switches}, {"involuntary", result.involuntary_switches}}}};
  for (std::size_t i = 0; i < ycsb::operations; ++i) {
    if (result.latency_of[i].count() == 0) continue;
    auto& kind = described["operations"][std::string(ycsb::operation_names[i])];
    kind["ops"] = result.latency_of[i].count();
    kind["latency_us"] = latencies(result.latency_of[i]);
  }
  return described;
}

void print(const nlohmann::ordered_json& described, bool json) {
  if (json) {
    std::cout << described.dump() << std::endl;
    return;
  }
  std::printf("%s %s: %.0f operations/s with %u threads (%lu in %.3f s)\n",
              described["workload"].get<std::string>().c_str(),
              described["phase"].get<std::string>().c_str(), described["throughput"].get<double>(),
              described["threads"].get<unsigned>(), described["ops"].get<unsigned long>(),
              described["seconds"].get<double>());
  for (const auto& [name, kind] : described["operations"].items()) {
    const auto& latency = kind["latency_us"];
    std::printf("  %-18s %10lu   p50 %8.1f us   p99 %8.1f us   max %10.1f us\n", name.c_str(),
                kind["ops"].get<unsigned long>(), latency["p50"].get<double>(),
                latency["p99"].get<double>(), latency["max"].get<double>());
  }
}

void execute(const arguments& given) {
  auto settings = ycsb::properties::read(find_workload(given.workload));
  for (const std::string& setting : given.settings) settings.set(setting, "-p");
  const ycsb::workload described = ycsb::workload::from(settings);

  leveldb::Options options;
  options.create_if_missing = given.phase != "run";
  leveldb::DB* opened = nullptr;
  const leveldb::Status status = leveldb::DB::Open(options, given.database, &opened);
  if (!status.ok()) {
    throw ycsb::database_error("LevelDB could not open " + given.database + ": " +
                               status.ToString() + "; load it first, or name another --db");
  }
  const std::unique_ptr<leveldb::DB> database(opened);
  if (given.phase != "run") {
    print(describe("load", given, ycsb::load(*database, described, given.threads, given.seed)),
          given.json);
  }
  if (given.phase != "load") {
    print(describe("run", given, ycsb::run(*database, described, given.threads, given.seed)),
          given.json);
  }
}

}  // namespace

int main(int argc, char** argv) {
  arguments given;
  CLI::App program("Runs a YCSB core workload on LevelDB and prints throughput and latencies.");
  program.add_option("--workload", given.workload, "Property file, or workloada to workloadf")
      ->required();
  program.add_option("--db", given.database, "Directory of the database")->required();
  program.add_option("--phase", given.phase, "load, run, or both")
      ->check(CLI::IsMember({"load", "run", "both"}))
      ->capture_default_str();
  program.add_option("--threads", given.threads, "Client threads")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  program.add_option("--seed", given.seed, "Where the random numbers begin")->capture_default_str();
  program.add_option("-p", given.settings, "name=value that replaces a property; repeatable")
      ->allow_extra_args(false);
  program.add_flag("--json", given.json, "Print one JSON object a phase");
  CLI11_PARSE(program, argc, argv);
  try {
    execute(given);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
  return 0;
}
