// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C as a stop request.
//
// While an object of this type lives, the first SIGINT or SIGTERM requests a stop; the second does
// what the signal does by itself. At most one object at a time.
#pragma once

#include <stop_token>
#include <thread>

namespace unlatch::cli {

class interruption {
 public:
  interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;
  ~interruption();

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::thread waiter_;
};

}  // namespace unlatch::cli
