// SPDX-License-Identifier: Apache-2.0
#include "src/probe/emulation.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <tuple>

#include "src/probe/emulation_area.hpp"
#include "src/probe/file_symbols.hpp"
#include "src/probe/preloading_program.hpp"
#include "src/probe/shared_memory.hpp"

namespace unlatch::probe {
namespace {

constexpr preloaded_object emulator = {"the emulator", "unlatch-emulator.so", "UNLATCH_EMULATOR",
                                       "install Zydis (libzydis-dev on Debian) and build again"};

std::uint64_t instruction_number(const std::string& text) {
  std::uint64_t number = 0;
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number == 0) {
    throw std::invalid_argument("'" + text +
                                "' is no instruction to abort at: give its number, from 1, or "
                                "'each'");
  }
  return number;
}

emulation_settings settings_of(const emulation_request& request) {
  const auto& cache = request.machine.l1d;
  const auto& unit = request.machine.transactions;
  if (!unit.rtm) throw std::invalid_argument("this model has no RTM");
  if (cache.sets() * cache.ways > most_cache_lines || unit.read_lines > most_read_lines) {
    throw std::invalid_argument(
        "this model's transactions are larger than the emulator has room for: a first-level cache "
        "of 1 MiB and 131072 tracked lines");
  }
  if (!(request.abort_rate >= 0 && request.abort_rate <= 1)) {
    throw std::invalid_argument("a rate of aborts lies between 0 and 1");
  }
  emulation_settings settings{};
  settings.cache_sets = cache.sets();
  settings.cache_ways = cache.ways;
  settings.read_lines = unit.read_lines;
  settings.read_loss_per_million = unit.read_loss;
  settings.nesting_limit = unit.nesting_limit;
  settings.injected_status = status_word(request.status);
  settings.abort_each = request.abort_at == "each";
  if (!request.abort_at.empty() && !settings.abort_each) {
    settings.abort_at = instruction_number(request.abort_at);
  }
  settings.abort_chance = static_cast<std::uint64_t>(request.abort_rate * 4294967296.0);
  settings.seed = request.seed;
  settings.patch = request.patch;
  settings.show_rtm = request.cpuid;
  settings.trap_cpuid = request.trap_cpuid;
  return settings;
}

transaction_totals totals_of(const transaction_counts& counts) {
  transaction_totals totals;
  totals.begun = counts.begun;
  totals.committed = counts.ended[static_cast<std::size_t>(ending::committed)];
  for (std::uint32_t i = 1; i < endings; ++i) totals.aborted.push_back(counts.ended[i]);
  totals.instructions = counts.instructions;
  return totals;
}

emulation_outcome outcome_of(emulation_area& area, int exit_status) {
  emulation_outcome outcome;
  outcome.exit_status = exit_status;
  outcome.processes = area.processes;
  outcome.without_site = area.lost_sites;
  outcome.all = totals_of(area.all);
  file_symbols symbols;
  for (const call_site& site : area.sites) {
    if (site.ready == 0) continue;
    const auto named = symbols.at(site.file, site.file_offset);
    outcome.sites.push_back({site.file, site.file_offset, named.function, named.source,
                             site.blocker_state == 2 ? site.blocker : "", totals_of(site.counts)});
  }
  std::sort(outcome.sites.begin(), outcome.sites.end(), [](const auto& a, const auto& b) {
    return std::tie(b.totals.begun, a.file, a.offset) < std::tie(a.totals.begun, b.file, b.offset);
  });
  return outcome;
}

}  // namespace

emulation_outcome emulate(const emulation_request& request) {
  if (request.command.empty()) throw std::invalid_argument("no program to emulate");
  const auto settings = settings_of(request);
  const preloading_program program(request.command, emulator);
  const shared_memory<emulation_area> area;
  area->settings = settings;
  area->magic = emulation_area::magic_number;
  const int exit_status = program.run({{area_variable, area.name()}});
  return outcome_of(*area, exit_status);
}

}  // namespace unlatch::probe
