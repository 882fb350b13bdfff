// SPDX-License-Identifier: Apache-2.0
#include "systems/leveldb/ycsb/client.hpp"

#include <leveldb/db.h>
#include <sys/resource.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "systems/leveldb/ycsb/insert_sequence.hpp"
#include "systems/leveldb/ycsb/key_chooser.hpp"
#include "systems/leveldb/ycsb/record.hpp"

namespace unlatch::ycsb {
namespace {

using clock = std::chrono::steady_clock;

void require_ok(const leveldb::Status& status, const char* operation) {
  if (!status.ok()) {
    throw database_error(std::string("LevelDB could not ") + operation + ": " + status.ToString());
  }
}

/// What one thread does and measures; merged into the phase's result in the end.
class worker {
 public:
  worker(leveldb::DB& database, const workload& described, const key_chooser& keys,
         insert_sequence& inserts, random_engine random)
      : database_(database),
        described_(described),
        keys_(keys),
        scan_length_(described.scan),
        records_(described),
        inserts_(inserts),
        random_(std::move(random)) {}

  /// Inserts the record of this number.
  void insert(std::uint64_t number) {
    measure(operation::insert,
            [&] { write(key_name(described_, number), records_.record(random_)); });
  }

  /// Performs one operation that the workload chooses.
  void perform() {
    const operation chosen = described_.next_operation(random_);
    if (chosen == operation::insert) {
      const std::uint64_t number = inserts_.next();
      insert(number);
      inserts_.acknowledge(number);
      return;
    }
    const std::string key = key_name(described_, keys_(random_, inserts_.newest()));
    measure(chosen, [&] {
      if (chosen == operation::scan) {
        scan(key);
      } else if (chosen == operation::update && described_.write_all_fields) {
        write(key, records_.record(random_));
      } else if (read(key) && chosen != operation::read) {
        records_.update(value_, random_);
        write(key, value_);
      }
    });
  }

  void merge_into(phase_result& result) const {
    for (std::size_t i = 0; i < operations; ++i) {
      result.latency_of[i].merge(latency_of_[i]);
      result.latency.merge(latency_of_[i]);
    }
    result.operations = result.latency.count();
    result.not_found += not_found_;
  }

 private:
  template <class Body>
  void measure(operation kind, Body body) {
    const clock::time_point start = clock::now();
    body();
    const auto taken = std::chrono::nanoseconds(clock::now() - start).count();
    latency_of_[static_cast<std::size_t>(kind)].record(static_cast<std::uint64_t>(taken));
  }

  bool read(const std::string& key) {
    const leveldb::Status status = database_.Get({}, key, &value_);
    if (status.IsNotFound()) {
      ++not_found_;
      return false;
    }
    require_ok(status, "read a record");
    return true;
  }

  void write(const std::string& key, const std::string& value) {
    require_ok(database_.Put({}, key, value), "write a record");
  }

  void scan(const std::string& key) {
    const std::unique_ptr<leveldb::Iterator> cursor(database_.NewIterator({}));
    std::uint64_t left = scan_length_(random_);
    for (cursor->Seek(key); left > 0 && cursor->Valid(); cursor->Next(), --left) {
      value_.assign(cursor->value().data(), cursor->value().size());
    }
    require_ok(cursor->status(), "scan");
  }

  leveldb::DB& database_;
  const workload& described_;
  key_chooser keys_;
  length_chooser scan_length_;
  record_builder records_;
  insert_sequence& inserts_;
  random_engine random_;
  std::string value_;
  std::array<latency_histogram, operations> latency_of_;
  std::uint64_t not_found_ = 0;
};

/// The part of `total` that falls to one of `threads` threads: [first, end).
struct share {
  share(std::uint64_t total, unsigned thread, unsigned threads)
      : first(part(total, thread, threads)), end(part(total, thread + 1, threads)) {}
  static std::uint64_t part(std::uint64_t total, unsigned thread, unsigned threads) {
    return total / threads * thread + std::min<std::uint64_t>(thread, total % threads);
  }
  std::uint64_t first;
  std::uint64_t end;
};

/// Runs `body(worker, share)` in every thread at once and measures from the common start to the end
/// of the last. The first exception of a thread is thrown once all have ended.
template <class Body>
phase_result run_phase(std::vector<std::unique_ptr<worker>>& workers, std::uint64_t total,
                       Body body) {
  const auto threads = static_cast<unsigned>(workers.size());
  std::vector<std::exception_ptr> failures(threads);
  rusage before{};
  clock::time_point started;
  std::barrier start(static_cast<std::ptrdiff_t>(threads), [&]() noexcept {
    getrusage(RUSAGE_SELF, &before);
    started = clock::now();
  });
  std::vector<std::thread> running;
  for (unsigned thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      start.arrive_and_wait();
      try {
        body(*workers[thread], share(total, thread, threads));
      } catch (...) {
        failures[thread] = std::current_exception();
      }
    });
  }
  for (std::thread& each : running) each.join();
  const clock::time_point ended = clock::now();
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  phase_result result;
  result.seconds = std::chrono::duration<double>(ended - started).count();
  result.voluntary_switches = static_cast<std::uint64_t>(after.ru_nvcsw - before.ru_nvcsw);
  result.involuntary_switches = static_cast<std::uint64_t>(after.ru_nivcsw - before.ru_nivcsw);
  for (const auto& each : workers) each->merge_into(result);
  return result;
}

std::vector<std::unique_ptr<worker>> make_workers(leveldb::DB& database, const workload& described,
                                                  insert_sequence& inserts, unsigned threads,
                                                  std::uint64_t seed) {
  const key_chooser keys(described);
  std::vector<std::unique_ptr<worker>> workers;
  for (unsigned thread = 0; thread < threads; ++thread) {
    workers.push_back(
        std::make_unique<worker>(database, described, keys, inserts, engine_for(seed, thread)));
  }
  return workers;
}

}  // namespace

phase_result load(leveldb::DB& database, const workload& described, unsigned threads,
                  std::uint64_t seed) {
  insert_sequence inserts(described.insert_start);
  auto workers = make_workers(database, described, inserts, threads, seed);
  return run_phase(workers, described.insert_count, [&](worker& each, share part) {
    for (std::uint64_t i = part.first; i < part.end; ++i) each.insert(described.insert_start + i);
  });
}

phase_result run(leveldb::DB& database, const workload& described, unsigned threads,
                 std::uint64_t seed) {
  insert_sequence inserts(described.record_count - 1);
  // The run draws other numbers than the load, whose records it would otherwise write again.
  auto workers = make_workers(database, described, inserts, threads, ~seed);
  return run_phase(workers, described.operation_count, [](worker& each, share part) {
    for (std::uint64_t i = part.first; i < part.end; ++i) each.perform();
  });
}

}  // namespace unlatch::ycsb
