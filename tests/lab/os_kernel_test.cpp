// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <list>
#include <mutex>
#include <random>
#include <string>
#include <thread>

#include "os_testing.hpp"
#include "unlatch/htm.hpp"
#include "unlatch/parking.hpp"
#include "unlatch/reclamation.hpp"

namespace {

using os_testing::simulate;
using namespace std::chrono_literals;
using unlatch::htm::hardware;
using unlatch::htm::status;

/// Runs `body` in a transaction, once; says with what it ended.
template <typename Body>
status attempt(Body body) {
  const status s = hardware::begin();
  if (s.started()) {
    body();
    hardware::commit();
  }
  return s;
}

TEST(Futex, returns_at_once_if_the_word_has_changed) {
  long answer = 0;
  int error = 0;
  simulate([&] {
    std::atomic<std::uint32_t> word = 1;
    answer = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
    error = errno;
  });
  EXPECT_EQ(answer, -1);
  EXPECT_EQ(error, EAGAIN);
}

TEST(Futex, wakes_as_many_as_it_is_told) {
  long woken = 0;
  int awake_then = 0;
  std::atomic<int> awake = 0;
  simulate([&] {
    std::atomic<std::uint32_t> word = 0;
    std::thread threads[4];
    for (auto& each : threads) {
      each = std::thread([&] {
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
        ++awake;
      });
    }
    std::this_thread::sleep_for(1ms);
    woken = syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 3, nullptr, nullptr, 0);
    std::this_thread::sleep_for(1ms);
    awake_then = awake;
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 3, nullptr, nullptr, 0);
    for (auto& each : threads) each.join();
  });
  EXPECT_EQ(woken, 3);
  EXPECT_EQ(awake_then, 3);
  EXPECT_EQ(awake, 4);
}

TEST(Futex, times_out_as_the_librarys_parking_asks) {
  bool woken = true;
  std::chrono::steady_clock::duration waited{};
  simulate([&] {
    std::atomic<std::uint32_t> word = 0;
    const auto start = std::chrono::steady_clock::now();
    woken = unlatch::parking::wait_until(word, 0, start + 3ms);
    waited = std::chrono::steady_clock::now() - start;
  });
  EXPECT_FALSE(woken);
  EXPECT_GE(waited, 3ms);
  EXPECT_LT(waited, 4ms);
}

TEST(Kernel, aborts_transactions_with_status_0) {
  status yielded(1), slept(1), opened(1), clock_read(1);
  int file = -2;
  simulate([&] {
    yielded = attempt([] { sched_yield(); });
    slept = attempt([] { std::this_thread::sleep_for(1us); });
    opened = attempt([&] { file = open("/dev/null", O_RDONLY); });
    timespec now;
    clock_read = attempt([&] { clock_gettime(CLOCK_MONOTONIC, &now); });
  });
  EXPECT_EQ(yielded.word(), 0u);
  EXPECT_EQ(slept.word(), 0u);
  EXPECT_EQ(opened.word(), 0u);
  EXPECT_EQ(file, -2);
  EXPECT_EQ(clock_read.word(), status::started_word);
}

TEST(Kernel, mutexes_work_in_transactions_unless_they_are_held) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  status free(0), undone(0), held(1);
  bool still_free = false;
  simulate([&] {
    free = attempt([] {
      pthread_mutex_lock(&mutex);
      pthread_mutex_unlock(&mutex);
    });
    undone = attempt([] {
      pthread_mutex_lock(&mutex);
      hardware::abort<7>();
    });
    still_free = pthread_mutex_trylock(&mutex) == 0;
    held = attempt([] { pthread_mutex_lock(&mutex); });
    pthread_mutex_unlock(&mutex);
  });
  EXPECT_TRUE(free.started());
  EXPECT_EQ(undone.code(), 7);
  EXPECT_TRUE(still_free);
  EXPECT_EQ(held.word(), 0u);
}

