// SPDX-License-Identifier: Apache-2.0
// Invented result records of the shapes that studies write, for tests of the report.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace unlatch::report::testing {

// One record with the keys that every record has, and no other.
nlohmann::json minimal_record(const std::string& mode = "stock", double throughput = 1000);

// Three studies: a database with a control and context switches, a hash map with eight modes, two
// baselines and software speculation, and a simulated one with hardware aborts and three policies
// of one mode. Some cells gain, some lose. The same records at every call.
std::vector<nlohmann::json> full_records();

// Two simulated studies: a map whose transactions abort for more causes than a table shows at
// first, and policies on two machines in cells that lose, gain and are equal. The same at every
// call.
std::vector<nlohmann::json> lab_records();

// What a careless study could write: keys missing, a mode without its baseline, one thread count,
// names that are not ASCII or look like markup, a throughput of zero, very long names, blame that
// is none.
std::vector<nlohmann::json> awkward_records();

}  // namespace unlatch::report::testing
