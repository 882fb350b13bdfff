// SPDX-License-Identifier: Apache-2.0
//
// Every scalar type, plain and atomic, aligned and not, and bit-fields.

#include <atomic>
#include <bit>
#include <complex>
#include <cstddef>
#include <cstring>
#include <memory>

#include "conformance.hpp"

namespace conformance {

namespace {

enum class colour : unsigned char { red, green };
struct colour_holder {
  int number;
};

template <class T>
void scalar(const char* name, T before, T after) {
  const auto cell = std::make_unique<T>(before);
  rolls_back(
      name, [&] { *cell = after; }, [&] { return *cell == before; });
  commits(
      name, [&] { *cell = after; }, [&] { return *cell == after; });
}

template <class T>
void atomic(const char* name) {
  const auto cell = std::make_unique<std::atomic<T>>(T(40));
  rolls_back(
      name,
      [&] {
        cell->store(T(1));
        cell->exchange(T(2));
        T expected(2);
        cell->compare_exchange_strong(expected, T(3));
        expected = T(99);
        cell->compare_exchange_weak(expected, T(4));
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
          cell->fetch_add(T(5), std::memory_order_relaxed);
          cell->fetch_sub(T(1), std::memory_order_acq_rel);
          cell->fetch_and(T(7));
          cell->fetch_or(T(8));
          cell->fetch_xor(T(3));
        }
      },
      [&] { return cell->load() == T(40); });
}

void atomics() {
  atomic<bool>("atomic bool");
  atomic<std::uint8_t>("atomic 8 bits");
  atomic<std::uint16_t>("atomic 16 bits");
  atomic<std::uint32_t>("atomic 32 bits");
  atomic<std::uint64_t>("atomic 64 bits");
  atomic<double>("atomic double");

  // A failed exchange writes what it found to where the caller says.
  const auto cell = std::make_unique<std::atomic<long>>(7);
  const auto expected = std::make_unique<long>(1);
  rolls_back(
      "expected value of a failed exchange", [&] { cell->compare_exchange_strong(*expected, 2); },
      [&] { return *expected == 1 && *cell == 7; });

  alignas(8) static long word = 5;
  rolls_back(
      "atomic_ref", [] { std::atomic_ref<long>(word).fetch_add(3); }, [] { return word == 5; });
}

void bit_fields() {
  struct fields {
    unsigned three : 3;
    unsigned thirteen : 13;
    unsigned long forty : 40;
    signed char plain;
    bool flag : 1;
  };
  const auto cell = std::make_unique<fields>();
  std::memset(cell.get(), 0, sizeof *cell);
  rolls_back(
      "bit-fields",
      [&] {
        cell->three = 5;
        cell->thirteen = 77;
        cell->forty = 1ul << 39;
        cell->plain = 4;
        cell->flag = true;
      },
      [&] {
        return cell->three == 0 && cell->thirteen == 0 && cell->forty == 0 && cell->plain == 0 &&
               !cell->flag;
      });
}

void unaligned() {
  struct [[gnu::packed]] packed {
    char first;
    long second;
    double third;
  };
  // 60 bytes into a line: the members cross into the next one.
  const auto bytes = std::make_unique<std::byte[]>(256);
  auto address = std::bit_cast<std::uintptr_t>(bytes.get());
  address = (address + 63) / 64 * 64 + 60;
  auto* const cell = reinterpret_cast<packed*>(address);
  *cell = {1, 2, 3};
  rolls_back(
      "members across two lines",
      [&] {
        cell->second = 20;
        cell->third = 30;
      },
      [&] { return cell->second == 2 && cell->third == 3; });
}

}  // namespace

void scalars() {
  scalar<bool>("bool", false, true);
  scalar<char>("char", 'a', 'b');
  scalar<signed char>("signed char", 1, -2);
  scalar<unsigned char>("unsigned char", 1, 250);
  scalar<wchar_t>("wchar_t", L'a', L'b');
  scalar<char16_t>("char16_t", u'a', u'b');
  scalar<short>("short", 1, -300);
  scalar<unsigned short>("unsigned short", 1, 60000);
  scalar<int>("int", 1, -2);
  scalar<unsigned>("unsigned", 1, ~0u);
  scalar<long>("long", 1, -2);
  scalar<unsigned long long>("unsigned long long", 1, ~0ull);
  scalar<__int128>("128-bit integer", 1, static_cast<__int128>(1) << 100);
  scalar<float>("float", 1.5F, 2.5F);
  scalar<double>("double", 1.5, 2.5);
  scalar<long double>("long double", 1.5L, 2.5L);
  scalar<std::complex<double>>("complex double", {1, 2}, {3, 4});
  scalar<std::complex<long double>>("complex long double", {1, 2}, {3, 4});
  scalar<colour>("enumeration", colour::red, colour::green);
  scalar<std::byte>("byte", std::byte{1}, std::byte{2});
  scalar<const char*>("pointer", "a", nullptr);
  scalar<std::nullptr_t>("nullptr_t", nullptr, nullptr);
  scalar<int colour_holder::*>("pointer to member", nullptr, &colour_holder::number);
  scalar<void (*)()>("pointer to function", nullptr, &scalars);
  atomics();
  bit_fields();
  unaligned();
}

}  // namespace conformance
