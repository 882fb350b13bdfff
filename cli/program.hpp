// SPDX-License-Identifier: Apache-2.0
//
// The `unlatch` program: its command line, as one tree from which parsing, --help and the manual
// page are made, and one function a command.
#pragma once

#include <CLI/App.hpp>
#include <filesystem>
#include <string>

#include "src/probe/emulation.hpp"
#include "src/probe/lock_run.hpp"
#include "src/probe/profile/profile.hpp"
#include "studies/plan.hpp"

namespace unlatch::cli {

/// The program's exit codes.
enum exit_code : int { success = 0, failure = 1, usage = 2, interrupted = 130 };

struct info_arguments {
  bool json = false;
};

struct list_arguments {
  bool json = false;
};

struct study_arguments {
  std::string name;
  studies::request asked;
  std::string on;  ///< a model's name or file; empty: this machine
  std::filesystem::path out = "results";
  bool json = false;
};

struct model_arguments {
  std::string name;  ///< empty: list the models
  bool json = false;
  bool check = false;
  bool validate = false;
};

struct emulate_arguments {
  probe::emulation_request asked;
  std::string model = "i7-4770";
  bool no_patch = false;
  bool no_cpuid_trap = false;
  bool json = false;
};

struct run_arguments {
  probe::lock_run_request asked;
  std::string lock;  ///< an algorithm's name; empty: elide
  bool json = false;
};

struct profile_arguments {
  probe::profile_request asked;
  std::filesystem::path read;
  std::string model = "xeon-8480";
  std::size_t locks = 20;
  bool json = false;
};

struct report_arguments {
  std::filesystem::path directory = "results";
  std::filesystem::path file = "report.html";
};

/// Everything that the command line can say.
struct arguments {
  info_arguments info;
  list_arguments list;
  model_arguments model;
  study_arguments study;
  report_arguments report;
  emulate_arguments emulate;
  run_arguments run;
  profile_arguments profile;
  bool man = false;
};

/// Declares commands and options on `app`; parsing fills `into`, which must outlive `app`.
void declare(CLI::App& app, arguments& into);

/// Parses and runs; what fails is told on standard error. Returns an exit_code.
int run(int argc, char** argv);

// The commands. They throw what the rooms below throw.
int info(const info_arguments& asked);
int list(const list_arguments& asked);
int model(const model_arguments& asked);
int check_model(const model_arguments& asked);     ///< --check
int validate_model(const model_arguments& asked);  ///< --validate
int study(const study_arguments& asked);
int report(const report_arguments& asked);
int emulate(const emulate_arguments& asked);  ///< returns the program's exit status
int run_program(const run_arguments& asked);  ///< the same
int profile(const profile_arguments& asked);  ///< returns the program's exit status

}  // namespace unlatch::cli
