// SPDX-License-Identifier: Apache-2.0
//
// Counters (Schrimpf 2014, section 3.3.2): one for all threads, or one a thread, side by side in
// the same cache lines or apart, each with a lock of its own or all under one. The sum is checked.
#include <cstdint>
#include <memory>
#include <vector>

#include "studies/formatted.hpp"
#include "studies/sections.hpp"
#include "studies/studies.hpp"
#include "studies/window.hpp"

namespace unlatch::studies {
namespace {

/// How the counters of a case lie and are locked.
struct counter_layout {
  bool one_counter = false;
  bool apart = false;  ///< a cache line each
  bool one_lock = false;
};

counter_layout counter_layout_of(const std::string& case_name) {
  if (case_name == "shared") return {.one_counter = true, .apart = true, .one_lock = true};
  if (case_name == "unpadded") return {};
  if (case_name == "padded") return {.apart = true};
  return {.apart = true, .one_lock = true};
}

template <class Sections>
measurement measure_core_counters(const cell& one, const std::stop_token& stop) {
  constexpr std::size_t counters_a_line = cache_line / sizeof(std::uint64_t);
  const auto layout = counter_layout_of(one.case_name);
  const std::size_t distance = layout.apart ? counters_a_line : 1;
  std::vector<std::unique_ptr<Sections>> locks;
  for (unsigned i = 0; i < (layout.one_lock ? 1 : one.threads); ++i) {
    locks.push_back(std::make_unique<Sections>());
  }
  struct alignas(cache_line) line {
    std::uint64_t counters[counters_a_line] = {};
  };
  std::vector<line> lines(one.threads);
  const auto counter_of = [&](unsigned thread) -> std::uint64_t& {
    const std::size_t at = layout.one_counter ? 0 : thread * distance;
    return lines[at / counters_a_line].counters[at % counters_a_line];
  };

  window during(std::chrono::milliseconds(one.params.at("window_ms")));
  std::vector<std::uint64_t> increments(one.threads);
  auto measured = during.run(one.threads, stop, [&](unsigned thread) {
    Sections& sections = *locks[layout.one_lock ? 0 : thread];
    std::uint64_t& counter = counter_of(thread);
    std::uint64_t done = 0;
    const auto counted = count_operations(during, [&] {
      sections.update([&](auto& tx) { tx.write(counter, tx.read(counter) + 1); });
      ++done;
    });
    increments[thread] = done;
    return counted;
  });

  std::uint64_t wanted = 0;
  for (const auto count : increments) wanted += count;
  std::uint64_t sum = 0;
  for (const auto& one_line : lines) {
    for (const auto counter : one_line.counters) sum += counter;
  }
  if (sum != wanted) {
    throw study_error(formatted(
        "study core_counters, mode {}, policy {}: the counters add up to {} and should to {}; "
        "increments were lost, please report this",
        one.mode, one.policy, sum, wanted));
  }
  return measured;
}

}  // namespace

study core_counters_study() {
  study what;
  what.name = "core_counters";
  what.description =
      "Increments of one counter for all, or one a thread: apart or not, one lock or "
      "many";
  what.cases = {{"shared", "one counter, one lock"},
                {"unpadded", "a counter and a lock a thread, counters side by side"},
                {"padded", "a counter and a lock a thread, a cache line each"},
                {"padded-one-lock", "a counter a thread, a cache line each, one lock"}};
  what.modes = section_modes();
  what.parameters = {{"window_ms", "length of a cell in milliseconds", 200, 100, 1, 600'000, 1}};
  what.threads = {1, 2, 4};
  what.measure = [](const cell& one, const std::stop_token& stop) {
    return with_section_type(
        one, [&]<class Sections> { return measure_core_counters<Sections>(one, stop); });
  };
  return what;
}

}  // namespace unlatch::studies
