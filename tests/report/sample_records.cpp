// SPDX-License-Identifier: Apache-2.0
#include "sample_records.hpp"

#include <cmath>
#include <random>

namespace unlatch::report::testing {
namespace {

using nlohmann::json;

// How a mode of a case behaves: operations/s at one thread, and how they change with each doubling
// of the threads.
struct curve {
  std::string mode;
  double single;
  std::vector<double> factors;
  double switches = 0;

  double at(std::size_t step) const { return single * factors.at(step); }
};

constexpr int repeats = 7;

json host() {
  return {{"cpu", "Intel(R) Xeon(R) Processor @ 2.10GHz"},
          {"cpus", 2},
          {"load", 0.4},
          {"kernel", "6.1.0-18-amd64"}};
}

class recorder {
 public:
  recorder(std::string study, std::string where)
      : study_(std::move(study)), where_(std::move(where)) {}

  void run(const std::string& name, const json& params, const std::string& baseline,
           const std::vector<curve>& curves, const json& extra = json::object()) {
    for (std::size_t step = 0; step != curves.front().factors.size(); ++step) {
      for (int repeat = 1; repeat <= repeats; ++repeat) {
        const double drift = 1 + 0.05 * noise_(random_);
        for (const curve& curve : curves) {
          json record = make(name, params, curve, 1 << step, repeat, curve.at(step) * drift);
          record["baseline"] = baseline;
          record.update(extra);
          records_.push_back(std::move(record));
        }
      }
    }
  }

  json& last() { return records_.back(); }
  std::vector<json>& records() { return records_; }

 private:
  json make(const std::string& name, const json& params, const curve& curve, int threads,
            int repeat, double throughput) {
    const double measured = throughput * (1 + 0.012 * noise_(random_));
    json record = {
        {"study", study_},
        {"case", name},
        {"mode", curve.mode},
        {"params", params},
        {"where", where_},
        {"threads", threads},
        {"repeat", repeat},
        {"seed", repeat},
        {"ops", 100000},
        {"seconds", 100000 / measured},
        {"throughput", measured},
        {"latency_us", {{"p50", 0.6e6 * threads / measured}, {"p99", 4e6 * threads / measured}}},
        {"transactions", {{"started", 0}, {"committed", 0}, {"aborted", json::object()}}},
        {"fallbacks", 0},
        {"build", "a1b2c3d"},
        {"command", "unlatch study " + study_ + " --case '" + name + "' --mode " + curve.mode +
                        " --threads " + std::to_string(threads) + " --repeat 7"}};
    if (where_ == "native") {
      record["host"] = host();
      record["context_switches"] = std::floor(100000 * curve.switches * (threads - 1) / threads);
    }
    return record;
  }

