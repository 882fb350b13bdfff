// SPDX-License-Identifier: Apache-2.0
//
// What the pass tells the machine of each kind of access: the hook, the address, the size, the
// order. Not instrumented: its own accesses stay out of the record.

#include "src/instrument/hooks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "recorder.hpp"
#include "seen_code.hpp"

namespace {

using recorder::event;
using recorder::kind;
using unlatch::lab::atomic_operation;
using unlatch::lab::order;
using unlatch::lab::within_line;

template <class Code>
std::vector<event> record(Code code) {
  recorder::start();
  code();
  std::vector<event> events;
  for (int i = 0; i < recorder::count(); ++i) events.push_back(recorder::at(i));
  return events;
}

/// The only event of `code`.
template <class Code>
event only(Code code) {
  const std::vector<event> events = record(code);
  EXPECT_EQ(events.size(), 1U);
  return events.empty() ? event{} : events.front();
}

std::uint64_t atomic_detail(atomic_operation operation, order how) {
  return static_cast<std::uint64_t>(operation) | static_cast<std::uint64_t>(how) << 4;
}

TEST(Hooks, tell_of_a_load_that_cannot_cross_a_line) {
  const int cell = 7;
  int result = 0;
  const event seen = only([&] { result = seen::load(&cell); });
  EXPECT_EQ(seen.what, kind::read);
  EXPECT_EQ(seen.address, &cell);
  EXPECT_EQ(seen.size, 4 | within_line);
  EXPECT_EQ(result, 7);
}

TEST(Hooks, tell_of_a_store_before_it_happens) {
  double cell = 0;
  const event seen = only([&] { seen::store(&cell); });
  EXPECT_EQ(seen.what, kind::write);
  EXPECT_EQ(seen.address, &cell);
  EXPECT_EQ(seen.size, 8 | within_line);
}

TEST(Hooks, say_that_an_unaligned_access_may_cross_a_line) {
  const seen::packed cell{'a', 5};
  const event seen = only([&] { seen::load_unaligned(&cell); });
  EXPECT_EQ(seen.what, kind::read);
  EXPECT_EQ(seen.size, 8U);
}

TEST(Hooks, are_not_called_for_locals_that_nobody_else_can_see) {
  EXPECT_TRUE(record([] { seen::only_locals(3); }).empty());
}

TEST(Hooks, are_not_called_for_constants) {
  EXPECT_TRUE(record([] { seen::constants(3); }).empty());
}

TEST(Hooks, are_not_called_in_a_function_that_opted_out) {
  int cell = 0;
  EXPECT_TRUE(record([&] { seen::not_instrumented(&cell); }).empty());
}

TEST(Hooks, tell_the_operation_and_order_of_atomics) {
  const std::atomic<long> from = 5;
  event seen = only([&] { seen::load_atomic(from); });
  EXPECT_EQ(seen.what, kind::atomic);
  EXPECT_EQ(seen.size, 8U);
  EXPECT_EQ(seen.detail, atomic_detail(atomic_operation::load, order::acquire));

  std::atomic<int> to = 5;
  seen = only([&] { seen::store_sequential(to); });
  EXPECT_EQ(seen.size, 4U);
  EXPECT_EQ(seen.detail, atomic_detail(atomic_operation::store, order::sequential));

  std::atomic<short> counter = 5;
  seen = only([&] { seen::increment(counter); });
  EXPECT_EQ(seen.size, 2U);
  EXPECT_EQ(seen.detail, atomic_detail(atomic_operation::exchange, order::relaxed));
  EXPECT_EQ(counter, 6);

  std::atomic<long> word = 5;
  seen = only([&] { seen::exchange(word, 5, 6); });
  EXPECT_EQ(seen.detail, atomic_detail(atomic_operation::compare_exchange, order::acquire_release));
  EXPECT_EQ(word, 6);

  seen = only([] { seen::fence(); });
  EXPECT_EQ(seen.what, kind::fence);
  EXPECT_EQ(seen.detail, static_cast<std::uint64_t>(order::sequential));
}

TEST(Hooks, tell_of_memory_functions_as_ranges) {
  std::array<char, 300> from{};
  std::array<char, 300> to{};
  event seen = only([&] { seen::copy(to.data(), from.data(), 123); });
  EXPECT_EQ(seen.what, kind::copy);
  EXPECT_EQ(seen.address, to.data());
  EXPECT_EQ(seen.size, 123U);
  seen = only([&] { seen::clear(to.data()); });
  EXPECT_EQ(seen.what, kind::range);
  EXPECT_EQ(seen.size, 200U);
  EXPECT_EQ(seen.detail, 1U);
  seen = only([&] { seen::length(from.data()); });
  EXPECT_EQ(seen.what, kind::string);
  EXPECT_EQ(seen.address, from.data());
}

TEST(Hooks, tell_that_an_argument_passed_by_value_is_read) {
  const seen::large object{};
  const std::vector<event> events = record([&] { seen::pass_by_value(object); });
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.front().what, kind::range);
  EXPECT_EQ(events.front().address, &object);
  EXPECT_EQ(events.front().size, sizeof object);
  EXPECT_EQ(events.front().detail, 0U);
}

