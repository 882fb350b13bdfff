// SPDX-License-Identifier: Apache-2.0
#include "studies/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "studies/nearest_name.hpp"
#include "unlatch/htm.hpp"

namespace unlatch::studies {
namespace {

constexpr unsigned default_repeats = 7;
constexpr unsigned quick_repeats = 3;
constexpr unsigned simulated_repeats = 1;
constexpr unsigned most_threads = 4096;

struct variant {
  std::string mode;
  std::string policy;
  bool control = false;
};

/// `chosen`, each checked, once and in the order of `known`; all of `known` if none is chosen.
std::vector<std::string> choose(std::string_view kind, const std::vector<std::string>& chosen,
                                const std::vector<std::string>& known) {
  if (chosen.empty()) return known;
  for (const auto& name : chosen) require_name(kind, name, known);
  std::vector<std::string> names;
  std::ranges::copy_if(known, std::back_inserter(names), [&](const std::string& name) {
    return std::ranges::find(chosen, name) != chosen.end();
  });
  return names;
}

std::vector<std::string> policies_of(const std::vector<const study_mode*>& modes) {
  std::vector<std::string> names;
  for (const auto* mode : modes) {
    for (const auto& policy : mode->policies) {
      if (std::ranges::find(names, policy) == names.end()) names.push_back(policy);
    }
  }
  return names;
}

/// The modes asked for; all that can run here if none is.
std::vector<const study_mode*> choose_modes(const study& what, const request& asked) {
  std::vector<const study_mode*> modes;
  for (const auto& name : choose("mode", asked.modes, names_of(what.modes))) {
    const study_mode& mode = what.mode(name);
    const auto reason = why_not(mode, asked.on);
    if (reason.empty()) {
      modes.push_back(&mode);
    } else if (!asked.modes.empty()) {
      throw std::invalid_argument(fmt::format("mode '{}': {}", name, reason));
    }
  }
  if (const auto reason = why_not(what.baseline(), asked.on); !reason.empty()) {
    throw std::invalid_argument(fmt::format("study '{}': {}", what.name, reason));
  }
  return modes;
}

std::vector<variant> choose_variants(const study& what, const request& asked) {
  const auto modes = choose_modes(what, asked);
  const auto known = policies_of(modes);
  if (!asked.policies.empty() && known.empty()) {
    throw std::invalid_argument(fmt::format(
        "no chosen mode of study '{}' elides, so --policy has nothing to choose", what.name));
  }
  const auto policies = choose("policy", asked.policies, known);

  std::vector<variant> variants{{what.baseline().name, "none"}};
  for (const auto* mode : modes) {
    if (mode == &what.baseline()) continue;
    if (!mode->elides()) {
      variants.push_back({mode->name, "none"});
    } else if (asked.policies.empty() && !what.every_policy) {
      variants.push_back({mode->name, mode->policies.front()});
    } else {
      for (const auto& policy : policies) {
        if (std::ranges::find(mode->policies, policy) == mode->policies.end()) continue;
        variants.push_back({mode->name, policy});
      }
    }
  }
  if (!asked.on) variants.push_back({what.baseline().name, "none", true});
  return variants;
}

parameter_values choose_params(const study& what, const request& asked) {
  parameter_values values;
  for (const auto& parameter : what.parameters) {
    const bool simulated = asked.on && parameter.simulated_value != 0;
    values[parameter.name] = simulated                 ? parameter.simulated_value
                             : asked.quick || asked.on ? parameter.quick_value
                                                       : parameter.value;
  }
  for (const auto& text : asked.params) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) {
      throw std::invalid_argument(fmt::format("parameter '{}' has no value; write {}=NUMBER", text,
                                              text.empty() ? "NAME" : text));
    }
    const auto name = text.substr(0, equals);
    const auto number = text.substr(equals + 1);
    require_name("parameter", name, names_of(what.parameters));
    const auto& parameter = *std::ranges::find(what.parameters, name, &study_parameter::name);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || end != number.data() + number.size() || value < parameter.minimum ||
        value > parameter.maximum) {
      throw std::invalid_argument(
          fmt::format("parameter '{}': '{}' is no whole number from {} to {}", name, number,
                      parameter.minimum, parameter.maximum));
    }
    values[name] = value;
  }
  return values;
}

