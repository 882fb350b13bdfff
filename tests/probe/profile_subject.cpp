// SPDX-License-Identifier: Apache-2.0
#include "profile_subject.hpp"

#include <cstdio>

int main(int argc, char** argv) {
  using namespace unlatch::probe::testing;
  for (const auto& cases : {lock_cases(), life_cases(), section_cases(), stepping_cases()}) {
    const auto found = cases.find(argc > 1 ? argv[1] : "");
    if (found != cases.end()) return found->second() ? 0 : 1;
  }
  std::fprintf(stderr, "no such case\n");
  return 2;
}
