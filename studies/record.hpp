// SPDX-License-Identifier: Apache-2.0
//
// One measured cell of a study, and the files such cells are kept in.
//
// A record file holds one JSON object a line (JSONL). The keys below keep their names; keys that
// are not listed here belong to the study that wrote them and survive a round trip in `extra`.
//
// Thread safety: values; no function here shares state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "studies/host.hpp"

namespace unlatch::studies {

/// Aborted transactions by cause. The JSON key of `explicitly` is "explicit".
struct abort_counts {
  std::uint64_t conflict = 0;
  std::uint64_t capacity = 0;
  std::uint64_t explicitly = 0;
  std::uint64_t other = 0;

  [[nodiscard]] std::uint64_t total() const { return conflict + capacity + explicitly + other; }
  bool operator==(const abort_counts&) const = default;
};

/// Hardware transactions of one cell.
struct transaction_counts {
  std::uint64_t started = 0;
  std::uint64_t committed = 0;
  abort_counts aborted;

  bool operator==(const transaction_counts&) const = default;
};

/// Software speculation of one cell: sections that read without the lock.
struct software_counts {
  std::uint64_t started = 0;
  std::uint64_t committed = 0;
  std::uint64_t aborted = 0;

  bool operator==(const software_counts&) const = default;
};

/// What the second run of the baseline in every round is recorded as: "<baseline>-control".
inline constexpr std::string_view control_suffix = "-control";

/// One run of one cell: what ran, where, and what came out.
struct record {
  std::string study;
  std::string case_name;  ///< JSON key "case"
  std::string mode;       ///< the baseline's second run carries control_suffix
  std::string policy;     ///< elision policy; "none" where the mode elides nothing
  std::map<std::string, std::uint64_t> params;
  std::string where = "native";  ///< "native", or a machine model's name: then it is simulated
  unsigned threads = 1;
  unsigned repeat = 1;  ///< round, from 1; ratios are taken within a round
  std::uint64_t seed = 0;
  std::uint64_t ops = 0;
  double seconds = 0;
  double throughput = 0;                     ///< operations a second
  std::map<std::string, double> latency_us;  ///< percentile ("p50", "p99.9") to microseconds
  transaction_counts transactions;
  std::uint64_t fallbacks = 0;
  std::optional<software_counts> software;
  std::optional<std::uint64_t> context_switches;
  std::string baseline;  ///< name of the mode that ratios are taken against
  std::string command;   ///< how to run this cell again
  std::string build;
  host_facts host;
  nlohmann::json extra = nlohmann::json::object();  ///< the study's own keys

  [[nodiscard]] bool simulated() const { return where != "native"; }
  bool operator==(const record&) const = default;
};

/// A record that cannot be read or written; what() is "file:line: field 'x': what, what to do".
class record_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[nodiscard]] nlohmann::json to_json(const record& value);

/// Reads one record from one line of text. `source` ("file:line") opens the message of errors.
/// Throws record_error if the line is no JSON object, a required field is missing, or a field has
/// the wrong type or range; the study's own are not looked at, but for `blame` (blame_keys.hpp).
[[nodiscard]] record parse_record(std::string_view line, std::string_view source);

/// Reads a JSONL file; empty lines are skipped. Throws record_error.
[[nodiscard]] std::vector<record> read_records(const std::filesystem::path& file);

/// Reads every *.jsonl file of a run directory, in the order of their names. Throws record_error if
/// the directory is not there, holds no such file, or one of them is malformed.
[[nodiscard]] std::vector<record> read_run(const std::filesystem::path& directory);

}  // namespace unlatch::studies
