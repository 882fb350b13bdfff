// SPDX-License-Identifier: Apache-2.0
//
// The real unlatch-lab, from the request on its standard input to its answer: cells of studies on
// models, whether the answers hold together, and whether they are the same again whatever the
// process is started with.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ostream>
#include <stdexcept>
#include <string>

#include "src/lab/given_up.hpp"
#include "studies/lab_protocol.hpp"

namespace unlatch::studies {
namespace {

struct outcome {
  int status = -1;  ///< exit code; -1 if it was killed
  std::string out;
  std::string err;
};

/// How the process differs from others: by nothing that the answer may depend on.
struct surroundings {
  std::size_t padding = 0;  ///< bytes in its environment
  bool randomised = false;  ///< the kernel chooses its addresses at random
};

int file_with(const std::string& text) {
  const int file = memfd_create("unlatch-lab-test", 0);
  if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error("no file for a request");
  }
  lseek(file, 0, SEEK_SET);
  return file;
}

std::string contents_of(int file) {
  std::string text(static_cast<std::size_t>(lseek(file, 0, SEEK_END)), '\0');
  if (pread(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) text.clear();
  close(file);
  return text;
}

outcome ask(const lab_request& request, const surroundings& around = {}) {
  const int in = file_with(to_json(request).dump());
  const int out = file_with("");
  const int err = file_with("");
  const pid_t child = fork();
  if (child == 0) {
    // This program, too, has turned randomisation off, and its children inherit that.
    const auto now = static_cast<unsigned long>(personality(0xffffffff));
    if (around.randomised) personality(now & ~static_cast<unsigned long>(ADDR_NO_RANDOMIZE));
    setenv("UNLATCH_LAB_TEST_PADDING", std::string(around.padding, 'x').c_str(), 1);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execl(UNLATCH_LAB_PROGRAM, UNLATCH_LAB_PROGRAM, nullptr);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  close(in);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents_of(out), contents_of(err)};
}

/// A study's cell that takes a fraction of a second.
struct sample {
  const char* study;
  const char* case_name;
  const char* mode;
  const char* policy;
  unsigned threads;
  const char* model;
  parameter_values params;

  friend std::ostream& operator<<(std::ostream& out, const sample& one) {
    return out << one.study << ' ' << one.mode << " on " << one.model;
  }
};

lab_request request_of(const sample& what, std::uint64_t seed) {
  lab_request request;
  request.study = what.study;
  request.what.case_name = what.case_name;
  request.what.mode = what.mode;
  request.what.policy = what.policy;
  request.what.threads = what.threads;
  request.what.seed = seed;
  request.what.params = what.params;
  request.on = *lab::find_builtin_model(what.model);
  request.blame = true;
  return request;
}

const parameter_values small_map{{"buckets", 1000}, {"keys", 2000}, {"window_ms", 1}};
const parameter_values small_bank{{"accounts", 100}, {"window_ms", 1}};

class UnlatchLab : public ::testing::TestWithParam<sample> {};

TEST_P(UnlatchLab, answers_with_a_measurement_that_holds_together) {
  const outcome ended = ask(request_of(GetParam(), 1));
  ASSERT_EQ(ended.status, 0) << ended.err;
  const measurement measured = parse_measurement(ended.out);
  EXPECT_GT(measured.ops, 0U);
  EXPECT_GT(measured.seconds, 0);
  const auto& [started, committed, aborted] = measured.transactions;
  EXPECT_LE(committed, started);
  EXPECT_LE(aborted.total(), started);
  const auto& machine = measured.extra.at("machine");
  EXPECT_GT(machine.at("accesses"), measured.ops);
  EXPECT_GE(machine.at("cycles"), static_cast<std::uint64_t>(measured.seconds * 1e6));
  EXPECT_EQ(machine.at("started"), machine.at("committed").get<std::uint64_t>() +
                                       machine.at("aborted").get<std::uint64_t>());
  for (const char* const list : {"conflicts", "capacities", "others"}) {
    EXPECT_TRUE(measured.extra.at("blame").at(list).is_array()) << list;
  }
}

TEST_P(UnlatchLab, gives_the_same_answer_whatever_it_is_started_with) {
  const lab_request request = request_of(GetParam(), 1);
  const std::string first = ask(request).out;
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(ask(request).out, first);
  EXPECT_EQ(ask(request, {.padding = 10'000}).out, first);
  EXPECT_EQ(ask(request, {.randomised = true}).out, first);
  EXPECT_EQ(ask(request, {.padding = 77, .randomised = true}).out, first);
}

/// Takes the three times out of the machine's counters that blame may change by a miss or so at the
/// end of a run (docs/lab.md), and returns them.
std::array<double, 3> take_times(measurement& measured) {
  auto& machine = measured.extra.at("machine");
  std::array<double, 3> times{};
  std::size_t next = 0;
  for (const char* const name : {"cycles", "cycles_busy", "stall_cycles"}) {
    times[next++] = machine.at(name).get<double>();
    machine.erase(name);
  }
  return times;
}

TEST_P(UnlatchLab, gives_the_same_answer_with_and_without_saying_why_transactions_aborted) {
  lab_request request = request_of(GetParam(), 1);
  measurement explained = parse_measurement(ask(request).out);
  explained.extra.erase("blame");
  request.blame = false;
  measurement plain = parse_measurement(ask(request).out);
  constexpr double one_miss = 400;
  const auto times = take_times(plain);
  const auto explained_times = take_times(explained);
  for (std::size_t i = 0; i < times.size(); ++i)
    EXPECT_NEAR(explained_times[i], times[i], one_miss);
  EXPECT_EQ(to_json(plain), to_json(explained));
}

TEST_P(UnlatchLab, gives_another_answer_with_another_seed) {
  EXPECT_NE(ask(request_of(GetParam(), 1)).out, ask(request_of(GetParam(), 2)).out);
}

INSTANTIATE_TEST_SUITE_P(
    OnModels, UnlatchLab,
    ::testing::Values(
        sample{"hash_map", "reads-90", "std_mutex", "none", 4, "i7-4770", small_map},
        sample{"hash_map", "reads-90", "unlatch", "adaptive", 8, "i7-4770", small_map},
        sample{"hash_map", "reads-50", "unlatch", "adaptive", 12, "2x-xeon-gold-6226", small_map},
        sample{"bank", "transfers", "ttas", "none", 4, "xeon-e3-1270v3", small_bank},
        sample{"bank", "transfers", "unlatch", "adaptive", 4, "i7-4770", small_bank},
        sample{"counters", "64", "coarse-elided", "adaptive", 4, "i7-4770", {{"increments", 500}}}),
    [](const auto& one) {
      std::string name =
          std::string(one.param.study) + "_" + one.param.mode + "_on_" + one.param.model;
      std::ranges::replace(name, '-', '_');
      return name;
    });

TEST(UnlatchLabProgram, gives_a_cell_up_at_its_limit_and_says_how_far_it_came) {
  sample endless{"core_counters", "shared", "retry", "none", 4, "i7-4770", {{"window_ms", 5}}};
  lab_request request = request_of(endless, 1);
  request.what.virtual_limit_ms = 2;
  const outcome ended = ask(request);
  EXPECT_EQ(ended.status, lab::given_up_status);
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(ended.err.find("not done after 2 ms of virtual time, its limit"), std::string::npos)
      << ended.err;
  EXPECT_NE(ended.err.find("raise the limit with --virtual-limit"), std::string::npos) << ended.err;
}

TEST(UnlatchLabProgram, tells_what_is_wrong_with_a_request) {
  const outcome ended =
      ask(request_of({"hash_map", "reads-90", "mutexx", "none", 1, "i7-4770", small_map}, 1));
  EXPECT_EQ(ended.status, 1);
  EXPECT_NE(ended.err.find("unknown mode 'mutexx'"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace unlatch::studies
