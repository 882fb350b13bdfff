// SPDX-License-Identifier: Apache-2.0
#include "studies/host.hpp"

#include <sched.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "studies/build_id.hpp"

namespace unlatch::studies {
namespace {

std::string cpu_model() {
  std::ifstream input("/proc/cpuinfo");
  for (std::string line; std::getline(input, line);) {
    if (!line.starts_with("model name")) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto begin = line.find_first_not_of(' ', colon + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

unsigned usable_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  }
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

host_facts current_host() {
  host_facts host;
  host.cpu = cpu_model();
  host.cpus = usable_cpus();
  double load = 0;
  if (getloadavg(&load, 1) == 1) host.load = load;
  utsname name{};
  if (uname(&name) == 0) host.kernel = std::string(name.sysname) + " " + name.release;
  return host;
}

std::string_view build_id() { return UNLATCH_BUILD_ID; }

}  // namespace unlatch::studies
