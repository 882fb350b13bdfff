// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "systems/leveldb/ycsb/workload.hpp"

namespace unlatch::ycsb {

/// The workload that these lines of a property file describe.
inline workload workload_of(const std::string& text) {
  return workload::from(properties::parse(text, "test"));
}

}  // namespace unlatch::ycsb
