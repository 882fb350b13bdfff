// SPDX-License-Identifier: Apache-2.0
//
// Programs with transactions under the emulator. Each test runs in both ways in which an XBEGIN
// reaches it: by a jump, and by a trap.
#include "emulate_test.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <regex>

#include "../studies/sample.hpp"

namespace unlatch::probe::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Emulated : public ::testing::TestWithParam<const char*> {
 protected:
  /// Runs the subject's case, entering transactions in this test's way.
  static emulated run(const std::string& name, std::vector<std::string> options = {}) {
    if (std::string_view(GetParam()) == "trap") options.emplace_back("--no-patch");
    return emulate_case(name, options);
  }
};
INSTANTIATE_TEST_SUITE_P(By, Emulated, ::testing::Values("jump", "trap"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Emulated, a_transaction_commits) {
  const auto ended = run("commits");
  EXPECT_EQ(ended.begun(), 1);
  EXPECT_EQ(ended.committed(), 1);
}

TEST_P(Emulated, an_explicit_abort_gives_its_code_and_undoes_memory) {
  const auto ended = run("aborts_explicitly");
  EXPECT_EQ(ended.out, "status 0x42000001\n");
  EXPECT_EQ(ended.aborted("explicit"), 1);
}

TEST_P(Emulated, xtest_tells_inside_from_outside) { EXPECT_EQ(run("tests").committed(), 1); }

TEST_P(Emulated, seven_nested_transactions_commit_as_one) {
  const auto ended = run("nests_seven_deep");
  EXPECT_EQ(ended.begun(), 1);
  EXPECT_EQ(ended.committed(), 1);
}

TEST_P(Emulated, the_eighth_aborts_with_the_nested_bit) {
  const auto ended = run("nests_eight_deep");
  EXPECT_EQ(ended.out, "status 0x20\n");
  EXPECT_EQ(ended.aborted("nesting"), 1);
}

TEST_P(Emulated, an_abort_in_a_nested_transaction_goes_back_to_the_outermost) {
  EXPECT_EQ(run("aborts_in_a_nested_transaction").out, "status 0x3000021\n");
}

TEST_P(Emulated, unfriendly_instructions_abort_with_status_0) {
  for (const char* name : {"makes_a_system_call", "pauses", "asks_cpuid", "uses_x87"}) {
    SCOPED_TRACE(name);
    const auto ended = run(name);
    EXPECT_EQ(ended.out, "status 0\n");
    EXPECT_EQ(ended.aborted("unfriendly"), 1);
  }
}

TEST_P(Emulated, faults_abort_with_status_0) {
  for (const char* name :
       {"writes_to_nowhere", "writes_to_constants", "jumps_to_nowhere", "divides_by_zero"}) {
    SCOPED_TRACE(name);
    const auto ended = run(name);
    EXPECT_EQ(ended.out, "status 0\n");
    EXPECT_EQ(ended.aborted("fault"), 1);
  }
}

TEST_P(Emulated, a_transaction_that_overflows_the_cache_is_undone) {
  EXPECT_EQ(run("overflows_the_cache").aborted("capacity"), 1);
}

// As Schrimpf 2014 measured (figure 3.5 and table 3.2): 64 sets of 8 ways.
TEST_P(Emulated, the_cache_holds_as_many_written_lines_as_the_machine_did) {
  EXPECT_EQ(run("fills_the_cache").out,
            "stride 1 lines 512\nstride 2 lines 256\nstride 3 lines 512\nstride 4 lines 128\n");
}

TEST_P(Emulated, an_abort_puts_all_registers_back) {
  EXPECT_EQ(run("puts_general_registers_back").out, "status 0x9000001\n");
  for (const char* name :
       {"puts_vector_registers_back", "puts_the_rounding_mode_back", "puts_a_number_back"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(run(name).committed(), 0);
  }
}

TEST_P(Emulated, instructions_do_what_they_do_natively) {
  for (const char* name : {"moves_strings", "compares_strings", "changes_bits", "uses_the_stack",
                           "makes_frames", "looks_up_in_tables", "branches",
                           "tests_every_condition", "changes_atomically", "gathers"}) {
    SCOPED_TRACE(name);
    run(name);
  }
}

TEST_P(Emulated, an_abort_undoes_what_a_frame_was_made_of) {
  EXPECT_EQ(run("undoes_frames").aborted("explicit"), 1);
}

TEST_P(Emulated, the_c_library_and_the_heap_work_inside) {
  EXPECT_EQ(run("uses_the_library").committed(), 1);
}

TEST_P(Emulated, lock_holders_never_see_half_a_transaction) {
  const auto ended = run("is_atomic_to_lock_holders");
  EXPECT_THAT(ended.out, HasSubstr("torn 0"));
  EXPECT_GT(ended.committed(), 100);
}

TEST_P(Emulated, lock_holders_never_see_half_a_transaction_that_aborts) {
  const auto ended = run("is_atomic_to_lock_holders", {"--abort-rate", "0.3"});
  EXPECT_THAT(ended.out, HasSubstr("torn 0"));
  EXPECT_GT(ended.aborted("injected"), 100);
}

TEST_P(Emulated, readers_without_a_lock_never_see_half_a_transaction) {
  EXPECT_THAT(run("is_atomic_to_readers_without_a_lock").out, HasSubstr("torn 0 committed 300"));
}

TEST_P(Emulated, threads_stop_that_block_all_signals) {
  EXPECT_THAT(run("stops_threads_that_block_signals").out, HasSubstr("torn 0"));
}

TEST_P(Emulated, threads_may_sleep_start_end_and_fork) {
  for (const char* name :
       {"lets_sleepers_be_woken", "starts_and_ends_threads", "works_in_a_child"}) {
    SCOPED_TRACE(name);
    EXPECT_GT(run(name).committed(), 10);
  }
}

TEST_P(Emulated, threads_of_the_kernels_need_not_stop) {
  const auto ended = run("works_beside_a_thread_of_the_kernels");
  if (ended.out.find("no io_uring") != std::string::npos) GTEST_SKIP() << ended.out;
  EXPECT_EQ(ended.committed(), 100);
}

TEST_P(Emulated, signals_are_handled_after_the_transaction) {
  run("handles_signals_afterwards");
  EXPECT_EQ(run("runs_in_a_handler").committed(), 1);
}

TEST_P(Emulated, the_program_keeps_its_handlers_for_faults) {
  EXPECT_EQ(run("keeps_its_own_handlers").committed(), 1);
  EXPECT_EQ(run("does_not_see_faults_inside").aborted("fault"), 1);
}

TEST_P(Emulated, what_happened_is_known_however_the_program_ends) {
  EXPECT_EQ(run("ends_at_once").committed(), 1);
  std::vector<std::string> options;
  if (std::string_view(GetParam()) == "trap") options.emplace_back("--no-patch");
  for (const char* name : {"crashes", "ends_without_a_transaction"}) {
    SCOPED_TRACE(name);
    const auto ended = emulate({UNLATCH_SUBJECT, name}, options);
    EXPECT_EQ(ended.status, 128 + SIGSEGV);
    EXPECT_FALSE(ended.totals.is_null());
  }
}

TEST_P(Emulated, code_that_is_loaded_later_is_emulated_too) {
  // Each time one as the object is loaded, and ten calls.
  EXPECT_EQ(run("loads_code_later").committed(), 3 * 11);
  EXPECT_EQ(run("loads_code_into_a_namespace_of_its_own").committed(), 2);
}

/// Whether CPUID shows RTM here is of no matter under --cpuid.
class Cpuid : public ::testing::TestWithParam<std::vector<std::string>> {};
INSTANTIATE_TEST_SUITE_P(By, Cpuid,
                         ::testing::Values(std::vector<std::string>{"--cpuid"},
                                           std::vector<std::string>{"--cpuid", "--no-cpuid-trap"}),
                         [](const auto& info) {
                           return std::string(info.param.size() == 1 ? "trap" : "replacement");
                         });

TEST_P(Cpuid, programs_that_ask_it_see_rtm_and_use_it) {
  const auto as_it_is = emulate_case("uses_rtm_if_it_is_shown");
  const auto ended = emulate_case("uses_rtm_if_it_is_shown", GetParam());
  EXPECT_THAT(ended.out, HasSubstr("rtm 1 hle 0 aborts 0\n"));
  EXPECT_EQ(ended.committed(), 1);
  // Other leaves tell what they told.
  const auto leaves = as_it_is.out.find("leaves");
  ASSERT_NE(leaves, std::string::npos) << as_it_is.out;
  EXPECT_THAT(ended.out, HasSubstr(as_it_is.out.substr(leaves)));
}

TEST_P(Cpuid, code_that_is_loaded_later_sees_rtm_too) {
  emulate_case("loads_code_that_asks_cpuid", GetParam());
}

TEST_P(Cpuid, it_aborts_a_transaction_all_the_same) {
  const auto ended = emulate_case("asks_cpuid", GetParam());
  EXPECT_EQ(ended.out, "status 0\n");
  EXPECT_EQ(ended.report["call_sites"][0]["first_unfriendly"], "cpuid");
}

TEST(Injected, an_abort_before_each_instruction_keeps_the_invariant) {
  const auto ended = emulate_case("keeps_its_invariant", {"--abort-at", "each"});
  std::smatch attempts;
  ASSERT_TRUE(std::regex_search(ended.out, attempts, std::regex("attempts ([0-9]+)")));
  const long count = std::stol(attempts[1]);
  EXPECT_GT(count, 50);
  EXPECT_EQ(ended.aborted("injected"), count - 1);
  EXPECT_EQ(ended.committed(), 1);
  // Attempts execute 0, 1, 2 … instructions; the last one as many as there were attempts before it.
  EXPECT_EQ(ended.totals["instructions"], (count - 1) * count / 2);
}

TEST(Injected, an_abort_at_an_instruction_gives_the_status_that_was_asked_for) {
  for (const auto& [asked, told] : {std::pair{"conflict+retry", "0x6"},
                                    {"capacity", "0x8"},
                                    {"interrupt", "0"},
                                    {"explicit:255", "0xff000001"},
                                    {"0x20", "0x20"}}) {
    SCOPED_TRACE(asked);
    const auto ended = emulate_case("writes_to_nowhere", {"--abort-at", "1", "--status", asked});
    EXPECT_EQ(ended.out, std::string("status ") + told + "\n");
    EXPECT_EQ(ended.aborted("injected"), 1);
  }
}

TEST(Injected, aborts_come_at_the_rate_that_was_asked_for_and_repeat_with_their_seed) {
  const std::vector<std::string> options{"--abort-rate", "0.3", "--seed", "42"};
  const auto ended = emulate_case("adds_often", options);
  const auto again = emulate_case("adds_often", options);
  const double share =
      static_cast<double>(ended.aborted("injected")) / static_cast<double>(ended.begun());
  EXPECT_NEAR(share, 0.3, 0.05);  // 2000 transactions: five standard deviations
  EXPECT_EQ(ended.totals, again.totals);
}

TEST(Model, another_machine_has_another_cache) {
  const auto ended = emulate_case("fills_the_cache", {"--model", "xeon-8480"});
  EXPECT_EQ(ended.out,
            "stride 1 lines 768\nstride 2 lines 384\nstride 3 lines 768\nstride 4 lines 192\n");
}

class Library : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Runs, Library, ::testing::Values("mutex", "spin_mutex", "closures"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Library, its_transactions_keep_invariants_while_three_in_ten_abort) {
  const auto ended = emulate({UNLATCH_ELIDING_SUBJECT, GetParam()}, {"--abort-rate", "0.3"});
  EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("available 1\n"));
  EXPECT_THAT(ended.out, Not(HasSubstr("elided 0\n")));
  EXPECT_GT(ended.committed(), 10);
  EXPECT_GT(ended.aborted("injected"), 0);
}

TEST(Symbols, a_call_site_is_named_by_its_function_and_line) {
  const auto ended = emulate_case("commits");
  const auto& site = ended.report["call_sites"][0];
  EXPECT_THAT(std::string(site["function"]), ::testing::MatchesRegex(".*::commits\\(\\)\\+0x.*"));
  const std::string source = site["source"];
  ASSERT_THAT(source, ::testing::MatchesRegex(".*subject_transactions\\.cpp:[0-9]+"));
  // The line that begins the transaction.
  std::ifstream file(UNLATCH_SUBJECT_SOURCE);
  std::string line;
  for (int left = std::stoi(source.substr(source.rfind(':') + 1)); left > 0; --left) {
    std::getline(file, line);
  }
  EXPECT_THAT(line, HasSubstr("_xbegin()")) << source;
  const auto table = cli::testing::run({"emulate", "--", UNLATCH_SUBJECT, "commits"}).err;
  EXPECT_THAT(table, HasSubstr("::commits()+0x"));
  EXPECT_THAT(table, HasSubstr("subject_transactions.cpp:"));
}

TEST(Symbols, without_them_a_call_site_has_no_name) {
  const auto ended = emulate({UNLATCH_STRIPPED_SUBJECT, "commits"});
  const auto& site = ended.report["call_sites"][0];
  EXPECT_EQ(ended.committed(), 1);
  EXPECT_GT(site["offset"], 0);
  EXPECT_FALSE(site.contains("function")) << site;
  EXPECT_FALSE(site.contains("source")) << site;
}

// A transaction commits only after the attempts before it aborted at each of its instructions.
TEST_P(Library, its_transactions_keep_invariants_while_each_instruction_aborts) {
  const auto ended = emulate({UNLATCH_ELIDING_SUBJECT, GetParam()}, {"--abort-at", "each"});
  EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("available 1\n"));
  EXPECT_THAT(ended.out, Not(HasSubstr("elided 0\n")));  // of no policy
  EXPECT_GT(ended.committed(), 0);
  EXPECT_GT(ended.aborted("injected"), 50);
}

