// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <iostream>

#include "cli/program.hpp"
#include "studies/machine.hpp"

namespace unlatch::cli {
namespace {

std::string bytes(std::uint64_t count) {
  constexpr std::uint64_t kibibyte = 1024;
  if (count >= kibibyte * kibibyte && count % (kibibyte * kibibyte) == 0) {
    return fmt::format("{} MiB", count / (kibibyte * kibibyte));
  }
  if (count >= kibibyte) return fmt::format("{} KiB", count / kibibyte);
  return fmt::format("{} B", count);
}

void print_cache(const studies::cache_facts& cache) {
  fmt::print("  {:<4} {} x {}, {}, {}-byte lines, {}\n", cache.name, cache.count,
             bytes(cache.bytes),
             cache.ways > 0 ? fmt::format("{}-way", cache.ways) : "ways unknown", cache.line_bytes,
             cache.cpus == 1 ? "each for 1 CPU" : fmt::format("each for {} CPUs", cache.cpus));
}

}  // namespace

int info(const info_arguments& asked) {
  const auto machine = studies::current_machine();
  if (asked.json) {
    std::cout << studies::to_json(machine).dump(2) << '\n';
    return success;
  }
  const auto& cpu = machine.transactions.cpu;
  const auto yes = [](bool there) { return there ? "yes" : "no"; };
  fmt::print("CPU      {}, {} logical CPUs, {} cores, {} packages\n", machine.host.cpu,
             machine.host.cpus, machine.cores, machine.packages);
  fmt::print("kernel   {}\n", machine.host.kernel);
  fmt::print("build    {}\n\n", studies::build_id());
  fmt::print("Hardware transactions\n");
  for (const auto& sentence : studies::explain(machine.transactions)) {
    fmt::print("  {}\n", sentence);
  }
  fmt::print("  CPUID: RTM {}, HLE {}, RTM_ALWAYS_ABORT {}, TSX_FORCE_ABORT {}, TSXLDTRK {}\n",
             yes(cpu.cpuid_rtm), yes(cpu.cpuid_hle), yes(cpu.cpuid_rtm_always_abort),
             yes(cpu.cpuid_tsx_force_abort), yes(cpu.cpuid_tsxldtrk));
  fmt::print("  kernel: tsx_async_abort '{}', tsx={}\n\n", machine.transactions.tsx_async_abort,
             machine.transactions.kernel_argument.empty() ? "(not given)"
                                                          : machine.transactions.kernel_argument);
  fmt::print("Caches\n");
  for (const auto& cache : machine.caches) print_cache(cache);
  fmt::print("\nWhat the library does here\n  {}\n",
             studies::describe(studies::way_of(machine.transactions)));
  return success;
}

}  // namespace unlatch::cli
