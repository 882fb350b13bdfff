// SPDX-License-Identifier: Apache-2.0
#include "studies/catalogue.hpp"

#include "studies/plan.hpp"

namespace unlatch::studies {
namespace {

using nlohmann::json;

json to_json(const study& what);

json to_json(const catalogue_entry& entry) {
  return {{"name", entry.name}, {"description", entry.description}};
}

json to_json(const study_case& one) {
  return {{"name", one.name}, {"description", one.description}};
}

json to_json(const study_mode& mode) {
  json object = {
      {"name", mode.name}, {"description", mode.description}, {"policies", mode.policies}};
  if (const auto reason = why_not(mode, std::nullopt); !reason.empty()) object["why_not"] = reason;
  return object;
}

json to_json(const study_parameter& parameter) {
  return {{"name", parameter.name},
          {"description", parameter.description},
          {"default", parameter.value},
          {"quick", parameter.quick_value},
          {"simulated",
           parameter.simulated_value != 0 ? parameter.simulated_value : parameter.quick_value},
          {"minimum", parameter.minimum},
          {"maximum", parameter.maximum}};
}

template <class Item>
json list_of(const std::vector<Item>& items) {
  json list = json::array();
  for (const auto& item : items) list.push_back(to_json(item));
  return list;
}

json to_json(const study& what) {
  return {{"name", what.name},
          {"description", what.description},
          {"baseline", what.baseline().name},
          {"cases", list_of(what.cases)},
          {"modes", list_of(what.modes)},
          {"parameters", list_of(what.parameters)},
          {"threads", what.threads}};
}

}  // namespace

const std::vector<catalogue_entry>& policies() {
  static const std::vector<catalogue_entry> entries{
      {"adaptive", "tells causes apart and stops trying where trying has not paid; the default"},
      {"hle", "one attempt, then the lock"},
      {"fixed", "three attempts whatever the cause"},
      {"glibc", "glibc until 2.42: three attempts, skips three sections after a failure"},
      {"tbb", "oneTBB: ten attempts, waits for the lock"},
      {"mariadb", "MariaDB: one attempt, no waiting"},
      {"ck", "Concurrency Kit: attempts and skips by cause"},
      {"cervini", "Cervini 2015: two attempts, random back-off"},
      {"xsync", "Chitters et al.: the limit falls to one at an abort, grows with commits"},
      {"niessing", "Niessing 2020: ten attempts, waits for the latch"},
      {"johnson", "Johnson 2014: five attempts, linear back-off, capacity takes the lock"}};
  return entries;
}

const std::vector<catalogue_entry>& locks() {
  static const std::vector<catalogue_entry> entries{
      {"spin_mutex", "test-and-test-and-set with back-off, then yields"},
      {"ticket_mutex", "first come, first served"},
      {"mcs_mutex", "a queue in which each waiter spins on its own line"},
      {"mutex", "spins shortly, then parks"},
      {"shared_mutex", "one writer or many readers"},
      {"sr_latch", "Shore-MT's latch: shared and exclusive, with reader count and mode queries"},
      {"rw_semaphore", "the kernel's: readers or one writer, waiters in order"}};
  return entries;
}

json catalogue_json() {
  return {{"studies", list_of(registry())},
          {"policies", list_of(policies())},
          {"locks", list_of(locks())}};
}

}  // namespace unlatch::studies
