// SPDX-License-Identifier: Apache-2.0
#include "history.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace unlatch::testing {

void history::run(unsigned threads, const std::function<void(log&, unsigned)>& work) {
  std::vector<log> logs(threads, log(*this));
  std::barrier together(threads);
  std::vector<std::thread> running;
  for (unsigned thread = 0; thread < threads; ++thread)
    running.emplace_back([&, thread] {
      together.arrive_and_wait();
      work(logs[thread], thread);
    });
  for (auto& r : running) r.join();
  round& added = rounds_.emplace_back();
  for (auto& l : logs) added.by_thread.push_back(std::move(l.operations_));
}

void history::add(unsigned thread, const operation& o) {
  if (rounds_.empty()) rounds_.emplace_back();
  auto& logs = rounds_.back().by_thread;
  if (logs.size() <= thread) logs.resize(thread + 1);
  logs[thread].push_back(o);
}

std::size_t history::size() const {
  std::size_t count = 0;
  for (const auto& r : rounds_)
    for (const auto& operations : r.by_thread) count += operations.size();
  return count;
}

std::string history::to_json_lines() const {
  std::ostringstream out;
  for (std::size_t r = 0; r < rounds_.size(); ++r)
    for (std::size_t thread = 0; thread < rounds_[r].by_thread.size(); ++thread)
      for (const operation& o : rounds_[r].by_thread[thread]) {
        out << R"({"round":)" << r << R"(,"client":)" << thread << R"(,"op":")" << o.op
            << R"(","key":)" << o.key << R"(,"value":)" << o.value << R"(,"result":)";
        if (o.result)
          out << *o.result;
        else
          out << "null";
        out << R"(,"call":)" << o.call << R"(,"return":)" << o.returned << "}\n";
      }
  return out.str();
}

verdict check(const std::string& model, const std::string& json_lines) {
  const auto file = std::filesystem::path(::testing::TempDir()) /
                    ("history-" + std::to_string(::getpid()) + ".jsonl");
  std::ofstream(file) << json_lines;
  const std::string command =
      UNLATCH_LINEARIZABILITY_CHECKER " " + model + " '" + file.string() + "' 2>&1";
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start: " + command);
  verdict said;
  char buffer[4096];
  while (const auto n = std::fread(buffer, 1, sizeof(buffer), pipe)) said.output.append(buffer, n);
  const int status = ::pclose(pipe);
  said.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::filesystem::remove(file);
  return said;
}

}  // namespace unlatch::testing
