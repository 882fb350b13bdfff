// SPDX-License-Identifier: Apache-2.0
#include "cli/program.hpp"

#include <fmt/core.h>

#include <CLI/Config.hpp>
#include <cstdio>
#include <memory>

#include "cli/errors.hpp"
#include "cli/help_format.hpp"
#include "cli/manual.hpp"
#include "studies/nearest_name.hpp"

namespace unlatch::cli {
namespace {

void declare_study(CLI::App& app, study_arguments& into) {
  auto* study = app.add_subcommand(
      "study",
      "Run a study: measure its cells, keep a record of each, and print what came out. Without "
      "options every case runs in every mode. The baseline always runs too, twice a round: the "
      "second time is the control that shows what the machine's noise alone does.");
  study->add_option("NAME", into.name, "The study to run; 'unlatch list' names them")->required();
  study->add_option("--case", into.asked.cases, "Run these cases only")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("CASE,...");
  study->add_option("--mode", into.asked.modes, "Run these modes only, beside the baseline")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("MODE,...");
  study
      ->add_option("--on", into.on,
                   "Simulate this machine instead of running on this one: a model that 'unlatch "
                   "model' lists, or the file of one. Simulated figures are exact for their seed; "
                   "unless told otherwise every cell runs once, for a shorter time, on 1 to all of "
                   "the machine's CPUs")
      ->type_name("MODEL");
  study
      ->add_option("--virtual-limit", into.asked.virtual_limit_ms,
                   "With --on: give a cell up that is not done after so many milliseconds of "
                   "virtual time; twenty windows and a second unless given, or four seconds "
                   "where the study has no window")
      ->check(CLI::PositiveNumber)
      ->type_name("MS");
  study->add_flag("--explain", into.asked.blame,
                  "With --on: say which lines of the program made transactions abort");
  study
      ->add_option("--policy", into.asked.policies,
                   "Run the modes that elide once with each of these policies")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("POLICY,...");
  study->add_option("--threads", into.asked.threads, "Run with these numbers of threads")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("N,...");
  study
      ->add_option("--repeat", into.asked.repeats,
                   "Measure every cell this often, the modes taking turns; 7 unless given, 3 with "
                   "--quick, 1 with --on")
      ->type_name("N");
  study->add_option("--seed", into.asked.seed, "Seed of the first repeat; each later one adds 1")
      ->type_name("N")
      ->capture_default_str();
  study
      ->add_option("--out", into.out,
                   "Directory for the records, made if it is not there; an earlier NAME.jsonl in "
                   "it is kept as NAME.jsonl.previous")
      ->type_name("DIR")
      ->capture_default_str();
  study->add_option("--param", into.asked.params, "Set a parameter of the study; may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  study->add_flag("--quick", into.asked.quick,
                  "Take each parameter's small value and 3 repeats: a first look");
  study->add_flag("--json", into.json, "Print the summary as JSON");
}

void declare_emulate(CLI::App& app, emulate_arguments& into) {
  auto* emulate = app.add_subcommand(
      "emulate",
      "Run a program that uses RTM instructions on a CPU without them. Its transactions are "
      "executed instruction by instruction, with its other threads stopped, and undone where "
      "hardware would have aborted them or where an abort is asked for. What they did is told on "
      "standard error when the program has ended, with whose exit status this one ends. Write '--' "
      "before the program.");
  emulate->add_option("PROGRAM", into.asked.command, "The program and its arguments, after '--'")
      ->required()
      ->type_name("");
  emulate
      ->add_option("--model", into.model,
                   "The machine whose first-level cache and limits transactions have: a model that "
                   "'unlatch model' lists, or the file of one")
      ->type_name("MODEL")
      ->capture_default_str();
  auto* at = emulate
                 ->add_option("--abort-at", into.asked.abort_at,
                              "Abort every transaction before its Nth instruction, from 1; or "
                              "'each': the first at a call site before its first instruction, the "
                              "next before its second, and so on until one commits")
                 ->type_name("N|each");
  emulate
      ->add_option("--abort-rate", into.asked.abort_rate,
                   "Abort this share of transactions, 0 to 1, before an instruction chosen at "
                   "random")
      ->type_name("P")
      ->excludes(at);
  emulate
      ->add_option("--status", into.asked.status,
                   "What an abort that was asked for leaves in EAX: a number, or words of "
                   "interrupt, retry, conflict, capacity, debug, nested and explicit:CODE joined "
                   "by '+'")
      ->type_name("STATUS")
      ->capture_default_str();
  emulate->add_option("--seed", into.asked.seed, "Seed of what is random")
      ->type_name("N")
      ->capture_default_str();
  auto* cpuid = emulate->add_flag(
      "--cpuid", into.asked.cpuid,
      "Let CPUID show RTM, for programs that ask it before they use transactions");
  emulate
      ->add_flag("--no-cpuid-trap", into.no_cpuid_trap,
                 "With --cpuid, replace the CPUIDs that are found in the code even where the CPU "
                 "could let them trap")
      ->needs(cpuid);
  emulate->add_flag("--no-patch", into.no_patch,
                    "Let every XBEGIN trap, instead of replacing those that run often by jumps");
  emulate->add_flag("--json", into.json, "Tell what happened as JSON");
}

void declare_run(CLI::App& app, run_arguments& into) {
  auto* run = app.add_subcommand(
      "run",
      "Run an unmodified program with other locks. Its pthread mutexes and reader-writer locks run "
      "their sections in hardware transactions; where the CPU has none, the program runs as it is. "
      "Or its mutexes become locks of another algorithm. What the locks did is told on standard "
      "error when the program has ended, with whose exit status this one ends. Write '--' before "
      "the program.");
  run->add_option("PROGRAM", into.asked.command, "The program and its arguments, after '--'")
      ->required()
      ->type_name("");
  auto* policy =
      run->add_option("--policy", into.asked.policy,
                      "What decides when to try a transaction again and when to take the "
                      "lock: a policy that 'unlatch list' names")
          ->type_name("POLICY")
          ->capture_default_str();
  run->add_option("--lock", into.lock,
                  "Make the mutexes locks of this algorithm instead: mutex (spins, then sleeps), "
                  "spin, ticket or mcs. Needs no transactions")
      ->type_name("LOCK")
      ->excludes(policy);
  run->add_flag("--json", into.json, "Tell what happened as JSON");
}

void declare_profile(CLI::App& app, profile_arguments& into) {
  auto* profile = app.add_subcommand(
      "profile",
      "Run a program and tell what its pthread locks did: for each lock and each call that takes "
      "it how often it was taken, how often it was not free, how long was waited for it and how "
      "long it was held; what its sections touch, what of that two threads would meet in, and what "
      "would abort a transaction; and whether to elide it. The program needs no change; with debug "
      "information calls are told by "
      "their lines. The result is on standard error when the program has ended, however it ended, "
      "and this program's exit status is the other's. Write '--' before the program.");
  profile->add_option("PROGRAM", into.asked.command, "The program and its arguments, after '--'")
      ->type_name("");
  auto* out = profile
                  ->add_option("--out", into.asked.recording,
                               "Record into this file and keep it; --read tells what is in it, "
                               "also while the program runs or after it was killed")
                  ->type_name("FILE");
  profile->add_option("--read", into.read, "Run nothing, tell what this earlier recording says")
      ->type_name("FILE")
      ->excludes(out);
  profile
      ->add_option("--budget", into.asked.sampling_percent,
                   "Spend so many percent of each process's time on executing sections "
                   "instruction by instruction, to see what they touch; 0: count and time only")
      ->type_name("PERCENT")
      ->capture_default_str();
  profile
      ->add_option("--model", into.model,
                   "Advise for this machine: a model that 'unlatch model' lists, or the file of "
                   "one")
      ->type_name("MODEL")
      ->capture_default_str();
  profile->add_option("--locks", into.locks, "Show the first N locks")
      ->type_name("N")
      ->capture_default_str();
  profile->add_flag("--json", into.json, "Print as JSON");
}

/// The names a word of the command line could have been.
std::vector<std::string> words_of(const CLI::App& app, bool options) {
  std::vector<std::string> words;
  if (options) {
    for (const auto* option : app.get_options()) {
      if (option->get_group().empty()) continue;
      for (const auto& name : option->get_lnames()) words.push_back("--" + name);
      for (const auto& name : option->get_snames()) words.push_back("-" + name);
    }
  } else {
    for (const auto* command : app.get_subcommands({})) words.push_back(command->get_name());
  }
  return words;
}

int fail(exit_code code, std::string_view message) {
  fmt::print(stderr, "unlatch: {}\n", message);
  return code;
}

/// Tells what is wrong with the command line, naming the nearest right word where there is one.
int reject(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  if (const auto parsed = app.get_subcommands(); !parsed.empty()) command = parsed.front();
  const auto unknown = app.remaining(true);
  if (unknown.empty()) return fail(usage, fmt::format("{}; see --help", error.what()));
  const std::string word = unknown.front().substr(0, unknown.front().find('='));
  const bool option = word.starts_with('-');
  if (!option && command != &app) {
    return fail(usage, fmt::format("{}: '{}' is one argument too many; see --help",
                                   command->get_name(), word));
  }
  return fail(usage,
              studies::unknown_name(option ? "option" : "command", word, words_of(*command, option))
                  .what());
}

int dispatch(const CLI::App& app, const arguments& asked) {
  if (app.got_subcommand("info")) return info(asked.info);
  if (app.got_subcommand("list")) return list(asked.list);
  if (app.got_subcommand("model")) {
    if (asked.model.check) return check_model(asked.model);
    if (asked.model.validate) return validate_model(asked.model);
    return model(asked.model);
  }
  if (app.got_subcommand("study")) return study(asked.study);
  if (app.got_subcommand("emulate")) return emulate(asked.emulate);
  if (app.got_subcommand("run")) return run_program(asked.run);
  if (app.got_subcommand("profile")) return profile(asked.profile);
  return report(asked.report);
}

}  // namespace

void declare(CLI::App& app, arguments& into) {
  app.name("unlatch");
  app.formatter(std::make_shared<help_format>());
  app.description("Critical sections that run without taking the latch: measure what that gains.");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string(UNLATCH_VERSION));
  app.add_flag("--man", into.man, "Print this program's manual page")->group("");

