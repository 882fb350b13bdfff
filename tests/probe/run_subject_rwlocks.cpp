// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cerrno>

#include "run_subject.hpp"

namespace unlatch::probe::testing {
namespace {

bool readers_and_writers(pthread_rwlock_t& lock) {
  account money;
  std::atomic<bool> torn{false};
  std::atomic<long> writes{0};
  run_threads(threads, [&](int number) {
    for (long i = 0; i < rounds; ++i) {
      if ((i + number) % 4 == 0) {
        pthread_rwlock_wrlock(&lock);
        if (i % 8 == 0)
          money.change_slowly();
        else
          money.change();
        ++writes;
        pthread_rwlock_unlock(&lock);
      } else {
        pthread_rwlock_rdlock(&lock);
        if (!money.is_balanced()) torn = true;
        pthread_rwlock_unlock(&lock);
      }
    }
  });
  return CHECK(!torn) && CHECK(money.has(writes)) && CHECK(pthread_rwlock_destroy(&lock) == 0);
}

bool read_and_write() {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  return readers_and_writers(lock);
}

bool read_and_write_with_writers_first() {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
  return readers_and_writers(lock);
}

/// What other threads can do with a lock that this thread reads or writes.
bool excludes_readers_or_writers() {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  bool kept = true;
  const auto in_thread = [&](int may_read, int may_write) {
    std::thread([&] {
      const timespec soon = in_milliseconds(CLOCK_REALTIME, 20);
      const timespec as_soon = in_milliseconds(CLOCK_MONOTONIC, 20);
      const int read = pthread_rwlock_tryrdlock(&lock);
      kept &= CHECK(read == may_read);
      if (read == 0) pthread_rwlock_unlock(&lock);
      kept &= CHECK(pthread_rwlock_trywrlock(&lock) == may_write);
      if (may_write == 0) pthread_rwlock_unlock(&lock);
      const int in_time = pthread_rwlock_timedrdlock(&lock, &soon);
      kept &= CHECK(in_time == (may_read == 0 ? 0 : ETIMEDOUT));
      if (in_time == 0) pthread_rwlock_unlock(&lock);
      const int written = pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &as_soon);
      kept &= CHECK(written == (may_write == 0 ? 0 : ETIMEDOUT));
      if (written == 0) pthread_rwlock_unlock(&lock);
    }).join();
  };
  in_thread(0, 0);
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_rdlock(&lock);  // once more, by the same thread
  in_thread(0, EBUSY);
  kept &= CHECK(pthread_rwlock_trywrlock(&lock) == EBUSY);
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_wrlock(&lock);
  in_thread(EBUSY, EBUSY);
  kept &= CHECK(pthread_rwlock_rdlock(&lock) == EDEADLK);
  kept &= CHECK(pthread_rwlock_wrlock(&lock) == EDEADLK);
  kept &= CHECK(pthread_rwlock_tryrdlock(&lock) == EBUSY);
  pthread_rwlock_unlock(&lock);
  in_thread(0, 0);
  return kept && CHECK(pthread_rwlock_destroy(&lock) == 0);
}

/// A reader reads once more while a writer waits for it.
bool reads_again_before_a_waiting_writer() {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  account money;
  pthread_rwlock_rdlock(&lock);
  std::thread writer([&] {
    pthread_rwlock_wrlock(&lock);
    money.change();
    pthread_rwlock_unlock(&lock);
  });
  timespec nap = {0, 20'000'000};
  nanosleep(&nap, nullptr);
  bool kept = true;
  for (int i = 0; i < 3; ++i) {
    kept &= CHECK(pthread_rwlock_rdlock(&lock) == 0) && CHECK(money.changes() == 0);
    pthread_rwlock_unlock(&lock);
  }
  pthread_rwlock_unlock(&lock);
  writer.join();
  return kept && CHECK(money.has(1));
}

bool process_shared_rwlock() {
  pthread_rwlockattr_t attributes;
  pthread_rwlockattr_init(&attributes);
  pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_rwlock_t lock;
  pthread_rwlock_init(&lock, &attributes);
  return readers_and_writers(lock);
}

}  // namespace

run_cases rwlock_cases() {
  return {{"read_and_write", read_and_write},
          {"read_and_write_with_writers_first", read_and_write_with_writers_first},
          {"excludes_readers_or_writers", excludes_readers_or_writers},
          {"reads_again_before_a_waiting_writer", reads_again_before_a_waiting_writer},
          {"process_shared_rwlock", process_shared_rwlock}};
}

}  // namespace unlatch::probe::testing
