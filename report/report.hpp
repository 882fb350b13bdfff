// SPDX-License-Identifier: Apache-2.0
// Result records as one HTML page that a person reads: charts, speed-ups, losses, how to rerun.
// The page is a single file: script, style and records stand in it and it makes no network request.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace unlatch::report {

struct options {
  std::string title = "What the locks cost";
  std::chrono::system_clock::time_point generated = std::chrono::system_clock::now();
};

// Returns the page for `records`, UTF-8. The records' keys are described in docs/records.md; a page
// needs study, case, mode, where, threads and throughput of each and does without the rest. Text in
// records is shown as text, never as markup; bytes that are not UTF-8 become U+FFFD.
// Throws std::invalid_argument that names the record (counted from 1) and the key where one is
// missing or of the wrong type, and where there are no records.
// Cost: linear in the records; the page is about 1 MB plus the records as JSON.
std::string render(const std::vector<nlohmann::json>& records, const options& options = {});

}  // namespace unlatch::report
