// SPDX-License-Identifier: Apache-2.0
//
// Usage: leveldb_PROGRAM_VARIANT --machine=MODEL [--machine-seed=N] [--virtual-limit=MS] FLAG...
//
// LevelDB's own db_bench, or the YCSB client, on a simulated machine: MODEL is the name of a
// built-in model or a file. The other flags are the program's, and so is its output, in virtual
// time; the last line is what the machine counted, as JSON. The database's files are real; what
// reading and writing them costs is the machine's system calls, not a disk. Exits with code 3 when
// its virtual time is used up.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "src/lab/given_up.hpp"
#include "src/lab/lab.hpp"
#include "src/lab/model_file.hpp"

/// The main function of the program that is simulated.
int simulated_main(int count, char** arguments);

namespace {

using namespace unlatch;

struct wanted {
  lab::model_file machine;
  std::uint64_t limit_ms = 0;
  lab::options how;
  /// Copies: where the process has its arguments depends on how large its environment is.
  std::vector<std::string> rest;
};

lab::model_file find_machine(const std::string& name) {
  const lab::model_file* const found = lab::find_builtin_model(name);
  return found != nullptr ? *found : lab::read_model(name);
}

/// What is left of `argument` after `flag`; null if it is another.
const char* value_of(const char* argument, std::string_view flag) {
  return std::string_view(argument).starts_with(flag) ? argument + flag.size() : nullptr;
}

wanted parse(int count, char** arguments) {
  wanted found;
  std::string machine = "i7-4770";
  for (int i = 0; i < count; ++i) {
    if (const char* const name = value_of(arguments[i], "--machine=")) {
      machine = name;
    } else if (const char* const seed = value_of(arguments[i], "--machine-seed=")) {
      found.how.seed = std::stoull(seed);
    } else if (const char* const limit = value_of(arguments[i], "--virtual-limit=")) {
      found.limit_ms = std::stoull(limit);
    } else {
      found.rest.push_back(arguments[i]);
    }
  }
  found.machine = find_machine(machine);
  found.how.blame = false;  // nobody asks
  found.how.most_cycles = lab::cycles_of_ms(found.limit_ms, found.machine.constants.mhz);
  return found;
}

/// Of instructions, system calls, page faults, interrupts.
std::uint64_t other_aborts(const lab::counters& all) {
  return std::accumulate(std::begin(all.aborts) + 5, std::end(all.aborts), std::uint64_t{0});
}

void print(const lab::run_result& run) {
  const lab::counters& all = run.all;
  const nlohmann::ordered_json line = {{"cycles", run.cycles},
                                       {"seconds", run.seconds},
                                       {"started", all.started},
                                       {"committed", all.committed},
                                       {"aborted", all.aborted},
                                       {"aborts",
                                        {{"conflict", all.aborts[0]},
                                         {"capacity", all.aborts[1] + all.aborts[2]},
                                         {"explicit", all.aborts[3]},
                                         {"nested", all.aborts[4]},
                                         {"other", other_aborts(all)}}},
                                       {"misc1", all.misc1()},
                                       {"misc3", all.misc3()},
                                       {"misc5", all.misc5()},
                                       {"cycles_t", all.cycles_in_transactions},
                                       {"cycles_ct", all.cycles_committed},
                                       {"accesses", all.accesses},
                                       {"l1_misses", all.l1_misses},
                                       {"l3_misses", all.l3_misses},
                                       {"context_switches", all.context_switches},
                                       {"system_calls", all.system_calls},
                                       {"page_faults", all.page_faults}};
  std::printf("machine %s\n", line.dump().c_str());
}

}  // namespace

int main(int count, char** arguments) {
  try {
    wanted what = parse(count, arguments);
    std::vector<char*> flags;
    for (std::string& flag : what.rest) flags.push_back(flag.data());
    int status = 0;
    const lab::run_result run = lab::run(what.machine.constants, what.how, [&] {
      status = simulated_main(static_cast<int>(flags.size()), flags.data());
    });
    if (!run.finished) {
      std::fprintf(stderr, "%s\n", lab::describe_given_up(run, what.limit_ms).c_str());
      // Not by exit(): what runs there may wait for the threads that were left where they stood.
      std::_Exit(lab::given_up_status);
    }
    print(run);
    return status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
