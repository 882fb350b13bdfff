// SPDX-License-Identifier: Apache-2.0
#include "studies/runner.hpp"

#include <fmt/format.h>

#include <chrono>

#include "studies/lab_program.hpp"

namespace unlatch::studies {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Measures cells: as the study does, or on the simulated machine of the plan.
class measurer {
 public:
  explicit measurer(const plan& what) : plan_(what) {}

  measurement operator()(const cell& one, const std::stop_token& stop) {
    if (!plan_.on) return plan_.what->measure(one, stop);
    return simulator_.measure(*plan_.what, one, *plan_.on, plan_.blame, stop);
  }

  /// A simulated figure does not depend on what else the host does.
  [[nodiscard]] host_facts host() const {
    host_facts facts = current_host();
    if (plan_.on) facts.load = 0;
    return facts;
  }

 private:
  const plan& plan_;
  simulator simulator_;
};

record make_record(const plan& planned, const cell& one, measurement measured, host_facts host) {
  const study& what = *planned.what;
  if (!(measured.seconds > 0)) {
    throw study_error(
        fmt::format("study {}, case {}, mode {}: measured {} operations in {} "
                    "seconds; raise the parameter that sets the cell's length",
                    what.name, one.case_name, one.mode, measured.ops, measured.seconds));
  }
  record made;
  made.study = what.name;
  made.case_name = one.case_name;
  made.mode = one.recorded_mode();
  made.policy = one.policy;
  made.params = one.params;
  if (planned.on) made.where = planned.on->name;
  made.threads = one.threads;
  made.repeat = one.repeat;
  made.seed = one.seed;
  made.ops = measured.ops;
  made.seconds = measured.seconds;
  made.throughput = static_cast<double>(measured.ops) / measured.seconds;
  made.latency_us = std::move(measured.latency_us);
  made.transactions = measured.transactions;
  made.fallbacks = measured.fallbacks;
  made.software = measured.software;
  made.context_switches = measured.context_switches;
  made.baseline = what.baseline().name;
  made.command = rerun_command(what, one, planned.on);
  made.build = build_id();
  made.host = std::move(host);
  made.extra = std::move(measured.extra);
  return made;
}

}  // namespace

run_result run(const plan& what, record_file& file, const std::stop_token& stop,
               const std::function<void(const progress&)>& report) {
  run_result result;
  measurer measure(what);
  const auto start = std::chrono::steady_clock::now();
  const auto tell = [&](const cell* next) {
    if (!report) return;
    const std::size_t done = result.records.size() + result.given_up.size();
    progress now{done, what.cells.size(), seconds_since(start), 0, next};
    if (now.done > 0) {
      now.remaining =
          now.elapsed / static_cast<double>(now.done) * static_cast<double>(now.total - now.done);
    }
    report(now);
  };
  for (const cell& one : what.cells) {
    if (stop.stop_requested()) {
      result.interrupted = true;
      break;
    }
    tell(&one);
    try {
      host_facts host = measure.host();
      result.records.push_back(make_record(what, one, measure(one, stop), std::move(host)));
    } catch (const interrupted&) {
      result.interrupted = true;
      break;
    } catch (const given_up& error) {
      result.given_up.emplace_back(error.what());
      continue;
    }
    file.append(result.records.back());
  }
  tell(nullptr);
  return result;
}

}  // namespace unlatch::studies
