// SPDX-License-Identifier: Apache-2.0
//
// Single transactions and what becomes of them: the studies that characterise a transaction unit.
//
// Their records carry two keys beside the usual ones: `figures`, single values by name, and
// `series`, curves:
//
//   "figures": {"write_capacity_stride_1": {"value": 512, "unit": "lines"}}
//   "series": [{"name": "write", "x": "lines", "y": "share aborted", "points": [[8, 0], …]}]
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "studies/study.hpp"
#include "unlatch/htm.hpp"

namespace unlatch::studies {

/// Runs `body()` in a transaction. Returns what begin() returned last: started() if it committed.
template <class Body>
htm::status attempt(Body&& body) {
  const htm::status status = htm::hardware::begin();
  if (status.started()) {
    body();
    htm::hardware::commit();
  }
  return status;
}

/// Counts attempts by what became of them.
class attempt_counts {
 public:
  void count(htm::status status) {
    ++counts_.started;
    if (status.started()) {
      ++counts_.committed;
      return;
    }
    switch (status.why()) {
      case htm::cause::conflict:
        ++counts_.aborted.conflict;
        break;
      case htm::cause::capacity:
        ++counts_.aborted.capacity;
        break;
      case htm::cause::lock_held:
      case htm::cause::explicit_code:
        ++counts_.aborted.explicitly;
        break;
      case htm::cause::nested:
      case htm::cause::other:
        ++counts_.aborted.other;
        break;
    }
  }
  [[nodiscard]] const transaction_counts& counts() const { return counts_; }
  [[nodiscard]] double share_aborted() const {
    return counts_.started == 0 ? 0
                                : static_cast<double>(counts_.aborted.total()) /
                                      static_cast<double>(counts_.started);
  }

  void add(const attempt_counts& other) {
    counts_.started += other.counts_.started;
    counts_.committed += other.counts_.committed;
    counts_.aborted.conflict += other.counts_.aborted.conflict;
    counts_.aborted.capacity += other.counts_.aborted.capacity;
    counts_.aborted.explicitly += other.counts_.aborted.explicitly;
    counts_.aborted.other += other.counts_.aborted.other;
  }

 private:
  transaction_counts counts_;
};

/// A curve of a record.
class series {
 public:
  series(std::string name, std::string x, std::string y)
      : json_({{"name", std::move(name)},
               {"x", std::move(x)},
               {"y", std::move(y)},
               {"points", nlohmann::json::array()}}) {}

  void add(double x, double y) { json_["points"].push_back({x, y}); }
  [[nodiscard]] const nlohmann::json& json() const { return json_; }

 private:
  nlohmann::json json_;
};

/// Adds to what a cell measured.
inline void add_series(measurement& measured, const series& curve) {
  measured.extra["series"].push_back(curve.json());
}
inline void add_figure(measurement& measured, const std::string& name, double value,
                       std::string_view unit) {
  measured.extra["figures"][name] = {{"value", value}, {"unit", unit}};
}

/// Calls `measure(measured)` and adds how long it took; a transaction is an operation.
template <class Measure>
measurement measure_attempts(Measure&& measure) {
  measurement measured;
  attempt_counts total;
  const auto begin = std::chrono::steady_clock::now();
  measure(measured, total);
  measured.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  measured.transactions = total.counts();
  measured.ops = total.counts().started;
  return measured;
}

/// The one mode of a study that looks at transactions themselves.
inline study_mode bare_transactions() {
  return {"transactions", "hardware transactions without a lock", {}, machine_need::transactions};
}

}  // namespace unlatch::studies
