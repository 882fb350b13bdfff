// SPDX-License-Identifier: Apache-2.0
//
// The studies, each in a file of its own.
#pragma once

#include "studies/study.hpp"

namespace unlatch::studies {

// Locks and structures.
study bank_study();
study bucket_map_study();
study core_counters_study();
study counters_study();
study hash_map_study();
study list_study();
study lock_word_study();
study mpsc_queue_study();
study overhead_study();
study policies_study();
study random_study();
study red_black_tree_study();

// The transaction unit itself.
study abort_cost_study();
study allocation_study();
study capacity_study();
study duration_study();
study nesting_study();
study prefixes_study();
study primitives_study();

// Only with UNLATCH_BUILD_SYSTEMS.
study leveldb_study();
study ycsb_study();

}  // namespace unlatch::studies
