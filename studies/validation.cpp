// SPDX-License-Identifier: Apache-2.0
#include "studies/validation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "studies/plan.hpp"

namespace unlatch::studies {
namespace {

/// A cell by what tells it from others.
struct cell_name {
  std::string study;
  std::string case_name;
  std::string mode;
  unsigned threads = 4;
  std::vector<std::string> params{};

  [[nodiscard]] std::string text() const {
    std::string all = fmt::format("{} {} {} {}", study, case_name, mode, threads);
    for (const auto& param : params) all += " " + param;
    return all;
  }
};

/// What of a measurement is compared.
enum class aspect : std::uint8_t {
  throughput,      ///< relative to the reference cell
  aborted,         ///< transactions, percent of those started
  aborted_cycles,  ///< percent of the cycles in transactions
};

struct published_figure {
  std::string what;
  std::string source;
  std::optional<double> published;
  std::string said;
  aspect which = aspect::throughput;
  cell_name of;
  cell_name relative_to{};
  double scale = 1;
};

cell_name map_cell(const std::string& case_name, const std::string& mode, unsigned buckets) {
  return {"bucket_map",
          case_name,
          mode,
          4,
          {fmt::format("buckets={}", buckets), "values=1000", "range=1000"}};
}

cell_name counter_cell(const std::string& case_name, const std::string& mode, unsigned threads) {
  return {"core_counters", case_name, mode, threads};
}

void add_hash_map(std::vector<published_figure>& list) {
  struct mode_figures {
    const char* mode;
    const char* called;
    double with_10;
    double with_100;
  };
  const std::string source = "Schrimpf 2014, table 3.4";
  for (const auto& [mode, called, with_10, with_100] :
       {mode_figures{"std_mutex", "POSIX mutex", 100, 442},
        {"ttas", "TAS", 199, 852},
        {"prefixes", "HLE", 230, 1033},
        {"retry", "RTM, retried", 237, 1129}}) {
    for (const auto& [buckets, published] : {std::pair{10U, with_10}, std::pair{100U, with_100}}) {
      list.push_back({fmt::format("hash map, {} buckets, a lock each: {}", buckets, called), source,
                      published, "", aspect::throughput, map_cell("bucket-locks-50", mode, buckets),
                      map_cell("bucket-locks-50", "std_mutex", 10), 100});
    }
  }
  for (const auto& [buckets, published] : {std::pair{10U, 45.0}, std::pair{100U, 15.0}}) {
    list.push_back({fmt::format("hash map, {} buckets: transactions aborted with HLE", buckets),
                    "Schrimpf 2014, section 3.3.4", published, "", aspect::aborted,
                    map_cell("bucket-locks-50", "prefixes", buckets)});
  }
  list.push_back({"hash map, 1000 buckets, a lock each: cycles aborted with HLE",
                  "Schrimpf 2014, table 3.5", 5.81, "", aspect::aborted_cycles,
                  map_cell("bucket-locks-50", "prefixes", 1000)});
  list.push_back({"hash map, 1000 buckets, one lock: cycles aborted with HLE",
                  "Schrimpf 2014, table 3.5", 53.56, "", aspect::aborted_cycles,
                  map_cell("one-lock-50", "prefixes", 1000)});
}

void add_counters(std::vector<published_figure>& list) {
  list.push_back({"one shared counter, 4 threads: HLE against TAS", "Schrimpf 2014, figure 3.13",
                  std::nullopt, "gains little or nothing", aspect::throughput,
                  counter_cell("shared", "prefixes", 4), counter_cell("shared", "ttas", 4)});
  list.push_back({"a counter a core, side by side: HLE against TAS", "Schrimpf 2014, figure 3.14",
                  std::nullopt, "far worse", aspect::throughput,
                  counter_cell("unpadded", "prefixes", 4), counter_cell("unpadded", "ttas", 4)});
  list.push_back({"a counter a core, HLE: apart against side by side",
                  "Schrimpf 2014, section 3.3.2", 10.0, "", aspect::throughput,
                  counter_cell("padded", "prefixes", 4), counter_cell("unpadded", "prefixes", 4)});
  list.push_back({"counters apart, one lock, HLE: 4 threads against 1",
                  "Schrimpf 2014, figure 3.16", std::nullopt, "scales", aspect::throughput,
                  counter_cell("padded-one-lock", "prefixes", 4),
                  counter_cell("padded-one-lock", "prefixes", 1)});
  list.push_back({"counters apart, one lock, TAS: 4 threads against 1",
                  "Schrimpf 2014, figure 3.16", std::nullopt, "does not scale", aspect::throughput,
                  counter_cell("padded-one-lock", "ttas", 4),
                  counter_cell("padded-one-lock", "ttas", 1)});
}

std::vector<published_figure> published_on(const std::string& model) {
  std::vector<published_figure> list;
  if (model == "i5-4670t") {
    add_hash_map(list);
    add_counters(list);
  }
  return list;
}

/// Measures each cell once.
class cell_measurer {
 public:
  cell_measurer(const lab::model_file& model, const lab_program& lab, std::stop_token stop)
      : model_(model), lab_(lab), stop_(std::move(stop)) {}

  const measurement& operator()(const cell_name& name) {
    const auto key = name.text();
    const auto found = measured_.find(key);
    if (found != measured_.end()) return found->second;
    request asked;
    asked.cases = {name.case_name};
    asked.modes = {name.mode};
    asked.threads = {name.threads};
    asked.params = name.params;
    asked.params.emplace_back("window_ms=10");
    asked.on = model_;
    const auto cells = make_plan(find_study(name.study), asked).cells;
    const auto& wanted = *std::ranges::find(cells, name.mode, &cell::mode);
    return measured_.emplace(key, lab_.measure({name.study, wanted, model_}, stop_)).first->second;
  }

 private:
  const lab::model_file& model_;
  const lab_program& lab_;
  std::stop_token stop_;
  std::map<std::string, measurement> measured_;
};

double throughput(const measurement& measured) {
  return static_cast<double>(measured.ops) / measured.seconds;
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

double value_of(const published_figure& figure, cell_measurer& measure) {
  const measurement& measured = measure(figure.of);
  if (figure.which == aspect::aborted) {
    return percent(measured.transactions.aborted.total(), measured.transactions.started);
  }
  if (figure.which == aspect::aborted_cycles) {
    const auto& machine = measured.extra.at("machine");
    const auto all = machine.at("cycles_t").get<std::uint64_t>();
    return percent(all - machine.at("cycles_ct").get<std::uint64_t>(), all);
  }
  return figure.scale * throughput(measured) / throughput(measure(figure.relative_to));
}

std::string unit_of(const published_figure& figure) {
  if (figure.which != aspect::throughput) return "%";
  return figure.scale == 1 ? "x" : "POSIX with 10 buckets = 100";
}

}  // namespace

std::optional<double> validation_row::error() const {
  if (!published) return std::nullopt;
  return simulated / *published - 1;
}

std::vector<validation_row> validate(const lab::model_file& model, const lab_program& lab,
                                     const std::stop_token& stop,
                                     const std::function<void(const std::string&)>& next) {
  cell_measurer measure(model, lab, stop);
  std::vector<validation_row> rows;
  for (const auto& figure : published_on(model.name)) {
    if (next) next(figure.what);
    rows.push_back({figure.what, figure.source, figure.published, figure.said, unit_of(figure),
                    value_of(figure, measure)});
  }
  return rows;
}

}  // namespace unlatch::studies