  auto* info = app.add_subcommand(
      "info",
      "Tell what this CPU offers for transactions and, where it offers none, why not; its caches; "
      "and what the library does here.");
  info->add_flag("--json", into.info.json, "Print as JSON");

  auto* list = app.add_subcommand(
      "list",
      "List the studies with their cases, modes and parameters, the policies and the locks.");
  list->add_flag("--json", into.list.json, "Print as JSON");

  auto* model = app.add_subcommand(
      "model",
      "Print a machine model: the constants by which the lab simulates a multicore machine, each "
      "with its source, and the published figures that they were fitted to. Without a name, list "
      "the models.");
  model->add_option("NAME", into.model.name, "The model, or the file of one");
  model->add_flag("--json", into.model.json, "Print as JSON, in the form of a model's file");
  auto* check = model->add_flag("--check", into.model.check,
                                "Simulate the figures that the model was fitted to and print them "
                                "beside the published ones; exit with 1 if one is too far off");
  model
      ->add_flag("--validate", into.model.validate,
                 "Simulate published measurements that the model was not fitted to and print them "
                 "beside what was published")
      ->excludes(check);

  declare_study(app, into.study);

  auto* report = app.add_subcommand(
      "report", "Make one self-contained HTML page of the records in a directory.");
  report->add_option("DIR", into.report.directory, "Directory that studies wrote")
      ->capture_default_str();
  report->add_option("-o,--output", into.report.file, "The page to write")
      ->type_name("FILE")
      ->capture_default_str();

  declare_profile(app, into.profile);
  declare_emulate(app, into.emulate);
  declare_run(app, into.run);
}

int run(int argc, char** argv) {
  CLI::App app;
  arguments asked;
  declare(app, asked);
  app.footer("See 'unlatch COMMAND --help' for a command and 'man unlatch' for everything.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    if (asked.man || (argc == 2 && std::string_view(argv[1]) == "--man")) {
      fmt::print("{}", manual_page(app));
      return success;
    }
    return reject(app, error);
  }
  try {
    return dispatch(app, asked);
  } catch (const std::invalid_argument& error) {
    return fail(usage, error.what());
  } catch (const std::exception& error) {
    return fail(failure, describe(error));
  }
}

}  // namespace unlatch::cli
