// SPDX-License-Identifier: Apache-2.0
#include "systems/leveldb/db_bench.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <sstream>
#include <utility>

namespace unlatch::leveldb_driver {
namespace {

constexpr unsigned key_size = 16;

bool writes_only(std::string_view benchmark) {
  return benchmark.starts_with("fill") || benchmark == "overwrite";
}

void append_machine(std::vector<std::string>& flags,
                    const std::optional<simulated_machine>& machine) {
  if (!machine) return;
  for (std::string& flag : machine->flags()) flags.push_back(std::move(flag));
}

std::vector<std::string> common_flags(const db_bench_cell& cell,
                                      const std::filesystem::path& database) {
  std::vector<std::string> flags = {"--db=" + database.string(),
                                    "--num=" + std::to_string(cell.operations_per_thread),
                                    "--value_size=" + std::to_string(cell.value_size)};
  append_machine(flags, cell.machine);
  return flags;
}

void run_first(const std::filesystem::path& program, std::vector<std::string> flags,
               const std::stop_token& stop) {
  flags.insert(flags.end(), {"--benchmarks=fillrandom,compact", "--threads=1"});
  (void)run_program(program, flags, stop);
}

/// The line of the benchmark: "NAME : MICROS micros/op; RATE MB/s MESSAGE".
struct report_line {
  double micros_per_op;
  std::optional<double> megabytes_per_second;
};

report_line find_report(std::string_view output, const db_bench_cell& cell) {
  static const std::regex report(R"(^(\w+)\s*:\s*([0-9.]+) micros/op;\s*(?:([0-9.]+) MB/s)?.*)");
  const std::string text(output);
  std::optional<report_line> found;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    std::smatch match;
    if (std::regex_match(line, match, report) && match[1] == cell.benchmark) {
      found = report_line{std::stod(match[2]), {}};
      if (match[3].matched) found->megabytes_per_second = std::stod(match[3]);
    }
    begin = end + 1;
  }
  if (!found || found->micros_per_op <= 0) {
    throw program_error("db_bench reported no time for '" + cell.benchmark +
                        "'; is that one of its benchmarks? It printed: " + text);
  }
  return *found;
}

/// What follows `key` on a line of its own; empty if there is none.
std::string line_after(std::string_view output, std::string_view key) {
  const std::size_t begin = output.find("\n" + std::string(key));
  if (begin == std::string_view::npos) return {};
  const std::string_view rest = output.substr(begin + 1 + key.size());
  return std::string(rest.substr(0, rest.find('\n')));
}

ycsb_result read_phase(const nlohmann::json& phase) {
  ycsb_result result;
  result.operations = phase.at("ops").get<std::uint64_t>();
  result.seconds = phase.at("seconds").get<double>();
  result.latency_us = phase.at("latency_us").get<std::map<std::string, double>>();
  const auto& switches = phase.at("context_switches");
  result.switches = {switches.at("voluntary").get<std::uint64_t>(),
                     switches.at("involuntary").get<std::uint64_t>()};
  return result;
}

}  // namespace

db_bench_result parse_db_bench(std::string_view output, const db_bench_cell& cell) {
  const report_line report = find_report(output, cell);
  db_bench_result result;
  result.operations = cell.operations_per_thread * cell.threads;
  result.micros_per_op = report.micros_per_op;
  // db_bench divides the sum of the threads' times by their operations.
  result.seconds = report.micros_per_op * 1e-6 * static_cast<double>(cell.operations_per_thread);
  if (writes_only(cell.benchmark) && report.megabytes_per_second.value_or(0) > 0) {
    const double bytes =
        static_cast<double>(result.operations) * static_cast<double>(key_size + cell.value_size);
    result.seconds = bytes / (*report.megabytes_per_second * 1048576);
  }
  result.machine_counters = line_after(output, "machine ");
  return result;
}

db_bench_result run_db_bench(const std::filesystem::path& program, const db_bench_cell& cell,
                             const std::stop_token& stop) {
  const scratch_directory database(cell.scratch);
  std::vector<std::string> flags = common_flags(cell, database.path());
  if (!cell.benchmark.starts_with("fill")) {
    run_first(program, flags, stop);
    flags.push_back("--use_existing_db=1");
  }
  flags.push_back("--benchmarks=" + cell.benchmark);
  flags.push_back("--threads=" + std::to_string(cell.threads));
  const program_output output = run_program(program, flags, stop);
  db_bench_result result = parse_db_bench(output.text, cell);
  result.switches = output.switches;
  return result;
}

ycsb_results run_ycsb(const std::filesystem::path& program, const ycsb_cell& cell,
                      const std::stop_token& stop) {
  const scratch_directory database(cell.scratch);
  std::vector<std::string> arguments = {
      "--json", "--workload=" + cell.workload, "--db=" + database.path().string(),
      "--threads=" + std::to_string(cell.threads), "--seed=" + std::to_string(cell.seed)};
  for (const std::string& setting : cell.settings) {
    arguments.insert(arguments.end(), {"-p", setting});
  }
  append_machine(arguments, cell.machine);
  const program_output output = run_program(program, arguments, stop);
  std::istringstream lines(output.text);
  std::string load;
  std::string run;
  std::getline(lines, load);
  std::getline(lines, run);
  try {
    return {read_phase(nlohmann::json::parse(load)), read_phase(nlohmann::json::parse(run)),
            line_after(output.text, "machine ")};
  } catch (const nlohmann::json::exception& error) {
    throw program_error(program.string() +
                        " printed something else than two results: " + error.what());
  }
}

}  // namespace unlatch::leveldb_driver
