// SPDX-License-Identifier: Apache-2.0
#include "studies/record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <system_error>

#include "studies/blame_keys.hpp"

namespace unlatch::studies {
namespace {

using nlohmann::json;

/// Takes the fields out of one JSON object; what is left over in the end is the study's own.
class field_reader {
 public:
  field_reader(json object, std::string_view source, std::string prefix = {})
      : object_(std::move(object)), source_(source), prefix_(std::move(prefix)) {}

  [[noreturn]] void fail(std::string_view key, std::string_view what,
                         std::string_view remedy) const {
    throw record_error(
        fmt::format("{}: field '{}{}': {}; {}", source_, prefix_, key, what, remedy));
  }

  [[nodiscard]] bool has(const char* key) const { return object_.contains(key); }

  std::string text(const char* key) {
    json value = take(key);
    if (!value.is_string()) wrong_type(key, value, "a string");
    if (value.get_ref<const std::string&>().empty()) {
      fail(key, "is empty", "give it a value or delete the line");
    }
    return value.get<std::string>();
  }

  std::string optional_text(const char* key) {
    if (!has(key)) return {};
    json value = take(key);
    if (!value.is_string()) wrong_type(key, value, "a string");
    return value.get<std::string>();
  }

  std::uint64_t whole(const char* key, std::uint64_t minimum = 0,
                      std::uint64_t maximum = std::numeric_limits<std::uint64_t>::max()) {
    const json value = take(key);
    return whole_value(key, value, minimum, maximum);
  }

  std::uint64_t whole_value(std::string_view key, const json& value, std::uint64_t minimum,
                            std::uint64_t maximum) const {
    if (!value.is_number_unsigned()) wrong_type(key, value, "a whole number, 0 or more");
    const auto number = value.get<std::uint64_t>();
    if (number < minimum || number > maximum) {
      fail(key, fmt::format("{} is outside {} to {}", number, minimum, maximum),
           "correct it or delete the line");
    }
    return number;
  }

  double quantity(const char* key) { return quantity_value(key, take(key)); }

  double quantity_value(std::string_view key, const json& value) const {
    if (!value.is_number()) wrong_type(key, value, "a number");
    const auto number = value.get<double>();
    if (!std::isfinite(number) || number < 0) {
      fail(key, fmt::format("{} is no finite quantity of 0 or more", number),
           "correct it or delete the line");
    }
    return number;
  }

  json object(const char* key) {
    json value = take(key);
    if (!value.is_object()) wrong_type(key, value, "an object");
    return value;
  }

  field_reader nested(const char* key) {
    return {object(key), source_, fmt::format("{}{}.", prefix_, key)};
  }

  /// Leaves it where it is: it is the study's own, but others read it too.
  void check_blame() const {
    const auto found = object_.find("blame");
    if (found == object_.end()) return;
    if (const auto fault = find_fault(*found)) {
      const char* const dot = fault->key.empty() ? "" : ".";
      fail(fmt::format("blame{}{}", dot, fault->key), fault->what,
           "delete the line and run its cell again");
    }
  }

  [[nodiscard]] json rest() && { return std::move(object_); }

 private:
  [[noreturn]] void wrong_type(std::string_view key, const json& value,
                               std::string_view wanted) const {
    fail(key, fmt::format("is {}, must be {}", value.dump(), wanted),
         "correct it or delete the line");
  }

  json take(const char* key) {
    const auto found = object_.find(key);
    if (found == object_.end()) {
      fail(key, "is missing", "delete the line and run its cell again");
    }
    json value = std::move(*found);
    object_.erase(found);
    return value;
  }

