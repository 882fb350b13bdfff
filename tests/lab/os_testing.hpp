// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the simulated operating system share: a small machine, and running in it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "lab/lab.hpp"
#include "lab/model.hpp"

namespace os_testing {

/// Four cores of a Haswell, with an operating system of round figures.
inline unlatch::lab::model small_machine() {
  unlatch::lab::model m{};
  m.sockets = 1;
  m.cores_per_socket = 4;
  m.threads_per_core = 1;
  m.mhz = 3000;
  m.l1d = {32 * 1024, 8, 4, false};
  m.l2 = {256 * 1024, 8, 12, false};
  m.l3 = {8 * 1024 * 1024, 16, 36, true};
  m.beyond = {43, 60, 200, 250, 200, 40};
  m.core = {500, 900, 1600, 16, 17, 33, 10, 24};
  m.transactions.rtm = true;
  m.transactions.begin = 25;
  m.transactions.commit = 15;
  m.transactions.abort = 130;
  m.transactions.nesting_limit = 7;
  m.transactions.read_lines = 16384;
  m.system.timer_period_us = 4000;
  m.system.interrupt = 2000;
  m.system.system_call = 200;
  m.system.page_fault = 1500;
  m.system.context_switch_ns = 1500;
  m.system.futex_wake_ns = 3000;
  m.system.thread_start_ns = 10000;
  m.system.quantum_us = 200;
  m.system.page_bytes = 4096;
  return m;
}

/// Runs `body` as the first thread of the machine.
template <typename Body>
auto simulate(Body body) {
  return unlatch::lab::run(small_machine(), {}, body);
}

}  // namespace os_testing
