// SPDX-License-Identifier: Apache-2.0
//
// Running a program that uses RTM instructions on a CPU without them: the emulator is loaded into
// it, and what its transactions did is here when it has ended, however it ended.
//
// Thread safety: none needed; call from one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "src/lab/model.hpp"

namespace unlatch::probe {

/// What to run, and how.
struct emulation_request {
  std::vector<std::string> command;       ///< the program and its arguments
  lab::model machine;                     ///< whose cache and limits transactions have
  std::string abort_at;                   ///< an instruction's number, from 1; "each"; empty: none
  double abort_rate = 0;                  ///< share of transactions to abort, 0 to 1
  std::string status = "conflict+retry";  ///< of injected aborts, as status_word() reads it
  std::uint64_t seed = 1;
  bool patch = true;       ///< replace hot XBEGINs by jumps
  bool cpuid = false;      ///< let CPUID show RTM
  bool trap_cpuid = true;  ///< by a trap where the CPU has one; else it is replaced in the code
};

/// What happened to transactions, of a call site or altogether.
struct transaction_totals {
  std::uint64_t begun = 0;
  std::uint64_t committed = 0;
  std::vector<std::uint64_t> aborted;  ///< in the order of abort_names()
  std::uint64_t instructions = 0;      ///< executed in transactions, those undone included
};

struct call_site_totals {
  std::string file;          ///< the program or library
  std::uint64_t offset = 0;  ///< of the XBEGIN in it
  std::string function;      ///< "insert(int)+0x1a"; empty where no symbol is known
  std::string source;        ///< "src/table.cpp:41"; empty without debug information
  std::string blocker;       ///< the first instruction that aborted one by being there; or empty
  transaction_totals totals;
};

struct emulation_outcome {
  int exit_status = 0;  ///< the program's; 128 and the signal that killed it
  std::uint64_t processes = 0;
  std::uint64_t without_site = 0;  ///< transactions at sites that the table had no room for
  transaction_totals all;
  std::vector<call_site_totals> sites;  ///< the most begun first
};

/// The names of what aborts transactions, as statistics show them.
[[nodiscard]] const std::vector<std::string_view>& abort_names();

/// A status by its words joined by '+' ("conflict+retry", "capacity", "interrupt", "explicit:255"),
/// or by its number ("6", "0x6"). Throws std::invalid_argument.
[[nodiscard]] std::uint32_t status_word(std::string_view text);

/// Runs the program and waits for its end, as preloading_program::run() does. Throws
/// std::invalid_argument for what was asked wrongly and program_error (program_file.hpp) for what
/// cannot be run.
[[nodiscard]] emulation_outcome emulate(const emulation_request& request);

/// For people: a line a call site, with its name below it where that is known; then totals.
[[nodiscard]] std::string to_table(const emulation_outcome& outcome);
[[nodiscard]] nlohmann::ordered_json to_json(const emulation_outcome& outcome);

}  // namespace unlatch::probe
