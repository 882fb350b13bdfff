// SPDX-License-Identifier: Apache-2.0
//
// The computations. KERNEL_BUILD names the namespace of this build of them.

#include "kernels.hpp"

#include <memory>

namespace KERNEL_BUILD {

namespace {

using number = std::uint64_t;

/// Keeps a value in a register, and unknown.
[[gnu::always_inline]] inline void hide(number& value) { asm volatile("" : "+r"(value)); }

number xorshift(number turns, number x) {
  for (number i = 0; i < turns; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  return x;
}

number divide(number turns, number x) {
  for (number i = 0; i < turns; ++i) x = (x | 1) * 3 + 1000000007 / (x | 1);
  return x;
}

number multiply_one_chain(number turns, number x) {
  const number factor = x;
  for (number i = 0; i < turns; ++i) x = x * factor + i;
  return x;
}

number multiply_four_chains(number turns, number x) {
  number a = x;
  number b = x + 1;
  number c = x + 2;
  number d = x + 3;
  for (number i = 0; i < turns; ++i) {
    a = a * x + i;
    b = b * x + i;
    c = c * x + i;
    d = d * x + i;
  }
  return a ^ b ^ c ^ d;
}

number floating_chain(number turns, number x) {
  auto sum = static_cast<double>(x);
  for (number i = 0; i < turns; ++i) sum = sum * 0.999 + 1.5;
  return static_cast<number>(sum);
}

number independent(number turns, number x) {
  number a = x;
  number b = x;
  number c = x;
  number d = x;
  for (number i = 0; i < turns; ++i) {
    a += i;
    b ^= i;
    c -= i;
    d += b;
    hide(a), hide(b), hide(c), hide(d);
  }
  return a ^ b ^ c ^ d;
}

number branches(number turns, number x) {
  number sum = 0;
  for (number i = 0; i < turns; ++i) {
    if ((i & 4) != 0) {
      sum += x;
      hide(sum);
    } else {
      sum ^= i;
      hide(sum);
    }
  }
  return sum;
}

[[gnu::noinline]] number leaf(number x) {
  hide(x);
  return x + 1;
}

number call(number turns, number x) {
  for (number i = 0; i < turns; ++i) x = leaf(x);
  return x;
}

struct node {
  node* next;
  number value;
};

number chase(number turns, number x) {
  const auto nodes = std::make_unique<node[]>(64);
  for (number i = 0; i < 64; ++i) nodes[i] = {&nodes[(i * 5 + 1) % 64], i};
  const node* at = &nodes[x % 64];
  for (number i = 0; i < turns; ++i) at = at->next;
  return at->value;
}

number find(number turns, number x) {
  // A walk to a key, as in a list or a bucket of a table: a comparison at every node.
  const auto nodes = std::make_unique<node[]>(64);
  for (number i = 0; i < 64; ++i) nodes[i] = {&nodes[(i * 5 + 1) % 64], i};
  const node* at = &nodes[x % 64];
  for (number i = 0; i < turns && at->value != 1000; ++i) at = at->next;
  return at->value;
}

number sum_array(number turns, number x) {
  const auto values = std::make_unique<number[]>(512);
  for (number i = 0; i < 512; ++i) values[i] = x;
  number sum = 0;
  for (number i = 0; i < turns; ++i) {
    sum += values[i % 512];
    hide(sum);
  }
  return sum;
}

number store_array(number turns, number x) {
  const auto values = std::make_unique<number[]>(512);
  for (number i = 0; i < turns; ++i) {
    values[i % 512] = x;
    hide(x);
  }
  return values[x % 512];
}

constexpr kernel all[kernel_count] = {
    {"xorshift", xorshift, 6, "six dependent operations"},
    {"division chain", divide, 44, "64-bit division 32-96, here about 40; 4 around it"},
    {"multiply, one chain", multiply_one_chain, 4, "multiplication 3, addition 1"},
    {"multiply, four chains", multiply_four_chains, 4, "one multiplication a cycle"},
    {"floating chain", floating_chain, 8, "multiplication 5, addition 3"},
    {"independent", independent, 1.75, "six operations and a branch, four a cycle"},
    {"branches, predicted", branches, 2, "five operations, two branches"},
    {"call of a leaf", call, 4, "call 2, return 1, and two operations"},
    {"pointer chase", chase, 4, "L1 hit from address to value"},
    {"walk to a key", find, 4, "L1 hit from address to value; the comparison runs beside it"},
    {"sum of an array", sum_array, 1.25, "one load, four operations, four a cycle"},
    {"stores to an array", store_array, 1.25, "one store, four operations, four a cycle"},
};

}  // namespace

const kernel* kernels() { return all; }

}  // namespace KERNEL_BUILD
