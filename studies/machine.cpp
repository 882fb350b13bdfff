// SPDX-License-Identifier: Apache-2.0
#include "studies/machine.hpp"

#include <fmt/core.h>
#include <hwloc.h>

#include <fstream>
#include <memory>
#include <sstream>

namespace unlatch::studies {
namespace {

std::string first_line(const char* file) {
  std::ifstream input(file);
  std::string line;
  std::getline(input, line);
  return line;
}

/// The last tsx= counts, as for the kernel.
std::string tsx_argument(const std::string& command_line) {
  std::istringstream words(command_line);
  std::string value;
  for (std::string word; words >> word;) {
    if (word.starts_with("tsx=")) value = word.substr(4);
  }
  return value;
}

bool runs_under_hypervisor() {
  std::ifstream input("/proc/cpuinfo");
  for (std::string line; std::getline(input, line);) {
    if (line.starts_with("flags")) return (line + ' ').find(" hypervisor ") != std::string::npos;
  }
  return false;
}

void explain_absence(const transaction_facts& facts, std::vector<std::string>& sentences) {
  if (facts.kernel_argument == "off") {
    sentences.emplace_back(
        "The kernel was booted with tsx=off; where the processor has TSX, tsx=on brings it back.");
  } else if (facts.tsx_async_abort.find("TSX disabled") != std::string::npos) {
    sentences.push_back(fmt::format(
        "The kernel says '{}': the processor has TSX, but it is off because of TSX Asynchronous "
        "Abort; {}booting with tsx=on brings it back if you accept the risk.",
        facts.tsx_async_abort, facts.hypervisor ? "unless the hypervisor hides it, " : ""));
  } else if (facts.hypervisor) {
    sentences.emplace_back(
        "This is a virtual machine; its hypervisor may hide what the processor has.");
  }
}

struct topology_deleter {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using topology_pointer = std::unique_ptr<hwloc_topology, topology_deleter>;

topology_pointer load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  topology_pointer topology(raw);
  hwloc_topology_set_icache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(raw) != 0) return nullptr;
  return topology;
}

unsigned count_of(hwloc_topology_t topology, hwloc_obj_type_t type) {
  const int count = hwloc_get_nbobjs_by_type(topology, type);
  return count > 0 ? static_cast<unsigned>(count) : 0;
}

std::vector<cache_facts> caches_of(hwloc_topology_t topology) {
  std::vector<cache_facts> caches;
  for (const auto type : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L1ICACHE, HWLOC_OBJ_L2CACHE,
                          HWLOC_OBJ_L2ICACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE}) {
    const hwloc_obj_t first = hwloc_get_obj_by_type(topology, type, 0);
    if (first == nullptr) continue;
    const auto& attributes = first->attr->cache;
    cache_facts cache;
    cache.name = fmt::format("L{}{}", attributes.depth,
                             attributes.type == HWLOC_OBJ_CACHE_DATA          ? "d"
                             : attributes.type == HWLOC_OBJ_CACHE_INSTRUCTION ? "i"
                                                                              : "");
    cache.count = count_of(topology, type);
    cache.bytes = attributes.size;
    cache.line_bytes = attributes.linesize;
    cache.ways = attributes.associativity > 0 ? static_cast<unsigned>(attributes.associativity) : 0;
    cache.cpus = static_cast<unsigned>(hwloc_bitmap_weight(first->cpuset));
    caches.push_back(std::move(cache));
  }
  return caches;
}

std::string_view name_of(htm::support what) {
  switch (what) {
    case htm::support::works:
      return "works";
    case htm::support::not_enumerated:
      return "not_enumerated";
    case htm::support::always_aborts:
      return "always_aborts";
    case htm::support::no_backend:
      return "no_backend";
  }
  return "";
}

nlohmann::json to_json(const cache_facts& cache) {
  return {{"name", cache.name},   {"count", cache.count},
          {"bytes", cache.bytes}, {"line_bytes", cache.line_bytes},
          {"ways", cache.ways},   {"cpus", cache.cpus}};
}

