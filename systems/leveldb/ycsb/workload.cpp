// SPDX-License-Identifier: Apache-2.0
#include "systems/leveldb/ycsb/workload.hpp"

#include <algorithm>

namespace unlatch::ycsb {
namespace {

constexpr std::array<const char*, operations> proportion_names = {
    "readproportion", "updateproportion", "insertproportion", "scanproportion",
    "readmodifywriteproportion"};
constexpr std::array<double, operations> default_proportions = {0.95, 0.05, 0, 0, 0};

std::array<double, operations> cumulative_shares(const properties& settings) {
  std::array<double, operations> shares;
  double sum = 0;
  for (std::size_t i = 0; i < operations; ++i) {
    shares[i] = sum += settings.fraction(proportion_names[i], default_proportions[i]);
  }
  if (sum == 0) settings.reject("readproportion", "all proportions are 0; set one of them");
  for (double& share : shares) share /= sum;
  return shares;
}

length_range range(const properties& settings, length_range otherwise, const char* least,
                   const char* most, const char* distribution,
                   const std::vector<std::string_view>& distributions) {
  length_range result;
  result.least = settings.whole_number(least, otherwise.least, 1);
  result.most = settings.whole_number(most, otherwise.most, 1);
  if (result.most < result.least) {
    settings.reject(most, "is less than " + std::string(least) + "; raise it");
  }
  constexpr std::array<std::string_view, 3> names = {"constant", "uniform", "zipfian"};
  const std::string_view chosen = distributions[settings.choice(
      distribution, names[static_cast<std::size_t>(otherwise.distribution)], distributions)];
  result.distribution =
      static_cast<length_distribution>(std::ranges::find(names, chosen) - names.begin());
  return result;
}

}  // namespace

workload workload::from(const properties& settings) {
  workload result;
  (void)settings.choice("workload", "site.ycsb.workloads.CoreWorkload",
                        {"site.ycsb.workloads.CoreWorkload",
                         "com.yahoo.ycsb.workloads.CoreWorkload", "CoreWorkload"});
  result.record_count = settings.whole_number("recordcount", 0, 1);
  if (result.record_count == 0) settings.reject("recordcount", "is missing; set it");
  result.operation_count = settings.whole_number("operationcount", 0);
  result.insert_start = settings.whole_number("insertstart", 0);
  if (result.insert_start >= result.record_count) {
    settings.reject("insertstart", "leaves nothing to load; make it less than recordcount");
  }
  result.insert_count =
      settings.whole_number("insertcount", result.record_count - result.insert_start, 1);
  if (result.insert_count > result.record_count - result.insert_start) {
    settings.reject("insertcount", "goes past recordcount; lower it or raise recordcount");
  }
  result.shares = cumulative_shares(settings);
  result.requests = static_cast<request_distribution>(settings.choice(
      "requestdistribution", "uniform", {"uniform", "zipfian", "latest", "hotspot"}));
  result.hotspot_operations = settings.fraction("hotspotopnfraction", 0.8);
  result.hotspot_keys = settings.fraction("hotspotdatafraction", 0.2);
  result.scan = range(settings, {1, 1000, length_distribution::uniform}, "minscanlength",
                      "maxscanlength", "scanlengthdistribution", {"uniform", "zipfian"});
  result.field =
      range(settings, {1, 100, length_distribution::constant}, "minfieldlength", "fieldlength",
            "fieldlengthdistribution", {"constant", "uniform", "zipfian"});
  result.field_count = settings.whole_number("fieldcount", 10, 1);
  result.write_all_fields = settings.truth("writeallfields", false);
  result.ordered_inserts = settings.choice("insertorder", "hashed", {"hashed", "ordered"}) == 1;
  result.zero_padding = settings.whole_number("zeropadding", 1, 1);
  // A record is one value here, always read whole, in the one table there is.
  settings.ignore("readallfields");
  settings.ignore("table");
  settings.require_known();
  return result;
}

operation workload::next_operation(random_engine& random) const {
  const double u = uniform_real(random);
  return static_cast<operation>(std::ranges::upper_bound(shares, u) - shares.begin());
}

}  // namespace unlatch::ycsb
