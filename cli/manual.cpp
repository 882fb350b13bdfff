// SPDX-License-Identifier: Apache-2.0
#include "cli/manual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace unlatch::cli {
namespace {

struct term {
  std::string name;
  std::string text;
};

const std::vector<term> exit_status{
    {"0", "All went well."},
    {"1", "Something failed: a study, a record that is malformed, a file that cannot be written."},
    {"2", "The command line is wrong; what comes nearest to an unknown name is told."},
    {"130", "Interrupted by SIGINT or SIGTERM; the cells that were finished are kept."},
    {"other",
     "With emulate: the program's own exit status, or 128 and the number of the signal that ended "
     "it. 1 and 2 may be the program's, too; what this program has to say stands on standard "
     "error."}};

const std::vector<term> environment{
    {"UNLATCH_LAB_PROGRAM",
     "The program that simulates machines, unlatch-lab, where it is not beside this program, in "
     "the installation's libexec/unlatch, or in the build tree."},
    {"UNLATCH_EMULATOR",
     "The object that emulates transactions, unlatch-emulator.so, where it is not beside this "
     "program, in the installation's libexec/unlatch, or in the build tree."},
    {"TMPDIR",
     "Where studies put the databases they measure, and remove them again; /tmp unless "
     "set. Put it on the disk to be measured."}};

const std::vector<term> files{
    {"DIR/NAME.jsonl",
     "The records of study NAME, one JSON object a line. It is replaced by "
     "rename after every finished cell, so it never holds half a record."},
    {"DIR/NAME.jsonl.previous", "The records of the run before."}};

/// Text for the man macros: backslashes, hyphens and leading control characters stand for
/// themselves.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string section(std::string_view title) { return fmt::format(".SH {}\n", title); }

std::string terms(const std::vector<term>& list) {
  std::string text;
  for (const auto& [name, description] : list) {
    text += fmt::format(".TP\n.B {}\n{}\n", escaped(name), escaped(description));
  }
  return text;
}

std::vector<const CLI::Option*> shown_options(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

std::string names_of(const CLI::Option& option) {
  if (option.get_positional() && option.get_lnames().empty()) return option.get_name(true);
  std::vector<std::string> names;
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::string option_entry(const CLI::Option& option) {
  std::string tag = fmt::format("\\fB{}\\fR", escaped(names_of(option)));
  if (takes_value(option) && !option.get_lnames().empty()) {
    tag += fmt::format(" \\fI{}\\fR", escaped(option.get_type_name()));
  }
  std::string text = option.get_description();
  if (!text.empty() && text.back() != '.') text += '.';
  if (!option.get_default_str().empty()) {
    text += fmt::format(" Default: {}.", option.get_default_str());
  }
  return fmt::format(".TP\n{}\n{}\n", tag, escaped(text));
}

std::string positionals(const CLI::App& command) {
  std::string text;
  for (const auto* option : shown_options(command)) {
    if (!option->get_positional()) continue;
    const auto name = fmt::format("\\fI{}\\fR", escaped(option->get_name(true)));
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text;
}

std::string command_entry(const CLI::App& command) {
  std::string text =
      fmt::format(".SS unlatch {}{} [\\fIoptions\\fR]\n{}\n", escaped(command.get_name()),
                  positionals(command), escaped(command.get_description()));
  for (const auto* option : shown_options(command)) text += option_entry(*option);
  return text;
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& manual_examples() {
  static const std::vector<std::pair<std::string, std::string>> examples{
      {"unlatch info", "What this machine offers for transactions."},
      {"unlatch study hash_map --quick", "A first look, in a minute or two."},
      {"unlatch study leveldb --case fillrandom --threads 1,2,4 --repeat 7 --out results",
       "LevelDB on the library beside stock LevelDB."},
      {"unlatch study bank --policy adaptive,glibc,tbb --param window_ms=500 --json",
       "Three elision policies side by side, for another program to read."},
      {"unlatch model i7-4770",
       "The machine of two of the studies, and where its figures come from."},
      {"unlatch model i7-4770 --check", "Whether the simulator reproduces what the model is from."},
      {"unlatch study bank --on i7-4770 --threads 1,4,8",
       "What transactions would do for the bank on that machine."},
      {"unlatch report results -o report.html", "The page to look at."},
      {"unlatch emulate -- ./program --its-option",
       "A program with RTM instructions, on a CPU without them."},
      {"unlatch emulate --abort-rate 0.3 --status capacity -- ./program",
       "The same, and what it does where three transactions in ten do not fit."}};
  return examples;
}

std::string manual_page(const CLI::App& app) {
  std::string page =
      fmt::format(".TH UNLATCH 1 \"\" \"unlatch {}\" \"User Commands\"\n", UNLATCH_VERSION);
  page += section("NAME");
  page += "unlatch \\- study critical sections that run without taking the latch\n";
  page += section("SYNOPSIS");
  for (const auto* command : app.get_subcommands({})) {
    page += fmt::format("\\fBunlatch {}\\fR{} [\\fIoptions\\fR]\n.br\n",
                        escaped(command->get_name()), positionals(*command));
  }
  page += section("DESCRIPTION") + escaped(app.get_description()) + "\n";
  page += section("OPTIONS");
  for (const auto* option : shown_options(app)) page += option_entry(*option);
  page += section("COMMANDS");
  for (const auto* command : app.get_subcommands({})) page += command_entry(*command);
  page += section("EXIT STATUS") + terms(exit_status);
  page += section("ENVIRONMENT") + terms(environment);
  page += section("FILES") + terms(files);
  page += section("EXAMPLES");
  for (const auto& [command, meaning] : manual_examples()) {
    page += fmt::format(".TP\n.B {}\n{}\n", escaped(command), escaped(meaning));
  }
  return page;
}

}  // namespace unlatch::cli
