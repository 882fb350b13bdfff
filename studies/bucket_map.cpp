// SPDX-License-Identifier: Apache-2.0
//
// The hash map of Schrimpf 2014, section 3.3.4: an array of lists, with a lock a bucket or one for
// all. Most values looked for are not there if their range is large, as in the paper.
#include <bit>
#include <memory>
#include <vector>

#include "studies/chained_list.hpp"
#include "studies/list_workload.hpp"
#include "studies/sections.hpp"
#include "studies/studies.hpp"

namespace unlatch::studies {
namespace {

template <class Sections>
class bucket_array {
 public:
  bucket_array(std::size_t buckets, bool one_lock) : one_lock_(one_lock) {
    for (std::size_t i = 0; i < buckets; ++i) buckets_.push_back(std::make_unique<bucket>());
  }

  Sections& sections_of(std::uint64_t value) {
    return one_lock_ ? buckets_.front()->sections : bucket_of(value).sections;
  }
  chained_list& list_of(std::uint64_t value) { return bucket_of(value).list; }
  [[nodiscard]] std::size_t size() const {
    std::size_t sum = 0;
    for (const auto& one : buckets_) sum += one->list.size();
    return sum;
  }

 private:
  struct bucket {
    Sections sections;
    alignas(cache_line) chained_list list;
  };

  bucket& bucket_of(std::uint64_t value) { return *buckets_[value % buckets_.size()]; }

  std::vector<std::unique_ptr<bucket>> buckets_;
  bool one_lock_;
};

}  // namespace

study bucket_map_study() {
  study what;
  what.name = "bucket_map";
  what.description = "A hash map of lists with a lock a bucket, or one for all: 50 % look-ups";
  what.cases = {{"bucket-locks-50", "a lock a bucket, 50 % look-ups"},
                {"one-lock-50", "one lock, 50 % look-ups"},
                {"one-lock-100", "one lock, look-ups only"}};
  what.modes = section_modes();
  what.parameters = {
      {"buckets", "number of buckets", 100, 100, 1, 1'000'000},
      {"values", "values in the map", 1000, 1000, 1, 10'000'000},
      {"range", "range of the values", 10'000, 10'000, 1},
      {"node_bytes", "bytes of a node: 16, 32, or 64 for a cache line of its own", 64, 64, 16, 64},
      {"window_ms", "length of a cell in milliseconds", 200, 100, 1, 600'000, 2}};
  what.threads = {1, 2, 4};
  what.measure = [](const cell& one, const std::stop_token& stop) {
    // Threads hold a few values more.
    if (one.params.at("range") < 2 * one.params.at("values")) {
      throw study_error("study bucket_map: no value is there twice; let range be twice values");
    }
    if (!std::has_single_bit(one.params.at("node_bytes"))) {
      throw study_error("study bucket_map: node_bytes must be 16, 32 or 64");
    }
    chained_list::node::bytes = one.params.at("node_bytes");
    return with_section_type(one, [&]<class Sections> {
      bucket_array<Sections> place(one.params.at("buckets"), one.case_name.starts_with("one-lock"));
      return measure_lists(place, one, stop);
    });
  };
  return what;
}

}  // namespace unlatch::studies
