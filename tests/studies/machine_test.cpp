// SPDX-License-Identifier: Apache-2.0
#include "studies/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace unlatch::studies {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

std::string explanation(const transaction_facts& facts) {
  std::string text;
  for (const auto& sentence : explain(facts)) text += sentence + '\n';
  return text;
}

transaction_facts with_support(htm::support what) {
  transaction_facts facts;
  facts.cpu.what = what;
  return facts;
}

TEST(Explain, is_brief_where_transactions_work) {
  const auto facts = with_support(htm::support::works);
  EXPECT_EQ(explanation(facts), "Hardware transactions work: one was tried and it committed.\n");
  EXPECT_EQ(way_of(facts), elision_way::hardware);
}

TEST(Explain, tells_retired_microcode_from_a_switch) {
  auto facts = with_support(htm::support::always_aborts);
  facts.cpu.cpuid_rtm_always_abort = true;
  EXPECT_THAT(explanation(facts), HasSubstr("every transaction that was tried aborted"));
  EXPECT_THAT(explanation(facts), HasSubstr("no setting brings it back"));
  facts.cpu.what = htm::support::not_enumerated;
  EXPECT_THAT(explanation(facts), HasSubstr("no setting brings it back"));
  EXPECT_EQ(way_of(facts), elision_way::software);
}

TEST(Explain, names_the_kernel_setting_that_switched_transactions_off) {
  auto facts = with_support(htm::support::not_enumerated);
  facts.kernel_argument = "off";
  EXPECT_THAT(explanation(facts), HasSubstr("booted with tsx=off"));
  facts.kernel_argument.clear();
  facts.tsx_async_abort = "Mitigation: TSX disabled";
  EXPECT_THAT(explanation(facts), HasSubstr("TSX Asynchronous Abort; booting with tsx=on"));
  EXPECT_THAT(explanation(facts), Not(HasSubstr("hypervisor")));
  facts.hypervisor = true;
  EXPECT_THAT(explanation(facts), HasSubstr("unless the hypervisor hides it"));
}

TEST(Explain, says_that_a_hypervisor_may_hide_transactions) {
  auto facts = with_support(htm::support::not_enumerated);
  EXPECT_THAT(explanation(facts), Not(HasSubstr("hypervisor")));
  facts.hypervisor = true;
  facts.tsx_async_abort = "Not affected";
  EXPECT_THAT(explanation(facts), HasSubstr("its hypervisor may hide"));
}

TEST(Explain, does_not_take_load_tracking_for_transactions) {
  auto facts = with_support(htm::support::not_enumerated);
  facts.cpu.cpuid_tsxldtrk = true;
  EXPECT_THAT(explanation(facts), HasSubstr("does not mean that there are any"));
}

TEST(Explain, speaks_for_every_kind_of_support) {
  for (const auto what : {htm::support::works, htm::support::not_enumerated,
                          htm::support::always_aborts, htm::support::no_backend}) {
    EXPECT_FALSE(explain(with_support(what)).empty());
    EXPECT_THAT(explain(with_support(what)), Each(::testing::EndsWith(".")));
  }
}

TEST(CurrentMachine, agrees_with_the_library_and_is_complete_as_json) {
  const auto machine = current_machine();
  EXPECT_GE(machine.host.cpus, 1);
  EXPECT_EQ(machine.transactions.cpu.what == htm::support::works, htm::available());
  const auto object = to_json(machine);
  EXPECT_EQ(object.at("library").at("elision"), htm::available() ? "hardware" : "software");
  EXPECT_EQ(object.at("caches").size(), machine.caches.size());
  EXPECT_FALSE(object.at("transactions").at("why").empty());
  EXPECT_EQ(object.at("build"), build_id());
}

}  // namespace
}  // namespace unlatch::studies
