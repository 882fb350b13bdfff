// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include "sample_records.hpp"

namespace unlatch::report::testing {
namespace {

using nlohmann::json;

json simulated_record(const std::string& study, const std::string& name, const std::string& where,
                      unsigned threads, double throughput) {
  return {{"study", study},
          {"case", name},
          {"mode", "mutex"},
          {"policy", "none"},
          {"params", {{"window_ms", 50}}},
          {"where", where},
          {"threads", threads},
          {"repeat", 1},
          {"seed", 1},
          {"ops", 100000},
          {"seconds", 100000 / throughput},
          {"throughput", throughput},
          {"transactions", {{"started", 0}, {"committed", 0}, {"aborted", json::object()}}},
          {"baseline", "mutex"},
          {"build", "a1b2c3d"},
          {"command", "unlatch study " + study + " --on " + where + " --explain"},
          {"host", {{"cpu", "Intel(R) Xeon(R) Processor"}, {"cpus", 2}, {"load", 0}}}};
}

json side(int line, const std::string& access, const std::string& text, const json& bytes) {
  return {{"line", "include/unlatch/structures/hash_map.hpp:" + std::to_string(line)},
          {"function", "unlatch::basic_hash_map<std::uint64_t>::put(unsigned long)"},
          {"text", text},
          {"access", access},
          {"bytes", bytes}};
}

json conflict(int line, unsigned threads) {
  const std::string text = "tx.write(node->value" + std::to_string(line) + ", value);";
  return {{"owner", side(line, "write", text, {{0, 7}})},
          {"requester", side(line + 3, "read", "if (tx.read(node->key) == key) {", {{8, 15}})},
          {"begun_at", "include/unlatch/elided.hpp:212"},
          {"object", "64 bytes allocated at studies/hash_map.cpp:31"},
          {"allocation", {{"line", "studies/hash_map.cpp:31"}, {"text", "map.put(tx, key, 0);"}}},
          {"sharing", "false"},
          {"true_sharing", line % 2},
          {"requester_in_transaction", 3},
          {"count", 10 * threads},
          {"wasted_cycles", 1000 * threads * static_cast<unsigned>(line)}};
}

json blame(unsigned threads) {
  json conflicts = json::array();
  for (int line = 58; line > 40; --line) conflicts.push_back(conflict(line, threads));
  json capacity = side(77, "write", "T* const node = tx.template allocate<T>(key);", {});
  capacity.update({{"begun_at", "include/unlatch/elided.hpp:212"},
                   {"set", 12},
                   {"lines_in_set", 9},
                   {"tracked_lines", 61},
                   {"filled_by", {{{"line", "studies/hash_map.cpp:40"}, {"lines", 9}}}},
                   {"count", 7},
                   {"wasted_cycles", 91000}});
  const json other = {{"line", "include/unlatch/parking.hpp:0"},
                      {"function", "unlatch::detail::park(unsigned int)"},
                      {"begun_at", "include/unlatch/elided.hpp:212"},
                      {"reason", "system call"},
                      {"count", 2},
                      {"wasted_cycles", 5000}};
  return {{"conflicts", conflicts}, {"capacities", {capacity}}, {"others", {other}}};
}

void add_blamed_map(std::vector<json>& records) {
  for (const std::string name : {"reads-50", "reads-90"}) {
    for (const unsigned threads : {1U, 4U, 8U}) {
      records.push_back(simulated_record("hash_map", name, "i7-4770", threads, 9e6));
      records.push_back(simulated_record("hash_map", name, "i7-4770", threads, 8e6 * threads));
      json& elided = records.back();
      elided["mode"] = "unlatch";
      elided["policy"] = "adaptive";
      elided["blame"] = blame(threads);
    }
  }
}

void add_policies(std::vector<json>& records) {
  constexpr std::array<const char*, 4> policies{"adaptive", "hle", "glibc", "johnson"};
  int step = 0;
  for (const std::string where : {"i7-4770", "xeon-8480"}) {
    for (const std::string name :
         {"bank-transfers", "counter-shared", "list-long", "map-updates"}) {
      for (const unsigned threads : {1U, 2U, 4U, 8U}) {
        const auto add = [&](const std::string& policy, double throughput) {
          records.push_back(simulated_record("policies", name, where, threads, throughput));
          const bool plain = policy == "none";
          records.back().update(
              {{"mode", plain ? "plain" : "elided"}, {"policy", policy}, {"baseline", "plain"}});
        };
        add("none", 10e6);
        for (const char* policy : policies) {
          step = (step * 5 + 3) % 64;
          add(policy, 9.4e6 + 0.3e6 * step * threads / 4);
        }
      }
    }
  }
}

}  // namespace

std::vector<json> lab_records() {
  std::vector<json> records;
  add_blamed_map(records);
  add_policies(records);
  return records;
}

}  // namespace unlatch::report::testing
