// SPDX-License-Identifier: Apache-2.0
//
// The accesses that the recorder is to see.

#include "seen_code.hpp"

#include <cstring>

namespace seen {

int load(const int* from) { return *from; }

void store(double* to) { *to = 1.5; }

long load_unaligned(const packed* from) { return from->second; }

long only_locals(long n) {
  long values[64];
  for (long i = 0; i < 64; ++i) values[i] = i * n;
  long sum = 0;
  for (long i = 0; i < 64; ++i) sum += values[(i * n) % 64];
  return sum;
}

long constants(unsigned index) {
  static constexpr long table[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 35};
  return table[index % 10];
}

long load_atomic(const std::atomic<long>& from) { return from.load(std::memory_order_acquire); }

void store_sequential(std::atomic<int>& to) { to.store(7); }

void increment(std::atomic<short>& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

bool exchange(std::atomic<long>& word, long expected, long desired) {
  return word.compare_exchange_strong(expected, desired, std::memory_order_acq_rel);
}

void fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }

void copy(char* to, const char* from, unsigned long count) { std::memcpy(to, from, count); }

void clear(char* to) { std::memset(to, 0, 200); }

[[gnu::noinline]] long sum(large object) {
  asm volatile("" ::"r"(&object) : "memory");
  return object.values[0] + object.values[8];
}
long pass_by_value(const large& object) { return sum(object); }

unsigned long length(const char* text) { return std::strlen(text); }

std::uint64_t timestamp() { return __builtin_ia32_rdtsc(); }

void pause() { __builtin_ia32_pause(); }

void cpuid() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
}

void add_to_memory(long* to) { asm volatile("addq $1, %0" : "+m"(*to)); }

void not_instrumented(int* to) { *to = 5; }

void turn(long count) {
  for (long i = 0; i < count; ++i) asm volatile("");
}

long turn_and_load(const int* from, long count) {
  long sum = 0;
  for (long i = 0; i < count; ++i) {
    sum += from[i];
    asm volatile("" : "+r"(sum));
  }
  return sum;
}

long turn_and_load_half(const int* from, long count) {
  long sum = 0;
  for (long i = 0; i < count; ++i) {
    asm volatile("" : "+r"(sum));
    if (i % 2 == 0) continue;
    sum += from[i];
    asm volatile("" : "+r"(sum));
  }
  return sum;
}

int two_lines(int* first, int* second) {
  *first = 1;
  *second = 2;
  return __LINE__ - 1;
}

}  // namespace seen
