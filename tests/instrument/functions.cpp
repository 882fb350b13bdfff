// SPDX-License-Identifier: Apache-2.0
//
// Function objects, type erasure, coroutines, recursion, and member functions by pointer.

#include <any>
#include <coroutine>
#include <functional>
#include <memory>
#include <string>

#include "conformance.hpp"

namespace conformance {

namespace {

struct large {
  long values[9];
};

struct generator {
  struct promise_type {
    int value = 0;
    generator get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int next) {
      value = next;
      return {};
    }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};

generator count_to(int limit) {
  for (int i = 0; i < limit; ++i) co_yield i;
}

[[gnu::noinline]] long fibonacci(long n, long* calls) {
  ++*calls;
  return n < 2 ? n : fibonacci(n - 1, calls) + fibonacci(n - 2, calls);
}

struct account {
  long balance = 10;
  void deposit(long amount) { balance += amount; }
};

}  // namespace

void functions() {
  const auto function = std::make_unique<std::function<long()>>([] { return 1L; });
  rolls_back(
      "function, replaced by a large one",
      [&] { *function = [big = large{}] { return big.values[3]; }; },
      [&] { return (*function)() == 1; });
  const auto state = std::make_unique<long>(5);
  const std::function<void(long)> add = [&](long n) { *state += n; };
  rolls_back(
      "function, called", [&] { add(3); }, [&] { return *state == 5; });
  const auto any = std::make_unique<std::any>(5);
  rolls_back(
      "any", [&] { *any = std::string("a string that does not fit into the small space"); },
      [&] { return std::any_cast<int>(*any) == 5; });
  rolls_back(
      "lambda that changes itself",
      [&, own = 0L]() mutable {
        for (int i = 0; i < 5; ++i) ++own;
        *state = own;
      },
      [&] { return *state == 5; });

  generator numbers = count_to(10);
  numbers.handle.resume();
  rolls_back(
      "coroutine resumed",
      [&] {
        numbers.handle.resume();
        numbers.handle.resume();
      },
      [&] { return numbers.handle.promise().value == 0; });
  numbers.handle.resume();
  report("coroutine goes on from where it was", numbers.handle.promise().value == 1);
  rolls_back(
      "coroutine created and destroyed",
      [&] {
        const generator inner = count_to(3);
        inner.handle.resume();
        *state = inner.handle.promise().value;
        inner.handle.destroy();
      },
      [&] { return *state == 5; });
  numbers.handle.destroy();

  rolls_back(
      "recursion", [&] { *state += fibonacci(12, state.get()); }, [&] { return *state == 5; });
  const auto bank = std::make_unique<account>();
  void (account::*const volatile member)(long) = &account::deposit;
  rolls_back(
      "member function by pointer", [&] { (bank.get()->*member)(5); },
      [&] { return bank->balance == 10; });
}

}  // namespace conformance
