// SPDX-License-Identifier: Apache-2.0
//
// The YCSB client for LevelDB: runs the load or the run phase of a workload with a number of
// threads and measures it. Compiled once and linked with each LevelDB there is: it knows the public
// interface only.
//
// A record is one LevelDB value that holds its fields one after the other, each preceded by its
// length (record.hpp), as YCSB's bindings for embedded stores do. So an update of one field reads
// the record, replaces the field and writes the record.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>

#include "systems/leveldb/ycsb/latency_histogram.hpp"
#include "systems/leveldb/ycsb/workload.hpp"

namespace leveldb {
class DB;
}

namespace unlatch::ycsb {

/// The database refused an operation. what() says which, with LevelDB's own message.
class database_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a phase came to.
struct phase_result {
  std::uint64_t operations = 0;
  /// From the moment all threads start until the last one has finished.
  double seconds = 0;
  latency_histogram latency;
  std::array<latency_histogram, ycsb::operations> latency_of;
  /// Reads, updates and read-modify-writes that did not find their record.
  std::uint64_t not_found = 0;
  /// Of the whole process during the phase.
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
};

// Both throw database_error. `threads` is at least 1. The same seed gives every thread the same
// operations on the same keys, but not the same order among threads.

/// Inserts the records of the workload, each thread a range of them.
[[nodiscard]] phase_result load(leveldb::DB& database, const workload& described, unsigned threads,
                                std::uint64_t seed);

/// Performs the workload's operations on a loaded database, divided among the threads.
[[nodiscard]] phase_result run(leveldb::DB& database, const workload& described, unsigned threads,
                               std::uint64_t seed);

}  // namespace unlatch::ycsb
