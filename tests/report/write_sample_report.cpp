// SPDX-License-Identifier: Apache-2.0
// Writes a report of sample records: write_sample_report full|lab|awkward|single FILE.html

#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include "report/report.hpp"
#include "sample_records.hpp"

namespace {

std::vector<nlohmann::json> records_named(const std::string& name) {
  using namespace unlatch::report::testing;
  if (name == "full") return full_records();
  if (name == "lab") return lab_records();
  if (name == "awkward") return awkward_records();
  if (name == "single") return {minimal_record()};
  throw std::invalid_argument("no sample is called " + name);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::invalid_argument("usage: write_sample_report NAME FILE.html");
  std::ofstream file(argv[2], std::ios::binary);
  file.exceptions(std::ios::failbit | std::ios::badbit);
  file << unlatch::report::render(records_named(argv[1]), {.title = "A sample of the report"});
} catch (const std::exception& error) {
  std::cerr << "write_sample_report: " << error.what() << '\n';
  return 1;
}
