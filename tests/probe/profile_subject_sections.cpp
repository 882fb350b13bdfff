// SPDX-License-Identifier: Apache-2.0
//
// Sections with one cause each for eliding them or not. The lock of all of them is contended: the
// first thread sleeps some times while it holds it and the other one waits.
#include <cpuid.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "profile_subject.hpp"

namespace {

struct alignas(64) padded {
  volatile long value;
};
struct alignas(64) lock_with_data {
  pthread_mutex_t mutex;
  volatile long in_front;
  volatile long behind;
};
struct alignas(64) lines {
  std::array<volatile char, 64 * 600> bytes;
};

}  // namespace

// Variables whose names the tests look for, each on lines of its own.
alignas(64) pthread_mutex_t section_lock = PTHREAD_MUTEX_INITIALIZER;
alignas(64) pthread_mutex_t inner_lock = PTHREAD_MUTEX_INITIALIZER;
alignas(64) lock_with_data crowded_lock = {PTHREAD_MUTEX_INITIALIZER, 0, 0};
alignas(64) volatile long shared_counter = 0;
alignas(64) std::array<volatile long, 8> neighbours{};
alignas(64) std::array<padded, 2> apart{};
alignas(64) std::array<lines, 2> many_lines{};

namespace unlatch::probe::testing {
namespace {

constexpr int sections = 40'000;

/// Fewer than are looked into at all.
constexpr int meetings = 7;

void meet(int me, pthread_mutex_t* lock, std::barrier<>& both) {
  for (int i = 0; i < meetings; ++i) {
    if (me == 1) both.arrive_and_wait();
    pthread_mutex_lock(lock);
    if (me == 0) {
      both.arrive_and_wait();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    pthread_mutex_unlock(lock);
    both.arrive_and_wait();
  }
}

template <class Body>
void run_thread(int me, int count, pthread_mutex_t* lock, std::barrier<>& both, Body body) {
  meet(me, lock, both);
  for (int i = 0; i < count; ++i) {
    pthread_mutex_lock(lock);
    body(me);
    pthread_mutex_unlock(lock);
  }
}

/// Both threads execute `body`, whose argument is 0 or 1, in sections.
template <class Body>
bool contend(Body body, int count = sections, pthread_mutex_t* lock = &section_lock) {
  std::barrier both(2);
  std::thread other([=, &both] { run_thread(1, count, lock, both, body); });
  run_thread(0, count, lock, both, body);
  other.join();
  return true;
}

[[gnu::noinline]] void count_apart(int me) { apart[me].value = apart[me].value + 1; }
[[gnu::noinline]] void count_together(int) { shared_counter = shared_counter + 1; }
[[gnu::noinline]] void count_nearby(int me) { neighbours[me] = neighbours[me] + 1; }
[[gnu::noinline]] void write_many_lines(int me) {
  for (int i = 0; i < 600; ++i) many_lines[me].bytes[64 * i] = 1;
}
[[gnu::noinline]] void ask_for_the_parent(int) { syscall(SYS_getppid); }
[[gnu::noinline]] void ask_the_cpu(int) {
  unsigned eax, ebx, ecx, edx;
  __cpuid(0, eax, ebx, ecx, edx);
}
[[gnu::noinline]] void count_beside_the_lock(int me) {
  (me == 0 ? crowded_lock.in_front : crowded_lock.behind) = 1;
}
[[gnu::noinline]] void take_inner(int me) {
  pthread_mutex_lock(&inner_lock);
  apart[me].value = apart[me].value + 1;
  pthread_mutex_unlock(&inner_lock);
}
[[gnu::noinline]] void allocate(int) {
  void* volatile memory = std::malloc(100);
  std::free(memory);
}
[[gnu::noinline]] void throw_and_catch(int me) {
  try {
    if (me >= 0) throw me;
  } catch (int) {
    count_apart(me);
  }
}

/// Each section writes to a page that it has not written to before.
bool touches_new_pages() {
  constexpr std::size_t page = 4096;
  constexpr int count = 4000;
  auto* const pages = static_cast<char*>(
      mmap(nullptr, 2 * count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  static thread_local std::size_t next = 0;
  return contend([pages](int me) { pages[(me * count + next++) * page] = 1; }, count);
}

bool is_left_in_peace() {
  for (int i = 0; i < 1000; ++i) {
    pthread_mutex_lock(&section_lock);
    count_together(0);
    pthread_mutex_unlock(&section_lock);
  }
  return shared_counter == 1000;
}

bool takes_two_locks() { return contend(take_inner) && apart[0].value == sections; }

}  // namespace

profiled_cases section_cases() {
  return {
      {"counts_apart", [] { return contend(count_apart) && apart[1].value == sections; }},
      {"counts_together", [] { return contend(count_together) && shared_counter == 2 * sections; }},
      {"counts_nearby", [] { return contend(count_nearby) && neighbours[1] == sections; }},
      {"writes_many_lines", [] { return contend(write_many_lines, 10'000); }},
      {"makes_system_calls", [] { return contend(ask_for_the_parent); }},
      {"asks_the_cpu", [] { return contend(ask_the_cpu, 5000); }},
      {"counts_beside_the_lock",
       [] { return contend(count_beside_the_lock, sections, &crowded_lock.mutex); }},
      {"takes_two_locks", takes_two_locks},
      {"allocates", [] { return contend(allocate); }},
      {"throws", [] { return contend(throw_and_catch, 10'000); }},
      {"touches_new_pages", touches_new_pages},
      {"is_left_in_peace", is_left_in_peace}};
}

}  // namespace unlatch::probe::testing
