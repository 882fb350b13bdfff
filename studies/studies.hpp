// SPDX-License-Identifier: Apache-2.0
//
// The studies, each in a file of its own.
#pragma once

#include "studies/study.hpp"

namespace unlatch::studies {

study bank_study();
study counters_study();
study hash_map_study();
study mpsc_queue_study();
study red_black_tree_study();

// Only with UNLATCH_BUILD_SYSTEMS.
study leveldb_study();
study ycsb_study();

}  // namespace unlatch::studies
