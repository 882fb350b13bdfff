// SPDX-License-Identifier: Apache-2.0
//
// Exceptions thrown and caught in a transaction, thrown through one and out of one, and a
// transaction that aborts between a throw and its catch.

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "conformance.hpp"

namespace conformance {

namespace {

struct counts_when_destroyed {
  long* count;
  ~counts_when_destroyed() { ++*count; }
};

[[gnu::noinline]] void throw_from(int depth, long* count) {
  const counts_when_destroyed guard{count};
  if (depth == 0) throw std::runtime_error("a message so long that it needs memory of its own");
  throw_from(depth - 1, count);
}

}  // namespace

void exceptions() {
  const auto count = std::make_unique<long>(0);
  const auto text = std::make_unique<std::string>();
  rolls_back(
      "thrown and caught inside",
      [&] {
        try {
          throw_from(5, count.get());
        } catch (const std::runtime_error& error) {
          *text = error.what();
        }
      },
      [&] { return *count == 0 && text->empty(); });
  commits(
      "thrown and caught inside",
      [&] {
        try {
          throw_from(5, count.get());
        } catch (const std::runtime_error& error) {
          *text = error.what();
        }
      },
      [&] { return *count == 6 && text->starts_with("a message"); });

  bool caught = false;
  try {
    throw std::logic_error("outer");
  } catch (const std::exception&) {
    const std::exception_ptr outer = std::current_exception();
    rolls_back(
        "rethrown inside",
        [&] {
          try {
            throw;
          } catch (const std::exception&) {
            *count = 100;
          }
        },
        [&] { return *count == 6 && std::uncaught_exceptions() == 0; });
    try {
      std::rethrow_exception(outer);
    } catch (const std::logic_error& error) {
      caught = std::string(error.what()) == "outer";
    }
  }
  report("an exception from before is whole after an abort", caught);

  if (!has_machine) return;
  rolls_back(
      "aborted in a handler",
      [&] {
        try {
          throw_from(3, count.get());
        } catch (const std::runtime_error&) {
          abort_here();
        }
      },
      [&] { return *count == 6 && std::uncaught_exceptions() == 0; });
  report("no exception is left behind", std::current_exception() == nullptr);
  rolls_back(
      "aborted while unwinding",
      [&] {
        struct aborts {
          ~aborts() { abort_here(); }
        };
        try {
          const aborts on_the_way;
          throw_from(3, count.get());
        } catch (const std::runtime_error&) {
          *count = 100;
        }
      },
      [&] { return *count == 6 && std::uncaught_exceptions() == 0; });
  bool again = false;
  try {
    throw_from(0, count.get());
  } catch (const std::runtime_error&) {
    again = true;
  }
  report("throwing works after aborts", again);
}

}  // namespace conformance
