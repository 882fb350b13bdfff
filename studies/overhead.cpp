// SPDX-License-Identifier: Apache-2.0
//
// What synchronization costs a single thread (Schrimpf 2014, section 3.2.5 and appendix C.3): lock
// and unlock around nothing, or around reading an array of 1 KiB.
#include <array>
#include <chrono>
#include <cstdint>

#include "studies/library_counts.hpp"
#include "studies/sections.hpp"
#include "studies/studies.hpp"

namespace unlatch::studies {
namespace {

/// No lock at all.
class bare_sections {
 public:
  template <class Body>
  auto read(Body&& body) {
    plain_tx tx;
    return body(tx);
  }
};

constexpr std::size_t array_bytes = 1024;

template <class Sections>
measurement measure_overhead(const cell& one) {
  Sections sections;
  const auto sections_to_run = one.params.at("sections");
  const bool with_data = one.case_name == "array";
  alignas(cache_line) static std::array<volatile std::uint64_t, array_bytes / 8> array{};
  const auto before = statistics::snapshot();
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < sections_to_run; ++i) {
    (void)sections.read([&](auto&) {
      if (!with_data) return 0U;
      std::uint64_t read = 0;
      for (const auto& word : array) read = word;
      return static_cast<unsigned>(read);
    });
    asm volatile("" ::: "memory");
  }
  const auto end = std::chrono::steady_clock::now();
  measurement measured;
  measured.ops = sections_to_run;
  measured.seconds = std::chrono::duration<double>(end - begin).count();
  add_library_counts(measured, statistics::snapshot() - before);
  return measured;
}

}  // namespace

study overhead_study() {
  study what;
  what.name = "overhead";
  what.description = "What locks and transactions cost one thread that has them to itself";
  what.cases = {{"empty", "nothing between lock and unlock"},
                {"array", "reading an array of 1 KiB"}};
  what.modes = section_modes();
  what.modes.insert(what.modes.begin(), {"none", "no synchronization at all"});
  what.parameters = {
      {"sections", "sections to run", 10'000'000, 1'000'000, 1, 10'000'000'000, 50'000}};
  what.threads = {1};
  what.measure = [](const cell& one, const std::stop_token&) {
    if (one.mode == "none") return measure_overhead<bare_sections>(one);
    return with_section_type(one, [&]<class Sections> { return measure_overhead<Sections>(one); });
  };
  return what;
}

}  // namespace unlatch::studies
