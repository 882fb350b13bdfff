// SPDX-License-Identifier: Apache-2.0
//
// The program that the profiler's tests look at: each of its cases uses locks in a way that a
// profile must tell; its exit status is 0 if the program itself saw nothing wrong.
#pragma once

#include <map>
#include <string>

namespace unlatch::probe::testing {

using profiled_case = bool (*)();
using profiled_cases = std::map<std::string, profiled_case>;

profiled_cases lock_cases();
profiled_cases section_cases();
profiled_cases stepping_cases();
profiled_cases life_cases();

}  // namespace unlatch::probe::testing
