// SPDX-License-Identifier: Apache-2.0
//
// Globals, static locals with their guards, and thread-locals.

#include <string>
#include <vector>

#include "conformance.hpp"

namespace conformance {

namespace {

long global = 1;
std::string global_string = "before";
constinit thread_local long plain_thread_local = 3;
thread_local std::vector<int> thread_local_vector{1, 2, 3};
int constructions = 0;

struct counted {
  counted() { ++constructions; }
  int value = 1;
};

[[gnu::noinline]] counted& static_local() {
  static counted only;
  return only;
}

[[gnu::noinline]] std::string& static_string() {
  static std::string only(100, 'x');
  return only;
}

}  // namespace

void statics() {
  rolls_back(
      "global", [] { global = 2; }, [] { return global == 1; });
  rolls_back(
      "global string", [] { global_string += std::string(100, 'y'); },
      [] { return global_string == "before"; });
  thread_local_vector.push_back(4);
  rolls_back(
      "thread-local", [] { plain_thread_local = 4; }, [] { return plain_thread_local == 3; });
  rolls_back(
      "thread-local vector", [] { thread_local_vector.clear(); },
      [] { return thread_local_vector.size() == 4; });
  if (!has_machine) return;
  rolls_back(
      "static local, first used inside", [] { static_local().value = 2; },
      [] { return constructions == 0; });
  rolls_back(
      "static local, first used inside again", [] { static_local().value = 3; },
      [] { return constructions == 0; });
  report("static local is made once afterwards",
         static_local().value == 1 && static_local().value == 1 && constructions == 1);
  rolls_back(
      "static string, first used inside", [] { static_string() += "y"; }, [] { return true; });
  report("static string is whole afterwards", static_string() == std::string(100, 'x'));
}

}  // namespace conformance