TEST(Hooks, stand_in_for_the_timestamp_counter) {
  std::uint64_t now = 0;
  const event seen = only([&] { now = seen::timestamp(); });
  EXPECT_EQ(seen.what, kind::timestamp);
  EXPECT_EQ(now, recorder::clock());
}

TEST(Hooks, tell_of_instructions_that_mean_something_to_the_machine) {
  event seen = only([] { seen::pause(); });
  EXPECT_EQ(seen.what, kind::instruction);
  EXPECT_EQ(seen.detail, static_cast<std::uint64_t>(unlatch::lab::instruction::pause));
  seen = only([] { seen::cpuid(); });
  EXPECT_EQ(seen.detail, static_cast<std::uint64_t>(unlatch::lab::instruction::cpuid));
}

TEST(Hooks, tell_of_memory_operands_of_assembly) {
  long cell = 1;
  const event seen = only([&] { seen::add_to_memory(&cell); });
  EXPECT_EQ(seen.what, kind::atomic);
  EXPECT_EQ(seen.address, &cell);
  EXPECT_EQ(cell, 2);
}

TEST(Hooks, tell_where_a_loop_turns_without_an_access) {
  const std::array<int, 10> numbers{};
  recorder::start();
  seen::turn(10);
  EXPECT_EQ(recorder::turns(), 10);
  recorder::start();
  seen::turn_and_load(numbers.data(), 10);
  EXPECT_EQ(recorder::turns(), 0);
  recorder::start();
  seen::turn_and_load_half(numbers.data(), 10);
  EXPECT_GE(recorder::turns(), 5);
}

/// file:line of a code address, as the debug information of this program has it.
std::string line_of(const void* code) {
  std::array<char, 512> command{};
  std::snprintf(command.data(), command.size(), "%s --obj=/proc/%d/exe --basenames %#lx",
                UNLATCH_SYMBOLIZER, static_cast<int>(getpid()),
                reinterpret_cast<unsigned long>(code) - 1);
  FILE* const pipe = popen(command.data(), "r");
  std::string text;
  for (int letter; (letter = std::fgetc(pipe)) != EOF;) text += static_cast<char>(letter);
  pclose(pipe);
  return text;
}

TEST(Hooks, return_to_the_line_of_the_access) {
  int first = 0;
  int second = 0;
  int line = 0;
  const std::vector<event> events = record([&] { line = seen::two_lines(&first, &second); });
  ASSERT_EQ(events.size(), 2U);
  EXPECT_NE(line_of(events[0].code).find("seen_code.cpp:" + std::to_string(line - 1)),
            std::string::npos)
      << line_of(events[0].code);
  EXPECT_NE(line_of(events[1].code).find("seen_code.cpp:" + std::to_string(line)),
            std::string::npos)
      << line_of(events[1].code);
}

}  // namespace
