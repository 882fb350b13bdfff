// SPDX-License-Identifier: Apache-2.0
//
// Structures: assigned, passed by value, returned, as varargs, with virtual functions, in unions.

#include <array>
#include <cstdarg>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include "conformance.hpp"

namespace conformance {

namespace {

struct large {
  long values[9];
};
struct wide {
  long double x, y, z;
};
struct small {
  int a;
  float b;
};

[[gnu::noinline]] long last_of(large by_value) {
  asm volatile("" ::"r"(&by_value) : "memory");
  return by_value.values[8];
}
[[gnu::noinline]] large make_large(long start) {
  large made{};
  for (long& value : made.values) value = start++;
  return made;
}
[[gnu::noinline]] wide make_wide(long double start) { return {start, start + 1, start + 2}; }
[[gnu::noinline]] small make_small(int a) { return {a, static_cast<float>(a)}; }

[[gnu::noinline]] void sum(long* result, int count, ...) {
  va_list arguments;
  va_start(arguments, count);
  *result = 0;
  for (int i = 0; i < count; ++i) {
    *result += i % 2 == 0 ? va_arg(arguments, long) : static_cast<long>(va_arg(arguments, double));
  }
  va_end(arguments);
}

struct shape {
  virtual ~shape() = default;
  virtual void grow() = 0;
  int size = 1;
};
struct circle : shape {
  void grow() override { size *= 2; }
};
struct left_base : virtual shape {
  long left = 1;
};
struct right_base : virtual shape {
  long right = 2;
};
struct diamond : left_base, right_base {
  void grow() override {
    ++left;
    ++right;
    ++size;
  }
};

union either {
  long integer;
  double floating;
};

}  // namespace

void aggregates() {
  const auto first = std::make_unique<large>(make_large(0));
  const auto second = std::make_unique<large>(make_large(100));
  const auto result = std::make_unique<long>(3);
  rolls_back(
      "assigned", [&] { *first = *second; }, [&] { return first->values[8] == 8; });
  rolls_back(
      "swapped", [&] { std::swap(*first, *second); },
      [&] { return first->values[0] == 0 && second->values[0] == 100; });
  rolls_back(
      "passed by value", [&] { *result = last_of(*second); }, [&] { return *result == 3; });
  commits(
      "passed by value, read", [&] { *result = last_of(*second); }, [&] { return *result == 108; });
  rolls_back(
      "returned", [&] { *first = make_large(50); }, [&] { return first->values[3] == 3; });
  rolls_back(
      "varargs", [&] { sum(result.get(), 4, 1L, 2.0, 3L, 4.0); }, [&] { return *result == 108; });
  commits(
      "varargs, read", [&] { sum(result.get(), 9, 1L, 2.0, 3L, 4.0, 5L, 6.0, 7L, 8.0, 9L); },
      [&] { return *result == 45; });

  const auto x87 = std::make_unique<wide>(make_wide(1));
  rolls_back(
      "long doubles returned", [&] { *x87 = make_wide(7); }, [&] { return x87->z == 3; });
  const auto pair = std::make_unique<small>(make_small(1));
  rolls_back(
      "returned in registers", [&] { *pair = make_small(7); }, [&] { return pair->a == 1; });

  const std::unique_ptr<shape> round = std::make_unique<circle>();
  rolls_back(
      "virtual function", [&] { round->grow(); }, [&] { return round->size == 1; });
  const auto both = std::make_unique<diamond>();
  rolls_back(
      "virtual bases", [&] { static_cast<right_base&>(*both).grow(); },
      [&] { return both->left == 1 && both->right == 2 && both->size == 1; });
  const auto one_of = std::make_unique<either>();
  one_of->integer = 5;
  rolls_back(
      "union", [&] { one_of->floating = 1.5; }, [&] { return one_of->integer == 5; });
  const auto chosen = std::make_unique<std::variant<int, large>>(1);
  rolls_back(
      "variant", [&] { *chosen = make_large(1); }, [&] { return std::get<int>(*chosen) == 1; });
  const auto maybe = std::make_unique<std::optional<large>>();
  rolls_back(
      "optional", [&] { maybe->emplace(make_large(1)); }, [&] { return !maybe->has_value(); });
  const auto several = std::make_unique<std::tuple<int, double, std::array<short, 5>>>();
  rolls_back(
      "tuple",
      [&] {
        *several = {1, 2, {3, 4, 5, 6, 7}};
      },
      [&] { return std::get<0>(*several) == 0 && std::get<2>(*several)[4] == 0; });

  // A local of the caller's, which the body reaches by its address.
  long local[20] = {};
  rolls_back(
      "locals of a caller",
      [&] {
        for (long& value : local) value = 7;
      },
      [&] { return local[0] == 0 && local[19] == 0; });
}

}  // namespace conformance
