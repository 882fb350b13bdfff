// SPDX-License-Identifier: Apache-2.0
//
// Small functions, instrumented, of whose accesses hooks_test knows every one.
#pragma once

#include <atomic>
#include <cstdint>

namespace seen {

struct [[gnu::packed]] packed {
  char first;
  long second;
};
struct large {
  long values[9];
};

int load(const int* from);
void store(double* to);
long load_unaligned(const packed* from);
long only_locals(long n);
long constants(unsigned index);
long load_atomic(const std::atomic<long>& from);
void store_sequential(std::atomic<int>& to);
void increment(std::atomic<short>& counter);
bool exchange(std::atomic<long>& word, long expected, long desired);
void fence();
void copy(char* to, const char* from, unsigned long count);
void clear(char* to);
long pass_by_value(const large& object);
unsigned long length(const char* text);
std::uint64_t timestamp();
void pause();
void cpuid();
void add_to_memory(long* to);
[[clang::disable_sanitizer_instrumentation]] void not_instrumented(int* to);

/// Loops that turn `count` times: with nothing in them, with a load, with one in every second turn.
void turn(long count);
long turn_and_load(const int* from, long count);
long turn_and_load_half(const int* from, long count);

/// The line of the second of its two stores.
int two_lines(int* first, int* second);

}  // namespace seen
