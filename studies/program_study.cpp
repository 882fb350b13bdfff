// SPDX-License-Identifier: Apache-2.0
#include "studies/program_study.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "src/lab/given_up.hpp"
#include "studies/lab_protocol.hpp"

namespace unlatch::studies {

std::vector<study_mode> leveldb_modes() {
  return {
      {"stock", "LevelDB 1.23 as it is", {}},
      {"unlatch", "the same sources on the library's mutex and condition variable", {"adaptive"}},
      {"elided",
       "as 'unlatch', with the policy of glibc's elision in place of ours",
       {"glibc"},
       machine_need::simulated_transactions},
      {"xsync",
       "the same sources on XSync's elision and condition variable (Chitters et al.)",
       {"xsync"},
       machine_need::simulated_transactions}};
}

void add_context_switches(measurement& measured, const leveldb_driver::context_switches& switches) {
  measured.context_switches = switches.voluntary + switches.involuntary;
  measured.extra["voluntary_context_switches"] = switches.voluntary;
}

void require_not_given_up(const std::string& study, const cell& one, const lab::model_file& on,
                          const leveldb_driver::program_failed& failed) {
  if (failed.code != lab::given_up_status) return;
  throw given_up(describe(study, one, on.name) + ": " + failed.said);
}

leveldb_driver::simulated_machine make_machine(const cell& one, const lab::model_file& on,
                                               const std::filesystem::path& file) {
  std::ofstream(file) << lab::to_json(on);
  return {file, one.seed, virtual_limit_ms(one)};
}

void add_machine_counters(measurement& measured, const std::string& counters) {
  const auto counted = nlohmann::json::parse(counters);
  measured.transactions.started = counted.at("started");
  measured.transactions.committed = counted.at("committed");
  const auto& aborts = counted.at("aborts");
  auto& aborted = measured.transactions.aborted;
  aborted.conflict = aborts.at("conflict");
  aborted.capacity = aborts.at("capacity");
  aborted.explicitly = aborts.at("explicit");
  aborted.other =
      aborts.at("nested").get<std::uint64_t>() + aborts.at("other").get<std::uint64_t>();
  measured.context_switches = counted.at("context_switches");
  measured.extra["machine"] = counted;
}

}  // namespace unlatch::studies
