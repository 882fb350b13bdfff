// SPDX-License-Identifier: Apache-2.0
#include "subject.hpp"

#include <cstring>

int main(int argc, char** argv) {
  using namespace unlatch::probe::testing;
  for (const auto& cases : {transaction_cases(), instruction_cases(), thread_cases(),
                            signal_cases(), loading_cases()}) {
    const auto found = cases.find(argc > 1 ? argv[1] : "");
    if (found == cases.end()) continue;
    const bool as_it_must = found->second();
    std::fflush(stdout);
    return as_it_must ? 0 : 1;
  }
  std::fprintf(stderr, "usage: %s CASE\n", argv[0]);
  return 2;
}