TEST(Kernel, a_once_flag_rolls_back) {
  int calls = 0;
  simulate([&] {
    std::once_flag flag;
    for (int i = 0; i < 3; ++i) {
      attempt([&] {
        std::call_once(flag, [&] { ++calls; });
        if (i == 0) hardware::abort<1>();
      });
    }
  });
  EXPECT_EQ(calls, 1);
}

struct noted {
  static inline std::atomic<int> destroyed = 0;
  int value = 1;
  ~noted() { destroyed += value; }
};
thread_local noted local_object;

TEST(Kernel, what_a_thread_owns_rolls_back) {
  noted::destroyed = 0;
  void* seen[2] = {};
  simulate([&] {
    pthread_key_t key;
    pthread_key_create(&key, nullptr);
    std::thread([&] {
      static int first, second;
      std::list<long>(200);  // touches the memory that the destructor's registration will get
      pthread_setspecific(key, &first);
      attempt([&] {
        local_object.value = 10;  // constructed here
        pthread_setspecific(key, &second);
        hardware::abort<1>();
      });
      seen[0] = pthread_getspecific(key);
      attempt([&] {
        local_object.value += 100;  // and here anew
        pthread_setspecific(key, &second);
      });
      seen[1] = pthread_getspecific(key);
      EXPECT_EQ(seen[0], &first);
      EXPECT_EQ(seen[1], &second);
    }).join();
    pthread_key_delete(key);
  });
  EXPECT_EQ(noted::destroyed, 101);
}

TEST(Kernel, a_condition_variable_without_waiters_is_notified_in_a_transaction) {
  status notified(0), woken(1);
  simulate([&] {
    std::mutex mutex;
    std::condition_variable changed;
    bool ready = false;
    notified = attempt([&] { changed.notify_all(); });
    std::thread waiter([&] {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return ready; });
    });
    std::this_thread::sleep_for(1ms);
    woken = attempt([&] { changed.notify_all(); });
    {
      const std::lock_guard guard(mutex);
      ready = true;
    }
    changed.notify_all();
    waiter.join();
  });
  EXPECT_TRUE(notified.started());
  EXPECT_EQ(woken.word(), 0u);
}

TEST(Kernel, shows_the_models_cpus) {
  unsigned threads = 0;
  cpu_set_t set;
  unsigned cpu = 99;
  simulate([&] {
    threads = std::thread::hardware_concurrency();
    sched_getaffinity(0, sizeof set, &set);
    cpu_set_t last;
    CPU_ZERO(&last);
    CPU_SET(3, &last);
    pthread_setaffinity_np(pthread_self(), sizeof last, &last);
    sched_yield();
    cpu = static_cast<unsigned>(sched_getcpu());
  });
  EXPECT_EQ(threads, 4u);
  EXPECT_EQ(CPU_COUNT(&set), 4);
  EXPECT_EQ(cpu, 3u);
}

TEST(Kernel, membarrier_ends_other_cpus_transactions) {
  status other(1);
  simulate([&] {
    std::atomic<int> stage = 0;
    std::thread runs([&] {
      stage = 1;
      const status s = hardware::begin();
      if (s.started()) {
        for (int i = 0; i < 1000000; ++i) asm volatile("" ::: "memory");
        hardware::commit();
      }
      other = s;
    });
    while (stage == 0) {
    }
    std::this_thread::sleep_for(5us);
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    runs.join();
  });
  EXPECT_EQ(other.word(), 0u);
}

TEST(Clocks, show_virtual_time) {
  std::chrono::system_clock::time_point dates[2];
  std::chrono::nanoseconds slept{};
  for (auto& date : dates) {
    simulate([&] {
      date = std::chrono::system_clock::now();
      const auto start = std::chrono::steady_clock::now();
      std::this_thread::sleep_for(24h);
      slept = std::chrono::steady_clock::now() - start;
    });
  }
  EXPECT_EQ(dates[0], dates[1]);
  EXPECT_GE(slept, 24h);
  EXPECT_LT(slept, 24h + 1ms);
}

