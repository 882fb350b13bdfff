// SPDX-License-Identifier: Apache-2.0
//
// unlatch: critical sections that run without taking the latch. Includes everything but the data
// structures (unlatch/structures/). Start here:
//
//   unlatch::elided<unlatch::mutex> latch("accounts");
//   { std::scoped_lock guard(latch); ... }                      // guards, as with any mutex
//   unlatch::elide(latch, [&](auto& tx) { tx.write(x, tx.read(x) + 1); });   // or closures
#pragma once

#include "unlatch/adaptive.hpp"
#include "unlatch/coarsening.hpp"
#include "unlatch/condition_variable.hpp"
#include "unlatch/elide.hpp"
#include "unlatch/elided.hpp"
#include "unlatch/guard.hpp"
#include "unlatch/htm.hpp"
#include "unlatch/mcs_mutex.hpp"
#include "unlatch/mutex.hpp"
#include "unlatch/policy.hpp"
#include "unlatch/reclamation.hpp"
#include "unlatch/rw_semaphore.hpp"
#include "unlatch/section.hpp"
#include "unlatch/shared_mutex.hpp"
#include "unlatch/spin_mutex.hpp"
#include "unlatch/sr_latch.hpp"
#include "unlatch/statistics.hpp"
#include "unlatch/ticket_mutex.hpp"
