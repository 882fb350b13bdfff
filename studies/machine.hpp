// SPDX-License-Identifier: Apache-2.0
//
// What this machine offers for running critical sections without their lock, and why not.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "studies/host.hpp"
#include "unlatch/htm.hpp"

namespace unlatch::studies {

/// All that decides whether hardware transactions work, as CPU and kernel tell it.
struct transaction_facts {
  htm::description cpu;
  bool hypervisor = false;      ///< the CPU is a virtual one
  std::string tsx_async_abort;  ///< the kernel's line on that vulnerability; empty if none
  std::string kernel_argument;  ///< the value of tsx= on the kernel's command line, if given
};

[[nodiscard]] transaction_facts current_transaction_facts();

/// Whether transactions work and, where they do not, why and what would change that: one sentence
/// each, the main one first.
[[nodiscard]] std::vector<std::string> explain(const transaction_facts& facts);

/// What the library does with critical sections here.
enum class elision_way { hardware, software };

[[nodiscard]] elision_way way_of(const transaction_facts& facts);
[[nodiscard]] std::string describe(elision_way way);  ///< a sentence

/// Caches of one level and kind.
struct cache_facts {
  std::string name;  ///< "L1d", "L2" …
  unsigned count = 0;
  std::uint64_t bytes = 0;  ///< each
  unsigned line_bytes = 0;  ///< 0 if unknown
  unsigned ways = 0;        ///< 0 if unknown or fully associative
  unsigned cpus = 0;        ///< logical CPUs that share one
};

struct machine_facts {
  host_facts host;
  unsigned packages = 0;
  unsigned cores = 0;
  std::vector<cache_facts> caches;
  transaction_facts transactions;
};

/// Reads CPUID, /proc, /sys and the topology. Milliseconds.
[[nodiscard]] machine_facts current_machine();

[[nodiscard]] nlohmann::json to_json(const machine_facts& machine);

}  // namespace unlatch::studies
