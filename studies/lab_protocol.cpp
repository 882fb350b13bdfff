// SPDX-License-Identifier: Apache-2.0
#include "studies/lab_protocol.hpp"

namespace unlatch::studies {
namespace {

using nlohmann::json;

nlohmann::ordered_json to_json(const cell& one) {
  return {{"case", one.case_name}, {"mode", one.mode},
          {"policy", one.policy},  {"threads", one.threads},
          {"repeat", one.repeat},  {"seed", one.seed},
          {"params", one.params},  {"virtual_limit_ms", one.virtual_limit_ms}};
}

cell parse_cell(const json& object) {
  cell one;
  object.at("case").get_to(one.case_name);
  object.at("mode").get_to(one.mode);
  object.at("policy").get_to(one.policy);
  object.at("threads").get_to(one.threads);
  object.at("repeat").get_to(one.repeat);
  object.at("seed").get_to(one.seed);
  object.at("params").get_to(one.params);
  object.at("virtual_limit_ms").get_to(one.virtual_limit_ms);
  return one;
}

transaction_counts parse_transactions(const json& object) {
  transaction_counts counts;
  object.at("started").get_to(counts.started);
  object.at("committed").get_to(counts.committed);
  const json& aborted = object.at("aborted");
  aborted.at("conflict").get_to(counts.aborted.conflict);
  aborted.at("capacity").get_to(counts.aborted.capacity);
  aborted.at("explicit").get_to(counts.aborted.explicitly);
  aborted.at("other").get_to(counts.aborted.other);
  return counts;
}

}  // namespace

std::uint64_t usual_virtual_limit_ms(const cell& one) {
  const auto window = one.params.find("window_ms");
  if (window != one.params.end()) return 1000 + 20 * window->second;
  const auto operations = one.params.find("operations");
  return 4000 + (operations == one.params.end() ? 0 : operations->second * one.threads / 10);
}

std::uint64_t virtual_limit_ms(const cell& one) {
  return one.virtual_limit_ms != 0 ? one.virtual_limit_ms : usual_virtual_limit_ms(one);
}

std::string describe(std::string_view study, const cell& one, std::string_view model) {
  std::string text = "study ";
  text.append(study).append(", case ").append(one.case_name);
  text.append(", mode ").append(one.mode).append(", policy ").append(one.policy);
  return text.append(", " + std::to_string(one.threads) + " threads on ").append(model);
}

nlohmann::ordered_json to_json(const lab_request& request) {
  return {{"study", request.study},
          {"cell", to_json(request.what)},
          {"model", lab::to_json(request.on)},
          {"blame", request.blame}};
}

lab_request parse_lab_request(std::string_view text) {
  const json object = json::parse(text);
  return {object.at("study").get<std::string>(), parse_cell(object.at("cell")),
          lab::parse_model(object.at("model").dump(), "the request's model"),
          object.at("blame").get<bool>()};
}

json to_json(const measurement& measured) {
  const auto& [started, committed, aborted] = measured.transactions;
  json object = {{"ops", measured.ops},
                 {"seconds", measured.seconds},
                 {"latency_us", measured.latency_us},
                 {"transactions",
                  {{"started", started},
                   {"committed", committed},
                   {"aborted",
                    {{"conflict", aborted.conflict},
                     {"capacity", aborted.capacity},
                     {"explicit", aborted.explicitly},
                     {"other", aborted.other}}}}},
                 {"fallbacks", measured.fallbacks},
                 {"extra", measured.extra}};
  if (measured.software) {
    object["software"] = {{"started", measured.software->started},
                          {"committed", measured.software->committed},
                          {"aborted", measured.software->aborted}};
  }
  if (measured.context_switches) object["context_switches"] = *measured.context_switches;
  return object;
}

measurement parse_measurement(std::string_view text) {
  const json object = json::parse(text);
  measurement measured;
  object.at("ops").get_to(measured.ops);
  object.at("seconds").get_to(measured.seconds);
  object.at("latency_us").get_to(measured.latency_us);
  measured.transactions = parse_transactions(object.at("transactions"));
  object.at("fallbacks").get_to(measured.fallbacks);
  measured.extra = object.at("extra");
  if (object.contains("software")) {
    const json& software = object.at("software");
    measured.software = {software.at("started").get<std::uint64_t>(),
                         software.at("committed").get<std::uint64_t>(),
                         software.at("aborted").get<std::uint64_t>()};
  }
  if (object.contains("context_switches")) {
    measured.context_switches = object.at("context_switches").get<std::uint64_t>();
  }
  return measured;
}

}  // namespace unlatch::studies
