// SPDX-License-Identifier: Apache-2.0
//
// What it costs to leave a failed software speculation: by the jump that speculation.hpp takes
// where it skips no destructor, and by the exception that it throws elsewhere.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "unlatch/section.hpp"
#include "unlatch/speculation.hpp"

namespace {

/// A lock whose sequence has moved by the time of a read, if `Moves`.
template <bool Moves>
struct scripted_lock {
  std::uint64_t sequence() const noexcept { return 2; }
  bool sequence_is(std::uint64_t expected) const noexcept { return !Moves && expected == 2; }
  bool upgrade(std::uint64_t) noexcept { return false; }
  void unlock_held() noexcept {}
};

struct with_destructor {
  ~with_destructor() { benchmark::ClobberMemory(); }
};

template <class Tx>
[[gnu::noinline]] std::uint64_t read_at_depth(Tx& tx, const std::uint64_t& x, unsigned depth) {
  const std::uint64_t value = depth == 0 ? tx.read(x) : read_at_depth(tx, x, depth - 1);
  benchmark::ClobberMemory();  // or the call would be a jump
  return value;
}

template <bool Moves, class Body>
void speculate(benchmark::State& state, Body body) {
  scripted_lock<Moves> lock;
  for (auto _ : state) {
    unlatch::speculative_tx<scripted_lock<Moves>> tx(lock, unlatch::detail::this_section());
    std::uint64_t result = 0;
    if (tx.template run<std::uint64_t>(body, &result) == Moves)
      state.SkipWithError("the speculation did not end as it should");
    benchmark::DoNotOptimize(result);
  }
}

std::uint64_t field = 1;

void completes(benchmark::State& state) {
  speculate<false>(state, [](auto& tx) { return tx.read(field); });
}
void aborts_by_jump(benchmark::State& state) {
  speculate<true>(state, [](auto& tx) { return tx.read(field); });
}
void aborts_by_exception(benchmark::State& state) {
  speculate<true>(state, [](auto& tx) {
    const with_destructor live;
    return tx.read(field);
  });
}
void aborts_by_exception_through_frames(benchmark::State& state) {
  const auto frames = static_cast<unsigned>(state.range(0));
  speculate<true>(state, [frames](auto& tx) { return read_at_depth(tx, field, frames); });
}

BENCHMARK(completes);
BENCHMARK(aborts_by_jump);
BENCHMARK(aborts_by_exception);
BENCHMARK(aborts_by_exception_through_frames)->Arg(1)->Arg(4);

}  // namespace

BENCHMARK_MAIN();
