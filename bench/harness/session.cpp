// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/session.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "studies/replace_file.hpp"

namespace unlatch::bench {
namespace {

constexpr unsigned most_threads = 64;

options parse(const std::string& study, const std::string& description, options asked, int argc,
              char** argv) {
  CLI::App app(description, study);
  bool quick = false;
  std::uint64_t window_us = 0;
  app.add_flag("--quick", quick, "three short rounds: shows that it runs, measures little");
  auto* const rounds = app.add_option("--rounds", asked.how.rounds, "windows of each peer a cell")
                           ->check(CLI::Range(1, 10'000));
  auto* const window = app.add_option("--window-us", window_us, "length of a window, microseconds")
                           ->check(CLI::Range(100, 60'000'000));
  app.add_option("--threads", asked.threads, "numbers of threads, as in 1,2,4")
      ->delimiter(',')
      ->check(CLI::Range(1u, most_threads));
  app.add_option("--only", asked.only, "only cells whose name contains this");
  app.add_option("--out", asked.out, "directory to write results to, as JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  if (quick && rounds->empty()) asked.how.rounds = 3;
  if (quick && window->empty())
    asked.how.window = std::min(asked.how.window, std::chrono::microseconds(5'000));
  if (quick) asked.how.attempts = 1;
  if (!window->empty()) asked.how.window = std::chrono::microseconds(window_us);
  return asked;
}

std::string name_of(const cell& what) {
  return fmt::format("{}, {} thread{}", what.case_name, what.threads, what.threads == 1 ? "" : "s");
}

std::string to_text(const quartiles& value) {
  return fmt::format("{:5.2f} [{:4.2f} {:4.2f}]", value.median, value.lower, value.upper);
}

nlohmann::json to_json(const quartiles& value) {
  return {{"median", value.median}, {"lower", value.lower}, {"upper", value.upper}};
}

bool has_peer(const cell& what, const std::string& name) {
  return std::ranges::find(what.peers, name, &peer::name) != what.peers.end();
}

}  // namespace

session::session(std::string study, std::string description, options defaults, int argc,
                 char** argv)
    : study_(std::move(study)),
      command_(argv[0]),
      asked_(parse(study_, description, std::move(defaults), argc, argv)),
      workers_(asked_.threads.empty() ? 1 : std::ranges::max(asked_.threads)) {}

void session::measure(const cell& what) {
  if (name_of(what).find(asked_.only) == std::string::npos) return;
  const auto host = studies::current_host();
  const auto measured = interleave(workers_, what.threads, what.peers, asked_.how);
  print(what, measured);
  judge(what, measured);
  keep(what, measured, host);
}

void session::print(const cell& what, const comparison& measured) const {
  std::size_t width = 0;
  for (const auto& name : measured.names) width = std::max(width, name.size());
  fmt::print("\n{} ({} rounds; {} windows run again, {} disturbed)\n", name_of(what),
             asked_.how.rounds, measured.run_again, measured.kept_disturbed);
  fmt::print("  {:{}}  {:>9}  {:>10}", "", width, "Mop/s", "switches/s");
  for (const auto& reference : what.references) fmt::print("  {:>18}", "/ " + reference);
  fmt::print("\n");
  for (const auto& name : measured.names) {
    double switches = 0, seconds = 0;
    for (const auto& one : measured.windows[measured.index_of(name)]) {
      switches += static_cast<double>(one.context_switches);
      seconds += one.seconds;
    }
    fmt::print("  {:{}}  {:9.3f}  {:10.0f}", name, width, rate(measured, name).median / 1e6,
               switches / seconds);
    for (const auto& reference : what.references)
      fmt::print("  {:>18}", name == reference ? "" : to_text(ratio(measured, name, reference)));
    fmt::print("\n");
  }
  std::fflush(stdout);
}

void session::judge(const cell& what, const comparison& measured) {
  for (const auto& goal : what.targets) {
    std::vector<std::string> present;
    for (const auto& name : goal.best_of)
      if (has_peer(what, name)) present.push_back(name);
    if (present.empty()) continue;
    const std::string reference = fastest(measured, present);
    const std::string control = reference + std::string(control_suffix);
    const bool controlled = has_peer(what, control);
    outcomes_.push_back(
        {name_of(what), goal.ours, reference, ratio(measured, goal.ours, reference), goal.at_least,
         controlled ? ratio(measured, control, reference) : quartiles{1, 1, 1}, controlled});
  }
}

void session::keep(const cell& what, const comparison& measured, const studies::host_facts& host) {
  if (asked_.out.empty()) return;
  for (std::size_t i = 0; i < measured.names.size(); ++i) {
    for (std::size_t round = 0; round < measured.windows[i].size(); ++round) {
      const window& one = measured.windows[i][round];
      studies::record kept;
      kept.study = study_;
      kept.case_name = what.case_name;
      kept.mode = measured.names[i];
      kept.policy = "none";
      kept.params = what.params;
      kept.threads = what.threads;
      kept.repeat = static_cast<unsigned>(round) + 1;
      kept.ops = one.operations;
      kept.seconds = one.seconds;
      kept.throughput = one.rate();
      kept.context_switches = one.context_switches;
      kept.baseline = what.references.front();
      kept.command =
          fmt::format("{} --only '{}' --threads {}", command_, what.case_name, what.threads);
      kept.build = studies::build_id();
      kept.host = host;
      kept.extra["queued"] = one.queued;
      records_ += studies::to_json(kept).dump() + '\n';
    }
  }
  auto judged = nlohmann::json::array();
  for (const auto& one : outcomes_) {
    judged.push_back({{"cell", one.cell},
                      {"ours", one.ours},
                      {"reference", one.reference},
                      {"ratio", to_json(one.reached)},
                      {"at_least", one.at_least},
                      {"missed", one.missed()}});
    if (one.has_control) judged.back()["control"] = to_json(one.control);
  }
  std::filesystem::create_directories(asked_.out);
  studies::replace_file(asked_.out / (study_ + ".jsonl"), records_);
  studies::replace_file(asked_.out / (study_ + "-targets.json"), judged.dump(1) + '\n');
}

int session::finish() const {
  auto sorted = outcomes_;
  std::ranges::stable_sort(sorted, [](const outcome& a, const outcome& b) {
    return a.missed() != b.missed()
               ? a.missed()
               : a.missed() && a.reached.median / a.at_least < b.reached.median / b.at_least;
  });
  const auto missed = std::ranges::count_if(sorted, &outcome::missed);
  fmt::print("\n{}: {} of {} targets missed\n", study_, missed, sorted.size());
  for (const auto& one : sorted) {
    fmt::print("  {:6} {}: {} / {} = {}, at least {:.2f}", one.missed() ? "MISSED" : "met",
               one.cell, one.ours, one.reference, to_text(one.reached), one.at_least);
    if (one.has_control) fmt::print("; control {}", to_text(one.control));
    fmt::print("\n");
  }
  return 0;
}

}  // namespace unlatch::bench