  json object_;
  std::string_view source_;
  std::string prefix_;
};

transaction_counts read_transactions(field_reader fields) {
  transaction_counts counts;
  counts.started = fields.whole("started");
  counts.committed = fields.whole("committed");
  auto causes = fields.nested("aborted");
  counts.aborted.conflict = causes.whole("conflict");
  counts.aborted.capacity = causes.whole("capacity");
  counts.aborted.explicitly = causes.whole("explicit");
  counts.aborted.other = causes.whole("other");
  return counts;
}

software_counts read_software(field_reader fields) {
  software_counts counts;
  counts.started = fields.whole("started");
  counts.committed = fields.whole("committed");
  counts.aborted = fields.whole("aborted");
  return counts;
}

host_facts read_host(field_reader fields) {
  host_facts host;
  host.cpu = fields.optional_text("cpu");
  host.kernel = fields.optional_text("kernel");
  host.cpus = static_cast<unsigned>(fields.whole("cpus", 1, std::numeric_limits<unsigned>::max()));
  host.load = fields.quantity("load");
  return host;
}

json to_json(const host_facts& host) {
  json object = {{"cpu", host.cpu}, {"cpus", host.cpus}, {"load", host.load}};
  if (!host.kernel.empty()) object["kernel"] = host.kernel;
  return object;
}

}  // namespace

json to_json(const record& value) {
  json object = value.extra;
  object["study"] = value.study;
  object["case"] = value.case_name;
  object["mode"] = value.mode;
  object["policy"] = value.policy;
  object["params"] = value.params;
  object["where"] = value.where;
  object["threads"] = value.threads;
  object["repeat"] = value.repeat;
  object["seed"] = value.seed;
  object["ops"] = value.ops;
  object["seconds"] = value.seconds;
  object["throughput"] = value.throughput;
  if (!value.latency_us.empty()) object["latency_us"] = value.latency_us;
  const auto& [started, committed, aborted] = value.transactions;
  object["transactions"] = {{"started", started},
                            {"committed", committed},
                            {"aborted",
                             {{"conflict", aborted.conflict},
                              {"capacity", aborted.capacity},
                              {"explicit", aborted.explicitly},
                              {"other", aborted.other}}}};
  object["fallbacks"] = value.fallbacks;
  if (value.software) {
    object["software"] = {{"started", value.software->started},
                          {"committed", value.software->committed},
                          {"aborted", value.software->aborted}};
  }
  if (value.context_switches) object["context_switches"] = *value.context_switches;
  if (!value.baseline.empty()) object["baseline"] = value.baseline;
  if (!value.command.empty()) object["command"] = value.command;
  object["build"] = value.build;
  object["host"] = to_json(value.host);
  return object;
}

record parse_record(std::string_view line, std::string_view source) {
  json object;
  try {
    object = json::parse(line);
  } catch (const json::parse_error& error) {
    throw record_error(
        fmt::format("{}: byte {} is no valid JSON; delete the line", source, error.byte));
  }
  if (!object.is_object()) {
    throw record_error(fmt::format("{}: is no JSON object; delete the line", source));
  }
  constexpr auto any_unsigned = std::numeric_limits<unsigned>::max();
  field_reader fields(std::move(object), source);
  record value;
  value.study = fields.text("study");
  value.case_name = fields.text("case");
  value.mode = fields.text("mode");
  value.policy = fields.text("policy");
  const json params = fields.object("params");
  for (const auto& [key, number] : params.items()) {
    value.params[key] =
        fields.whole_value("params." + key, number, 0, std::numeric_limits<std::uint64_t>::max());
  }
  value.where = fields.text("where");
  value.threads = static_cast<unsigned>(fields.whole("threads", 1, any_unsigned));
  value.repeat = static_cast<unsigned>(fields.whole("repeat", 0, any_unsigned));
  value.seed = fields.whole("seed");
  value.ops = fields.whole("ops");
  value.seconds = fields.quantity("seconds");
  value.throughput = fields.quantity("throughput");
  if (fields.has("latency_us")) {
    const json percentiles = fields.object("latency_us");
    for (const auto& [key, number] : percentiles.items()) {
      value.latency_us[key] = fields.quantity_value("latency_us." + key, number);
    }
  }
  value.transactions = read_transactions(fields.nested("transactions"));
  value.fallbacks = fields.whole("fallbacks");
  if (fields.has("software")) value.software = read_software(fields.nested("software"));
  if (fields.has("context_switches")) value.context_switches = fields.whole("context_switches");
  value.baseline = fields.optional_text("baseline");
  value.command = fields.optional_text("command");
  value.build = fields.text("build");
  value.host = read_host(fields.nested("host"));
  fields.check_blame();
  value.extra = std::move(fields).rest();
  return value;
}

std::vector<record> read_records(const std::filesystem::path& file) {
  std::ifstream input(file);
  if (!input) {
    throw record_error(fmt::format("{}: cannot be read: {}; check the path and its permissions",
                                   file.string(), std::generic_category().message(errno)));
  }
  std::vector<record> records;
  std::string line;
  for (std::size_t number = 1; std::getline(input, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    records.push_back(parse_record(line, fmt::format("{}:{}", file.string(), number)));
  }
  return records;
}

std::vector<record> read_run(const std::filesystem::path& directory) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".jsonl") files.push_back(entry->path());
  }
  if (error) {
    throw record_error(
        fmt::format("{}: cannot be read as a run directory: {}; give a directory "
                    "that a study wrote",
                    directory.string(), error.message()));
  }
  if (files.empty()) {
    throw record_error(fmt::format("{}: holds no records (*.jsonl); run a study with --out {}",
                                   directory.string(), directory.string()));
  }
  std::ranges::sort(files);
  std::vector<record> records;
  for (const auto& file : files) {
    auto more = read_records(file);
    std::ranges::move(more, std::back_inserter(records));
  }
  return records;
}

}  // namespace unlatch::studies