  std::string study_;
  std::string where_;
  std::mt19937 random_{7};
  std::normal_distribution<double> noise_;
  std::vector<json> records_;
};

void append(std::vector<json>& all, std::vector<json>&& more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<json> database() {
  recorder records("leveldb", "native");
  const auto compare = [&](const std::string& name, double single, std::vector<double> stock,
                           std::vector<double> ours, double switches) {
    records.run(name, {{"value_size", 100}, {"entries", 1000000}}, "stock",
                {{"stock", single, stock, switches},
                 {"stock-control", single, stock, switches},
                 {"unlatch", single, ours, switches / 300}});
  };
  compare("fillseq", 780e3, {1, 0.62, 0.58, 0.52}, {1.01, 1.02, 0.98, 0.91}, 1.1);
  compare("fillrandom", 510e3, {1, 0.55, 0.52, 0.5}, {1.01, 1.05, 1.12, 1.09}, 1.3);
  compare("overwrite", 495e3, {1, 0.56, 0.5, 0.49}, {1, 1.01, 1.06, 1.02}, 1.2);
  compare("readrandom", 340e3, {1, 1.71, 1.68, 1.62}, {1, 1.74, 1.7, 1.63}, 0.05);
  compare("readwhilewriting", 260e3, {1, 1.35, 1.31, 1.22}, {1, 1.38, 1.24, 1.09}, 0.2);
  return std::move(records.records());
}

std::vector<json> hash_map() {
  recorder records("hash_map", "native");
  for (const int reads : {100, 90, 50}) {
    const double gain = reads == 100 ? 1 : reads == 90 ? 0.7 : 0.45;
    records.run(std::to_string(reads) + " % reads", {{"buckets", 1000}, {"reads", reads}},
                "std::mutex",
                {{"std::mutex", 21e6, {1, 0.28, 0.27}, 0.4},
                 {"std::mutex-control", 21e6, {1, 0.28, 0.27}, 0.4},
                 {"ttas", 24e6, {1, 0.51, 0.48}, 0.001},
                 {"std::shared_mutex", 17e6, {1, 0.42, 0.37}, 0.1},
                 {"tbb::spin_rw_mutex", 20e6, {1, 0.55, 0.5}, 0.001},
                 {"seqlock", 27e6, {1, 1.75 * gain, 1.7 * gain}, 0.001},
                 {"libitm", 9e6, {1, 1.4 * gain, 1.35 * gain}, 0.001}});
    const json speculation = {
        {"started", 90000}, {"committed", 800 * reads}, {"aborted", 90000 - 800 * reads}};
    records.run(std::to_string(reads) + " % reads", {{"buckets", 1000}, {"reads", reads}}, "ttas",
                {{"unlatch", 25e6, {1, 1.82 * gain, 1.8 * gain}, 0.001}},
                {{"software", speculation}, {"policy", "adaptive"}});
  }
  return std::move(records.records());
}

std::vector<json> simulated() {
  recorder records("counters", "skylake-8");
  std::vector<curve> locks = {{"mutex", 30e6, {1, 0.4, 0.35, 0.3}}};
  records.run("one counter a thread", {{"counters", 64}}, "mutex", locks);
  double conflicts = 0.04;
  for (const std::string policy : {"hle", "glibc", "adaptive"}) {
    const json aborted = {{"conflict", std::round(200000 * conflicts)},
                          {"capacity", 3000},
                          {"explicit", 5000},
                          {"other", 1200}};
    records.run("one counter a thread", {{"counters", 64}}, "mutex",
                {{"elided", 29e6, {1, 1.9 - conflicts, 3.4 - 4 * conflicts, 6.2 - 20 * conflicts}}},
                {{"policy", policy},
                 {"transactions",
                  {{"started", 200000},
                   {"committed", 190800 - std::round(200000 * conflicts)},
                   {"aborted", aborted}}}});
    conflicts *= 2.1;
  }
  return std::move(records.records());
}

}  // namespace

json minimal_record(const std::string& mode, double throughput) {
  return {{"study", "queue"},  {"case", "push"}, {"mode", mode},
          {"where", "native"}, {"threads", 2},   {"throughput", throughput}};
}

std::vector<json> full_records() {
  std::vector<json> records = database();
  append(records, hash_map());
  append(records, simulated());
  return records;
}

std::vector<json> awkward_records() {
  std::vector<json> records = {minimal_record("stock", 1000), minimal_record("stock", 0),
                               minimal_record("größer·锁·🔒", 900),
                               minimal_record("</script><b>", 1)};
  json unpaired = minimal_record("unlatch", 5);
  unpaired["case"] = "a case whose baseline did not run <img src=x onerror=alert(1)>";
  unpaired["baseline"] = "absent";
  records.push_back(unpaired);
  json unbroken = minimal_record(std::string(80, 'm'), 2e9);
  unbroken["case"] = std::string(120, 'c');
  unbroken["params"] = {{std::string(90, 'p'), {1, 2, 3}}};
  unbroken["command"] = std::string(200, 'x') + " </script> & <!--";
  unbroken["software"] = {{"started", 10}, {"committed", 7}, {"aborted", 1}};
  unbroken["host"] = {{"cpu", std::string(100, 'C')}, {"cpus", 1}, {"load", 3.5}};
  unbroken["blame"] = {
      {"conflicts",
       {{{"owner",
          {{"line", std::string(130, 'l')}, {"text", "</script>" + std::string(130, 't')}}},
         {"object", std::string(90, 'o')},
         {"count", 1}}}},
      {"others", 3}};
  records.push_back(unbroken);
  return records;
}

}  // namespace unlatch::report::testing
