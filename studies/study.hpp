// SPDX-License-Identifier: Apache-2.0
//
// What a study is: cases x modes x policies x threads, and a function that measures one cell.
//
// A study that runs in this process lives in one file of this folder; registry.cpp lists them all.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "studies/record.hpp"

namespace unlatch::lab {
struct model_file;
}

namespace unlatch::studies {

/// A case: one workload of the study.
struct study_case {
  std::string name;
  std::string description;
};

/// What a mode asks of the machine it runs on. This program offers hardware transactions where the
/// CPU has them; XACQUIRE and XRELEASE on simulated machines only; and some programs it has only
/// there, where they need transactions.
enum class machine_need : std::uint8_t { none, transactions, prefixes, simulated_transactions };

/// A way to synchronize. A mode with policies elides; its first policy is the default. A mode that
/// cannot run on the chosen machine runs only if it is asked for, and then says why not.
struct study_mode {
  std::string name;
  std::string description;
  std::vector<std::string> policies{};
  machine_need need = machine_need::none;

  [[nodiscard]] bool elides() const { return !policies.empty(); }
};

/// A whole number that a workload takes, set by `--param name=value`.
struct study_parameter {
  std::string name;
  std::string description;  ///< with its unit
  std::uint64_t value = 0;
  std::uint64_t quick_value = 0;  ///< with --quick
  std::uint64_t minimum = 1;
  std::uint64_t maximum = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t simulated_value = 0;  ///< on a machine model; 0 stands for quick_value
};

using parameter_values = std::map<std::string, std::uint64_t>;

/// One run to do.
struct cell {
  std::string case_name;
  std::string mode;      ///< what runs; a control cell runs the baseline
  std::string policy;    ///< "none" where the mode elides nothing
  bool control = false;  ///< the baseline's second run of its round
  unsigned threads = 1;
  unsigned repeat = 1;
  std::uint64_t seed = 1;
  parameter_values params;
  /// On a machine model: how much virtual time it may take. 0: what usual_virtual_limit_ms() says.
  std::uint64_t virtual_limit_ms = 0;

  /// The mode's name in records.
  [[nodiscard]] std::string recorded_mode() const {
    return control ? mode + std::string(control_suffix) : mode;
  }
};

/// What came out of one cell; throughput is ops / seconds.
struct measurement {
  std::uint64_t ops = 0;
  double seconds = 0;
  std::map<std::string, double> latency_us{};
  transaction_counts transactions{};
  std::uint64_t fallbacks = 0;
  std::optional<software_counts> software{};
  std::optional<std::uint64_t> context_switches{};
  nlohmann::json extra = nlohmann::json::object();
};

/// Thrown by a measurement that was abandoned because a stop was requested.
class interrupted : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

/// Thrown by a measurement that cannot be made, or whose result is wrong (a sum that does not add
/// up): what, where, what to do.
class study_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown for a cell that was not done when it had used up its virtual time: a livelock, or too low
/// a limit. Other cells can still be measured.
class given_up : public study_error {
 public:
  using study_error::study_error;
};

struct study {
  std::string name;
  std::string description;  ///< one line
  std::vector<study_case> cases;
  std::vector<study_mode> modes;  ///< the first is the baseline
  std::vector<study_parameter> parameters;
  std::vector<unsigned> threads;  ///< what runs unless told otherwise
  bool every_policy = false;      ///< unless told otherwise, modes run with all their policies

  /// Measures one cell. When a stop is requested it ends what it started (threads, child
  /// processes, temporary directories) and throws `interrupted`.
  std::function<measurement(const cell&, const std::stop_token&)> measure;
  /// The same on a machine model, for a study whose programs run there themselves; if it is empty,
  /// unlatch-lab measures.
  std::function<measurement(const cell&, const lab::model_file&, const std::stop_token&)>
      measure_on{};

  [[nodiscard]] const study_mode& baseline() const { return modes.front(); }
  [[nodiscard]] const study_mode& mode(std::string_view name) const;  ///< throws unknown_name
};

/// Every study of this build, in the order of their names in documentation.
[[nodiscard]] const std::vector<study>& registry();

/// Throws unknown_name.
[[nodiscard]] const study& find_study(std::string_view name);

/// The names of a list of cases, modes, parameters or studies.
template <class Named>
[[nodiscard]] std::vector<std::string> names_of(const std::vector<Named>& list) {
  std::vector<std::string> names;
  for (const auto& item : list) names.push_back(item.name);
  return names;
}

}  // namespace unlatch::studies