nlohmann::json to_json(const transaction_facts& facts) {
  const auto& cpu = facts.cpu;
  return {{"support", name_of(cpu.what)},
          {"rtm", cpu.cpuid_rtm},
          {"hle", cpu.cpuid_hle},
          {"rtm_always_abort", cpu.cpuid_rtm_always_abort},
          {"tsx_force_abort", cpu.cpuid_tsx_force_abort},
          {"tsxldtrk", cpu.cpuid_tsxldtrk},
          {"emulated", cpu.emulated},
          {"hypervisor", facts.hypervisor},
          {"tsx_async_abort", facts.tsx_async_abort},
          {"kernel_argument", facts.kernel_argument},
          {"why", explain(facts)}};
}

}  // namespace

transaction_facts current_transaction_facts() {
  return {htm::describe(), runs_under_hypervisor(),
          first_line("/sys/devices/system/cpu/vulnerabilities/tsx_async_abort"),
          tsx_argument(first_line("/proc/cmdline"))};
}

std::vector<std::string> explain(const transaction_facts& facts) {
  std::vector<std::string> sentences;
  switch (facts.cpu.what) {
    case htm::support::works:
      sentences.emplace_back(facts.cpu.emulated
                                 ? "RTM is emulated ('unlatch emulate'): transactions work, but "
                                   "their times say nothing."
                                 : "Hardware transactions work: one was tried and it committed.");
      break;
    case htm::support::always_aborts:
      sentences.emplace_back(
          "The processor enumerates RTM, but every transaction that was tried aborted.");
      if (facts.cpu.cpuid_rtm_always_abort) {
        sentences.emplace_back(
            "RTM_ALWAYS_ABORT is set: microcode has retired TSX on this processor, and no setting "
            "brings it back.");
      } else if (facts.cpu.cpuid_tsx_force_abort) {
        sentences.emplace_back(
            "TSX_FORCE_ABORT is there: the kernel may make transactions abort while a performance "
            "counter is in use.");
      }
      break;
    case htm::support::not_enumerated:
      sentences.emplace_back("The processor does not offer RTM (CPUID).");
      if (facts.cpu.cpuid_rtm_always_abort) {
        sentences.emplace_back(
            "RTM_ALWAYS_ABORT is set: microcode has retired TSX on this processor, and no setting "
            "brings it back.");
      } else {
        explain_absence(facts, sentences);
      }
      break;
    case htm::support::no_backend:
      sentences.emplace_back("The library has no hardware transactions for this architecture.");
      break;
  }
  if (facts.cpu.cpuid_tsxldtrk && facts.cpu.what != htm::support::works) {
    sentences.emplace_back(
        "TSXLDTRK is enumerated; it only suspends load tracking within transactions and does not "
        "mean that there are any.");
  }
  return sentences;
}

elision_way way_of(const transaction_facts& facts) {
  return facts.cpu.what == htm::support::works ? elision_way::hardware : elision_way::software;
}

std::string describe(elision_way way) {
  switch (way) {
    case elision_way::hardware:
      return "elided locks and elide() closures run as hardware transactions, and take the lock "
             "where those do not pay.";
    case elision_way::software:
      return "elide() closures speculate in software (validated reads, the first write takes the "
             "lock), and take the lock where that does not pay; elided locks used through guards "
             "are plain locks.";
  }
  return {};
}

machine_facts current_machine() {
  machine_facts machine;
  machine.host = current_host();
  machine.transactions = current_transaction_facts();
  if (const auto topology = load_topology()) {
    machine.packages = count_of(topology.get(), HWLOC_OBJ_PACKAGE);
    machine.cores = count_of(topology.get(), HWLOC_OBJ_CORE);
    machine.caches = caches_of(topology.get());
  }
  return machine;
}

nlohmann::json to_json(const machine_facts& machine) {
  nlohmann::json caches = nlohmann::json::array();
  for (const auto& cache : machine.caches) caches.push_back(to_json(cache));
  const auto way = way_of(machine.transactions);
  return {{"cpu", machine.host.cpu},
          {"cpus", machine.host.cpus},
          {"cores", machine.cores},
          {"packages", machine.packages},
          {"kernel", machine.host.kernel},
          {"load", machine.host.load},
          {"caches", std::move(caches)},
          {"transactions", to_json(machine.transactions)},
          {"library",
           {{"elision", way == elision_way::hardware ? "hardware" : "software"},
            {"description", describe(way)}}},
          {"build", build_id()}};
}

}  // namespace unlatch::studies
