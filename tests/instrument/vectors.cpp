// SPDX-License-Identifier: Apache-2.0
//
// Vectors: loops that the compiler vectorizes, the vector types of the language, and where the CPU
// has AVX2, masked, gathered and streamed accesses.

#include <immintrin.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "conformance.hpp"

namespace conformance {

namespace {

constexpr int count = 64;

struct arrays {
  int to[count];
  int from[count];
  int index[count];
};

[[gnu::noinline]] void add(int* __restrict to, const int* __restrict from, int n) {
  for (int i = 0; i < n; ++i) to[i] += from[i] * 3;
}
[[gnu::noinline]] void interleave(int* __restrict to, const int* __restrict from, int n) {
  for (int i = 0; i < n; ++i) to[2 * i] = from[i];
}

[[gnu::noinline, gnu::target("avx2")]] void add_if(int* __restrict to, const int* __restrict from,
                                                   int n) {
  for (int i = 0; i < n; ++i) {
    if (from[i] > 5) to[i] = from[i] * 3;
  }
}
[[gnu::noinline, gnu::target("avx2")]] void permute(int* __restrict to, const int* from,
                                                    const int* index, int n) {
  for (int i = 0; i < n; ++i) to[i] = from[index[i]];
}
[[gnu::noinline, gnu::target("avx2")]] void by_hand(int* to, const int* from) {
  _mm256_maskstore_epi32(to, _mm256_set1_epi32(-1), _mm256_set1_epi32(7));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 9), _mm256_set1_epi32(7));
  _mm_stream_si32(to + 20, 3);
  const __m256i index = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 24), _mm256_i32gather_epi32(from, index, 4));
}
[[gnu::noinline, gnu::target("avx512f,avx512vl")]] void by_mask(int* to, const int* from) {
  const __m512i values = _mm512_loadu_si512(from);
  _mm512_mask_storeu_epi32(to, 0x5a5a, values);
  _mm512_mask_compressstoreu_epi32(to + 16, 0x00ff, values);
  _mm512_mask_i32scatter_epi32(
      to + 32, 0x0f0f, _mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
      values, 4);
}

template <class Body>
void check(const char* name, Body body) {
  const auto cell = std::make_unique<arrays>();
  for (int i = 0; i < count; ++i) {
    cell->to[i] = i;
    cell->from[i] = i % 11;
    cell->index[i] = count - 1 - i;
  }
  rolls_back(
      name, [&] { body(*cell); },
      [&] {
        bool same = true;
        for (int i = 0; i < count; ++i) same = same && cell->to[i] == i && cell->from[i] == i % 11;
        return same;
      });
}

}  // namespace

void vectors() {
  check("vectorized loop", [](arrays& a) { add(a.to, a.from, count); });
  check("vectorized loop with a rest", [](arrays& a) { add(a.to + 1, a.from + 2, count - 3); });
  check("interleaved stores", [](arrays& a) { interleave(a.to, a.from, count / 2); });
  check("algorithms", [](arrays& a) {
    std::reverse(a.to, a.to + count);
    std::rotate(a.to, a.to + 13, a.to + count);
    std::fill_n(a.to + 40, 10, 7);
    std::partial_sum(a.from, a.from + count, a.to);
    std::sort(a.from, a.from + count);
  });
  using four = float __attribute__((vector_size(16)));
  const auto lanes = std::make_unique<four>(four{1, 2, 3, 4});
  rolls_back(
      "vector type", [&] { *lanes = *lanes * 2; }, [&] { return (*lanes)[3] == 4; });
  rolls_back(
      "one lane", [&] { (*lanes)[2] = 9; }, [&] { return (*lanes)[2] == 3; });
  if (__builtin_cpu_supports("avx2")) {
    check("masked stores of a loop", [](arrays& a) { add_if(a.to, a.from, count - 3); });
    check("gathers of a loop", [](arrays& a) { permute(a.to, a.from, a.index, count); });
    check("masked, unaligned and streaming stores", [](arrays& a) { by_hand(a.to, a.from); });
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) {
    check("masks, compression and scatter", [](arrays& a) { by_mask(a.to, a.from); });
  }
}

}  // namespace conformance
