// SPDX-License-Identifier: Apache-2.0
//
// Records and studies to test with, and a directory that vanishes with the test.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "studies/study.hpp"

namespace unlatch::studies::testing {

class temporary_directory {
 public:
  temporary_directory() {
    std::string name = (std::filesystem::temp_directory_path() / "unlatch-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;
  ~temporary_directory() { std::filesystem::remove_all(path_); }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::size_t entries() const {
    const std::filesystem::directory_iterator files(path_);
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }

 private:
  std::filesystem::path path_;
};

inline std::string contents_of(const std::filesystem::path& file) {
  std::ifstream input(file);
  return {std::istreambuf_iterator<char>(input), {}};
}

/// Every field set, and two keys of the study's own.
inline record full_record() {
  record one;
  one.study = "leveldb";
  one.case_name = "fillrandom";
  one.mode = "unlatch";
  one.policy = "adaptive";
  one.params = {{"value_size", 50}};
  one.threads = 2;
  one.repeat = 3;
  one.seed = 18446744073709551615ULL;
  one.ops = 100000;
  one.seconds = 0.171;
  one.throughput = 584795.3;
  one.latency_us = {{"p50", 2.1}, {"p99", 9.8}};
  one.transactions = {10, 6, {1, 2, 3, 4}};
  one.fallbacks = 5;
  one.software = software_counts{7, 8, 9};
  one.context_switches = 42;
  one.baseline = "stock";
  one.command = "unlatch study leveldb";
  one.build = "a1b2c3d";
  one.host = {"a processor", 2, 0.4, "Linux 6.1"};
  one.extra = {{"remarks", {"a", "b"}}, {"note", "kept"}};
  return one;
}

/// Two cases, a baseline, a mode without policies and one with two. A cell takes no time: it counts
/// 100 operations a second for the baseline and 200 for the others.
inline study sample_study() {
  study sample;
  sample.name = "sample";
  sample.description = "a study to test with";
  sample.cases = {{"easy", ""}, {"hard", ""}};
  sample.modes = {{"stock", "", {}}, {"spin", "", {}}, {"elided", "", {"adaptive", "glibc"}}};
  sample.parameters = {{"keys", "number of keys", 1000, 10, 2, 5000}};
  sample.threads = {1, 2};
  sample.measure = [](const cell& one, const std::stop_token&) {
    measurement measured;
    measured.ops = one.mode == "stock" ? 100 : 200;
    measured.seconds = 1;
    return measured;
  };
  return sample;
}

}  // namespace unlatch::studies::testing