/// 1 to all CPUs of the model in powers of two, and all of them; for a study of one thread, that.
std::vector<unsigned> simulated_threads(const study& what, const lab::model& machine) {
  if (what.threads == std::vector<unsigned>{1}) return what.threads;
  std::vector<unsigned> counts;
  for (unsigned count = 1; count < machine.cpus(); count *= 2) counts.push_back(count);
  counts.push_back(machine.cpus());
  return counts;
}

std::vector<unsigned> choose_threads(const study& what, const request& asked) {
  auto threads = asked.threads;
  if (threads.empty()) {
    threads = asked.on ? simulated_threads(what, asked.on->constants) : what.threads;
  }
  for (const unsigned count : threads) {
    if (count < 1 || count > most_threads) {
      throw std::invalid_argument(
          fmt::format("{} threads: give a number from 1 to {}", count, most_threads));
    }
  }
  return threads;
}

unsigned choose_repeats(const request& asked) {
  const unsigned usual = asked.on      ? simulated_repeats
                         : asked.quick ? quick_repeats
                                       : default_repeats;
  const unsigned repeats = asked.repeats.value_or(usual);
  if (repeats < 1) throw std::invalid_argument("0 repeats: give at least 1");
  return repeats;
}

}  // namespace

std::string why_not(const study_mode& mode, const std::optional<lab::model_file>& on) {
  if (mode.need == machine_need::none) return {};
  if (on) {
    const auto& unit = on->constants.transactions;
    const bool there = mode.need == machine_need::prefixes ? unit.hle : unit.rtm;
    if (there) return {};
    return fmt::format("the model {} has no {}", on->name,
                       mode.need == machine_need::prefixes ? "XACQUIRE and XRELEASE" : "RTM");
  }
  if (mode.need == machine_need::simulated_transactions) {
    return "is built for simulated machines only; choose one with --on";
  }
  if (mode.need == machine_need::prefixes) {
    return "runs on simulated machines only: processors have lost XACQUIRE and XRELEASE; choose "
           "one with --on";
  }
  if (htm::available()) return {};
  return fmt::format("needs hardware transactions ({}); simulate a machine with --on",
                     htm::to_string(htm::describe()));
}

plan make_plan(const study& what, const request& asked) {
  if (asked.blame && !asked.on) {
    throw std::invalid_argument(
        "only a simulated machine can explain its aborts; choose one with --on");
  }
  if (asked.blame && what.measure_on) {
    throw std::invalid_argument(
        fmt::format("study '{}' cannot explain aborts: its programs only count them", what.name));
  }
  if (asked.virtual_limit_ms != 0 && !asked.on) {
    throw std::invalid_argument(
        "only a simulated machine has virtual time to limit; choose one with --on");
  }
  const auto cases = choose("case", asked.cases, names_of(what.cases));
  const auto variants = choose_variants(what, asked);
  const auto params = choose_params(what, asked);
  const auto threads = choose_threads(what, asked);
  const auto repeats = choose_repeats(asked);

  plan made{&what, {}, asked.on, asked.blame};
  for (unsigned repeat = 1; repeat <= repeats; ++repeat) {
    auto order = variants;
    if (!asked.on) std::ranges::rotate(order, order.begin() + (repeat - 1) % order.size());
    for (const auto& case_name : cases) {
      for (const unsigned count : threads) {
        for (const auto& [mode, policy, control] : order) {
          made.cells.push_back({case_name, mode, policy, control, count, repeat,
                                asked.seed + repeat - 1, params, asked.virtual_limit_ms});
        }
      }
    }
  }
  return made;
}

std::string rerun_command(const study& what, const cell& one,
                          const std::optional<lab::model_file>& on) {
  std::string command = fmt::format("unlatch study {}", what.name);
  if (on) command += fmt::format(" --on {}", on->name);
  command += fmt::format(" --case {} --mode {}", one.case_name, one.mode);
  if (one.policy != "none") command += fmt::format(" --policy {}", one.policy);
  command += fmt::format(" --threads {} --repeat 1 --seed {}", one.threads, one.seed);
  for (const auto& [name, value] : one.params)
    command += fmt::format(" --param {}={}", name, value);
  if (one.virtual_limit_ms != 0)
    command += fmt::format(" --virtual-limit {}", one.virtual_limit_ms);
  return command;
}

}  // namespace unlatch::studies
