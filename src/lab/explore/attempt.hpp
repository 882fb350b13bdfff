// SPDX-License-Identifier: Apache-2.0
//
// Running one schedule in a process of its own.
#pragma once

#include <functional>
#include <string>

#include "src/lab/explore/board.hpp"
#include "src/lab/model.hpp"

namespace unlatch::lab::exploring {

/// What a schedule came to.
struct attempt {
  ending end = ending::none;
  std::string message;  ///< what went wrong

  bool passed() const { return end == ending::passed; }
};

/// Runs `body` on `machine` as the board says. Throws std::system_error if it cannot.
attempt run_schedule(board& shared, const model& machine, const std::function<void()>& body);

/// The board of the exploration that is under way; null outside one.
board* current_board() noexcept;
void set_current_board(board* which) noexcept;

}  // namespace unlatch::lab::exploring
