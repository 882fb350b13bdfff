// SPDX-License-Identifier: Apache-2.0
#include "studies/validation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

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
  throughput,       ///< relative to the reference cell
  aborted,          ///< transactions, percent of those started
  in_transactions,  ///< cycles, percent of those of CPUs that have something to run
  aborted_cycles,   ///< percent of the cycles in transactions
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

cell_name map_cell(const std::string& case_name, const std::string& mode, unsigned buckets,
                   unsigned node_bytes = 64) {
  return {"bucket_map",
          case_name,
          mode,
          4,
          {fmt::format("buckets={}", buckets), "values=1000", "range=2147483647",
           fmt::format("node_bytes={}", node_bytes), "window_ms=10"}};
}

cell_name counter_cell(const std::string& case_name, const std::string& mode, unsigned threads) {
  return {"core_counters", case_name, mode, threads, {"window_ms=10"}};
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
}

/// How the nodes lay in memory is not published: apart as those of the list of section 3.3.3, or as
/// the allocator makes them, two to a cache line.
void add_hash_map_aborts(std::vector<published_figure>& list) {
  struct indicators {
    const char* case_name;
    const char* called;
    unsigned buckets;
    std::optional<double> aborted;
    double in_transactions;
    double aborted_cycles;
    const char* source;
  };
  for (const auto& [case_name, called, buckets, aborted, in_transactions, cycles, source] :
       {indicators{"bucket-locks-50", "a lock each", 10, 45.11, 53.06, 34.31, "table 3.3"},
        indicators{"bucket-locks-50", "a lock each", 100, 15.02, 30.58, 6.72, "table 3.3"},
        indicators{"bucket-locks-50", "a lock each", 1000, {}, 22.19, 5.81, "table 3.5"},
        indicators{"one-lock-50", "one lock", 1000, {}, 25.90, 53.56, "table 3.5"}}) {
    for (const unsigned node_bytes : {64U, 32U}) {
      const auto add = [&](const char* measured, aspect which, double published) {
        list.push_back({fmt::format("hash map, {} buckets, {}, nodes of {} bytes, HLE: {}", buckets,
                                    called, node_bytes, measured),
                        fmt::format("Schrimpf 2014, {}", source), published, "", which,
                        map_cell(case_name, "prefixes", buckets, node_bytes)});
      };
      if (aborted) add("transactions aborted", aspect::aborted, *aborted);
      add("cycles in transactions", aspect::in_transactions, in_transactions);
      add("of these aborted", aspect::aborted_cycles, cycles);
    }
  }
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

#ifdef UNLATCH_STUDIES_OF_LEVELDB
/// 100 000 operations of all threads together.
cell_name leveldb_cell(const std::string& benchmark, const std::string& mode) {
  return {"leveldb", benchmark, mode, 8, {"operations=12500", "value_size=50"}};
}

void add_leveldb(std::vector<published_figure>& list) {
  const std::string source = "Chitters, Midvidy, Tsui, section 5.2";
  for (const auto& [benchmark, figure, published] :
       {std::tuple{"fillseq", "figure 3", 1.225}, std::tuple{"fillrandom", "figure 4", 1.252}}) {
    const auto compare = [&](const std::string& mode, const std::string& called,
                             std::optional<double> known, const std::string& said) {
      list.push_back({fmt::format("LevelDB {}, 8 threads: {} against stock", benchmark, called),
                      fmt::format("{}, {}", source, figure), known, said, aspect::throughput,
                      leveldb_cell(benchmark, mode), leveldb_cell(benchmark, "stock")});
    };
    compare("xsync", "XSync", published, "");
    compare("unlatch", "unlatch", std::nullopt, "another implementation");
  }
}
#endif

std::vector<published_figure> published_on(const std::string& model) {
  std::vector<published_figure> list;
  if (model == "i5-4670t") {
    add_hash_map(list);
    add_hash_map_aborts(list);
    add_counters(list);
  }
#ifdef UNLATCH_STUDIES_OF_LEVELDB
  if (model == "i7-4770") add_leveldb(list);
#endif
  return list;
}

/// Measures each cell once.
class cell_measurer {
 public:
  cell_measurer(const lab::model_file& model, simulator& machine, std::stop_token stop)
      : model_(model), machine_(machine), stop_(std::move(stop)) {}

  const measurement& operator()(const cell_name& name) {
    const auto key = name.text();
    const auto found = measured_.find(key);
    if (found != measured_.end()) return found->second;
    request asked;
    asked.cases = {name.case_name};
    asked.modes = {name.mode};
    asked.threads = {name.threads};
    asked.params = name.params;
    asked.on = model_;
    const study& what = find_study(name.study);
    const auto cells = make_plan(what, asked).cells;
    const auto& wanted = *std::ranges::find(cells, name.mode, &cell::mode);
    return measured_.emplace(key, machine_.measure(what, wanted, model_, false, stop_))
        .first->second;
  }

 private:
  const lab::model_file& model_;
  simulator& machine_;
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
  if (figure.which != aspect::throughput) {
    const auto& machine = measured.extra.at("machine");
    const auto inside = machine.at("cycles_t").get<std::uint64_t>();
    if (figure.which == aspect::in_transactions) {
      return percent(inside, machine.at("cycles_busy").get<std::uint64_t>());
    }
    return percent(inside - machine.at("cycles_ct").get<std::uint64_t>(), inside);
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

std::vector<validation_row> validate(const lab::model_file& model, simulator& machine,
                                     const std::stop_token& stop,
                                     const std::function<void(const std::string&)>& next) {
  cell_measurer measure(model, machine, stop);
  std::vector<validation_row> rows;
  for (const auto& figure : published_on(model.name)) {
    if (next) next(figure.what);
    rows.push_back({figure.what, figure.source, figure.published, figure.said, unit_of(figure),
                    value_of(figure, measure)});
  }
  return rows;
}

}  // namespace unlatch::studies