std::string complaint(const std::vector<std::string>& words) {
  const auto ended = cli::testing::run(words);
  EXPECT_TRUE(ended.status == 1 || ended.status == 2) << ended.status;
  return ended.err;
}

TEST(Refusals, a_program_that_cannot_be_emulated_is_named_with_the_reason) {
  const studies::testing::temporary_directory directory;
  const auto file = [&](const char* name, const std::string& text, mode_t mode) {
    const auto path = directory.path() / name;
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path.string();
  };
  const auto said = [](const std::string& program) {
    return complaint({"emulate", "--", program});
  };
  EXPECT_THAT(said("no-such-program-anywhere"), HasSubstr("no program of that name in PATH"));
  EXPECT_THAT(said("/no/such/file"), HasSubstr("/no/such/file: there is no such program"));
  EXPECT_THAT(said("/"), HasSubstr("directory"));
  EXPECT_THAT(said(file("text", "hello\n", 0755)), HasSubstr("neither an ELF program"));
  EXPECT_THAT(said(file("data", "hello\n", 0644)), HasSubstr("Permission denied"));
  EXPECT_THAT(said(file("script", "#!/no/such/interpreter -x\n", 0755)),
              HasSubstr("/no/such/interpreter: there is no such program"));
  std::ifstream subject(UNLATCH_SUBJECT, std::ios::binary);
  std::string copy((std::istreambuf_iterator<char>(subject)), {});
  EXPECT_THAT(said(file("setuid", copy, 04755)), HasSubstr("setuid"));
  copy[4] = 1;  // ELFCLASS32
  EXPECT_THAT(said(file("narrow", copy, 0755)), HasSubstr("32-bit"));
  EXPECT_THAT(said(UNLATCH_STATIC_SUBJECT), HasSubstr("statically linked"));
}

TEST(Refusals, what_is_asked_wrongly_is_told) {
  EXPECT_THAT(complaint({"emulate", "--abort-at", "0", "--", "true"}), HasSubstr("from 1"));
  EXPECT_THAT(complaint({"emulate", "--abort-rate", "30", "--", "true"}), HasSubstr("0 and 1"));
  EXPECT_THAT(complaint({"emulate", "--status", "tired", "--", "true"}), HasSubstr("'tired'"));
  EXPECT_THAT(complaint({"emulate", "--model", "i7-4771", "--", "true"}), HasSubstr("i7-4770"));
  EXPECT_THAT(complaint({"emulate"}), HasSubstr("PROGRAM"));
}

TEST(Programs, without_transactions_run_as_they_are) {
  const auto ended = emulate({"/bin/sh", "-c", "echo $((6 * 7)); exit 5"});
  EXPECT_EQ(ended.status, 5);
  EXPECT_EQ(ended.out, "42\n");
  EXPECT_EQ(ended.begun(), 0);
}

}  // namespace
}  // namespace unlatch::probe::testing