TEST(Clocks, run_on_between_threads) {
  bool back = false;
  simulate([&] {
    for (int i = 0; i < 20; ++i) {
      const auto before = std::chrono::steady_clock::now();
      std::thread([&] { back = back || std::chrono::steady_clock::now() < before; }).join();
    }
  });
  EXPECT_FALSE(back);
}

TEST(Kernel, gives_the_seeds_random_bytes) {
  unsigned numbers[2][3] = {};
  for (auto& each : numbers) {
    simulate([&] {
      getentropy(&each[0], sizeof each[0]);
      std::random_device device;
      each[1] = device();
      each[2] = device();
    });
  }
  EXPECT_NE(numbers[0][1], numbers[0][2]);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(numbers[0][i], numbers[1][i]);
}

/// Tests run at the same time, so each has a file of its own.
std::string file_of_this_test() {
  const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
  return testing::TempDir() + "unlatch_" + test->test_suite_name() + "_" + test->name();
}

TEST(Files, are_the_hosts) {
  const std::string path = file_of_this_test();
  std::string text(11, '.');
  struct stat about {};
  simulate([&] {
    const int out = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    EXPECT_EQ(write(out, "some text\n", 11), 11);
    EXPECT_EQ(fdatasync(out), 0);
    close(out);
    const int in = open(path.c_str(), O_RDONLY);
    EXPECT_EQ(pread(in, text.data(), 11, 0), 11);
    fstat(in, &about);
    close(in);
    std::FILE* const stream = std::fopen(path.c_str(), "a");
    std::fprintf(stream, "%d", 42);
    std::fclose(stream);
    unlink(path.c_str());
  });
  EXPECT_EQ(text, std::string("some text\n\0", 11));
  EXPECT_EQ(about.st_size, 11);
  EXPECT_EQ(access(path.c_str(), F_OK), -1);
}

TEST(Files, are_mapped_at_the_same_addresses_in_every_run) {
  const std::string path = file_of_this_test();
  void* places[2] = {};
  char first = 0;
  for (void*& place : places) {
    simulate([&] {
      const int file = open(path.c_str(), O_CREAT | O_TRUNC | O_RDWR, 0600);
      EXPECT_EQ(ftruncate(file, 10000), 0);
      EXPECT_EQ(pwrite(file, "x", 1, 5000), 1);
      place = mmap(nullptr, 10000, PROT_READ, MAP_SHARED, file, 0);
      first = static_cast<const char*>(place)[5000];
      munmap(place, 10000);
      close(file);
      unlink(path.c_str());
    });
  }
  EXPECT_EQ(first, 'x');
  EXPECT_EQ(places[0], places[1]);
}

TEST(Streams, abort_transactions_and_are_written_once) {
  const std::string path = file_of_this_test();
  status printed(1);
  long size = 0;
  simulate([&] {
    std::FILE* const stream = std::fopen(path.c_str(), "w");
    printed = attempt([&] { std::fprintf(stream, "lost"); });
    std::fputs("kept", stream);
    std::fclose(stream);
    struct stat about {};
    stat(path.c_str(), &about);
    size = about.st_size;
    std::remove(path.c_str());
  });
  EXPECT_EQ(printed.word(), 0u);
  EXPECT_EQ(size, 4);
}

TEST(Reclamation, frees_after_a_grace_period) {
  static int freed;
  freed = 0;
  int freed_at_once = -1;
  int freed_then = -1;
  simulate([&] {
    std::atomic<int> stage = 0;
    std::thread reader([&] {
      unlatch::reclamation::enter();
      stage = 1;
      std::this_thread::sleep_for(50ms);
      freed_at_once = freed;
      unlatch::reclamation::leave();
    });
    while (stage == 0) std::this_thread::yield();
    static int object;
    unlatch::reclamation::retire(&object, [](void*) { ++freed; });
    unlatch::reclamation::drain();
    freed_then = freed;
    reader.join();
  });
  EXPECT_EQ(freed_at_once, 0);
  EXPECT_EQ(freed_then, 1);
}

}  // namespace
