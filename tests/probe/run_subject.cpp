// SPDX-License-Identifier: Apache-2.0
//
// run_subject CASE [ROUNDS]
#include "run_subject.hpp"

#include <cstdlib>

namespace unlatch::probe::testing {
long rounds = 20'000;
}

int main(int argc, char** argv) {
  using namespace unlatch::probe::testing;
  run_cases all;
  for (const auto& cases :
       {mutex_cases(), mutex_kind_cases(), condition_cases(), rwlock_cases(), process_cases()}) {
    all.insert(cases.begin(), cases.end());
  }
  if (argc < 2) {
    for (const auto& [name, run] : all) std::printf("%s\n", name.c_str());
    return 0;
  }
  if (argc > 2) rounds = std::atol(argv[2]);
  const auto found = all.find(argv[1]);
  return found != all.end() && found->second() ? 0 : 1;
}
