// SPDX-License-Identifier: Apache-2.0
//
// Memory intrinsics and the C library's memory and string functions, of sizes the compiler knows
// and of those it does not.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>

#include "conformance.hpp"

namespace conformance {

namespace {

constexpr int size = 1000;

/// A size that the compiler cannot see.
[[gnu::noinline]] std::size_t hidden(std::size_t value) {
  asm volatile("" : "+r"(value));
  return value;
}

struct buffers {
  char first[size];
  char second[size];
};

template <class Body>
void check(const char* name, Body body) {
  const auto cell = std::make_unique<buffers>();
  std::iota(cell->first, cell->first + size, 1);
  std::strcpy(cell->second, "a string that is longer than the small ones are");
  buffers before;
  std::memcpy(&before, cell.get(), sizeof before);
  rolls_back(
      name, [&] { body(cell->first, cell->second); },
      [&] { return std::memcmp(&before, cell.get(), sizeof before) == 0; });
}

}  // namespace

void memory_functions() {
  check("memcpy of 8", [](char* to, char* from) { std::memcpy(to, from, 8); });
  check("memcpy of 100", [](char* to, char* from) { std::memcpy(to, from, 100); });
  check("memcpy", [](char* to, char* from) { std::memcpy(to, from, hidden(777)); });
  check("memcpy of nothing", [](char* to, char* from) { std::memcpy(to, from, hidden(0)); });
  check("memmove", [](char* to, char*) { std::memmove(to + 5, to, hidden(700)); });
  check("memset", [](char* to, char*) { std::memset(to, 9, hidden(500)); });
  check("memset of 64", [](char* to, char*) { std::memset(to, 9, 64); });
  check("a loop that becomes memset", [](char* to, char*) {
    for (std::size_t i = 0, n = hidden(300); i < n; ++i) to[i] = 0;
  });
  check("strcpy", [](char* to, char* from) { std::strcpy(to + hidden(3), from); });
  check("strncpy", [](char* to, char* from) { std::strncpy(to, from, hidden(200)); });
  check("strcat", [](char*, char* string) { std::strcat(string, string + hidden(20)); });
  check("strncat", [](char*, char* string) { std::strncat(string, string + 20, hidden(7)); });
  check("snprintf",
        [](char* to, char* from) { std::snprintf(to, hidden(100), "%s %d", from, 17); });
  check("qsort", [](char* to, char*) {
    std::qsort(to, hidden(900), 1, [](const void* a, const void* b) {
      return *static_cast<const signed char*>(b) - *static_cast<const signed char*>(a);
    });
  });
  check("results of frexp, modf and strtol", [](char* to, char* from) {
    auto* const number = reinterpret_cast<double*>(to);
    *number = std::frexp(static_cast<double>(hidden(1234)), reinterpret_cast<int*>(to + 8));
    *number += std::modf(static_cast<double>(hidden(12)) / 5, reinterpret_cast<double*>(to + 16));
    std::strtol(from, reinterpret_cast<char**>(to + 24), 10);
  });

  const auto block = std::make_unique<void*>(nullptr);
  rolls_back(
      "malloc, realloc and free",
      [&] {
        *block = std::malloc(hidden(100));
        *block = std::realloc(*block, hidden(10000));
        std::free(*block);
        *block = std::calloc(hidden(10), 8);
      },
      [&] { return *block == nullptr; });
}

}  // namespace conformance
