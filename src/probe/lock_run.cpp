// SPDX-License-Identifier: Apache-2.0
#include "src/probe/lock_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>

#include "src/probe/preloading_program.hpp"
#include "src/probe/shared_memory.hpp"
#include "unlatch/htm.hpp"
#include "unlatch/policies.hpp"

namespace unlatch::probe {
namespace {

using statistics::counter;

constexpr preloaded_object lock_object = {"the object that elides locks", "unlatch-run.so",
                                          "UNLATCH_RUN_OBJECT", "build again"};

constexpr std::array<std::string_view, reasons_not_served> reasons = {
    "process-shared", "robust", "priority", "elided by the C library", "of an unknown kind"};

/// "program+0x4010"; "[heap] 0x55…" where it is in no file.
std::string to_text(const memory_place& place) {
  if (place.file[0] == '/') {
    return fmt::format("{}+{:#x}", std::filesystem::path(place.file).filename().string(),
                       place.offset);
  }
  const bool has_name = place.file[0] != 0;
  return fmt::format("{}{}{:#x}", place.file, has_name ? " " : "", place.address);
}

/// What all threads counted in a row. Looks at no block that no thread has used: that would make it
/// exist.
statistics::row row_of(const lock_run_area& area, detail::row_id id) {
  statistics::row row;
  for (std::uint32_t block = 0; block < area.blocks_used; ++block) {
    for (std::size_t c = 0; c < statistics::counter_count; ++c) {
      row.values[c] += area.counters[block][id].values[c].load(std::memory_order_relaxed);
    }
  }
  return row;
}

void name(statistics::row& row, const lock_description& by) {
  row.lock = by.is_shared ? "(several)" : to_text(by.lock);
  row.site = to_text(by.site);
}

statistics::snapshot_type counts_in(const lock_run_area& area) {
  statistics::snapshot_type counts;
  const auto add = [&](detail::row_id id) {
    auto row = row_of(area, id);
    if (std::all_of(row.values.begin(), row.values.end(), [](auto v) { return v == 0; })) return;
    if (id == lock_run_area::row_of_few) {
      row.lock = "(taken a few times)";
    } else if (area.descriptions[id].ready == 0) {
      row.lock = "(more)";
    } else {
      name(row, area.descriptions[id]);
    }
    counts.rows.push_back(std::move(row));
  };
  add(lock_run_area::row_of_few);
  const auto rows = std::min<std::uint32_t>(area.rows, lock_run_area::row_of_more);
  for (detail::row_id id = lock_run_area::first_described_row; id < rows; ++id) add(id);
  if (rows == lock_run_area::row_of_more) add(lock_run_area::row_of_more);
  std::stable_sort(counts.rows.begin(), counts.rows.end(), [](const auto& a, const auto& b) {
    return a[counter::sections] > b[counter::sections];
  });
  return counts;
}

std::vector<refused_locks> refused_in(const lock_run_area& area) {
  std::vector<refused_locks> refused;
  for (std::uint32_t i = 0; i < reasons_not_served; ++i) {
    const auto row = row_of(area, lock_run_area::row_of_refused(static_cast<not_served>(i)));
    const refused_locks each{reasons[i], area.refused_locks[i], row[counter::sections]};
    if (each.locks != 0 || each.sections != 0) refused.push_back(each);
  }
  return refused;
}

lock_run_outcome outcome_of(const lock_run_area& area, int exit_status) {
  lock_run_outcome outcome;
  outcome.exit_status = exit_status;
  outcome.processes = area.processes;
  const auto without = [&area](not_running why) {
    return area.not_running[static_cast<std::uint32_t>(why)].load();
  };
  outcome.without_transactions = without(not_running::no_transactions);
  outcome.without_layout = without(not_running::unexpected_layout);
  outcome.locks = counts_in(area);
  outcome.refused = refused_in(area);
  return outcome;
}

std::string join(const auto& names) { return fmt::format("{}", fmt::join(names, ", ")); }

lock_run_settings settings_of(const lock_run_request& request) {
  lock_run_settings settings{};
  settings.algorithm = request.algorithm;
  if (!policy::all::with(request.policy, []<class Policy> {})) {
    throw std::invalid_argument(fmt::format("there is no policy '{}'; there are {}", request.policy,
                                            join(policy::all::names)));
  }
  request.policy.copy(settings.policy, sizeof settings.policy - 1);
  return settings;
}

lock_run_outcome run(const lock_run_request& request) {
  const bool elides = request.algorithm == lock_algorithm::elided;
  const auto settings = settings_of(request);
  const auto support = htm::describe();
  if (elides && support.what != htm::support::works) {
    lock_run_outcome outcome;
    outcome.ran_as_it_is = htm::to_string(support);
    outcome.exit_status = run_as_it_is(request.command);
    return outcome;
  }
  const preloading_program program(request.command, lock_object);
  const shared_memory<lock_run_area> area;
  area->settings = settings;
  area->rows = lock_run_area::first_described_row;
  area->magic = lock_run_area::magic_number;
  const int exit_status = program.run({{lock_run_variable, area.name()}});
  return outcome_of(*area, exit_status);
}

}  // namespace

const std::vector<std::string>& lock_algorithm_names() {
  static const std::vector<std::string> names{"mutex", "spin", "ticket", "mcs"};
  return names;
}

lock_algorithm lock_algorithm_named(std::string_view name) {
  constexpr std::array algorithms{lock_algorithm::mutex, lock_algorithm::spin,
                                  lock_algorithm::ticket, lock_algorithm::mcs};
  const auto& names = lock_algorithm_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw std::invalid_argument(
        fmt::format("there is no lock '{}'; there are {}", name, join(names)));
  }
  return algorithms[static_cast<std::size_t>(found - names.begin())];
}

lock_run_outcome run_with_locks(const lock_run_request& request) {
  if (request.command.empty()) throw std::invalid_argument("no program to run");
  auto outcome = run(request);
  outcome.algorithm = request.algorithm;
  if (request.algorithm == lock_algorithm::elided) outcome.policy = request.policy;
  return outcome;
}

}  // namespace unlatch::probe
