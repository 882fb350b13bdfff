// SPDX-License-Identifier: Apache-2.0
//
// From the library's statistics to the counts of a record.
#pragma once

#include "studies/study.hpp"
#include "unlatch/statistics.hpp"

namespace unlatch::studies {

/// Sets transactions, fallbacks and software speculation from what the library counted. Aborts
/// because the lock was held count as explicit: that is how the hardware reports them. Without any
/// software speculation `software` stays empty.
inline void add_library_counts(measurement& measured, const statistics::snapshot_type& counted) {
  using statistics::counter;
  const auto total = counted.total();
  auto& [started, committed, aborted] = measured.transactions;
  started = total[counter::started];
  committed = total[counter::committed];
  aborted.conflict = total[counter::aborted_conflict];
  aborted.capacity = total[counter::aborted_capacity];
  aborted.explicitly = total[counter::aborted_explicit] + total[counter::aborted_lock_held];
  aborted.other = total[counter::aborted_nested] + total[counter::aborted_other];
  measured.fallbacks = total[counter::fallbacks];
  if (total[counter::software_started] > 0) {
    measured.software = {total[counter::software_started], total[counter::software_committed],
                         total[counter::software_aborted]};
  }
}

}  // namespace unlatch::studies
