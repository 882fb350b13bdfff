// SPDX-License-Identifier: Apache-2.0
#include "src/probe/recorder/process.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include "src/probe/engine/system_calls.hpp"
#include "src/probe/recorder/file.hpp"
#include "src/probe/recorder/modules.hpp"
#include "src/probe/recorder/process_memory.hpp"
#include "src/probe/recorder/sampling.hpp"

namespace unlatch::probe::recorder {
namespace {

using engine::system_call;

process_memory* memory;
thread_local bool claiming;

/// Says when a thread ends. 0 is a valid key, so it is kept one higher; 0: there is none.
pthread_key_t end_of_thread_plus_1;

/// Memory that is zero in a child. The program's limits on memory may refuse it.
void* memory_of_this_process(std::uint64_t bytes) noexcept {
  const long at = system_call(SYS_mmap, 0L, bytes, long{PROT_READ | PROT_WRITE},
                              long{MAP_PRIVATE | MAP_ANONYMOUS}, -1L, 0L);
  if (at < 0 && at > -4096) return nullptr;
  if (system_call(SYS_madvise, at, bytes, long{MADV_WIPEONFORK}) == 0) {
    return reinterpret_cast<void*>(at);
  }
  system_call(SYS_munmap, at, bytes);
  return nullptr;
}

void end_recording_of(void* thread) noexcept {
  auto* const ending = static_cast<recorded_thread*>(thread);
  recorded = nullptr;
  ending->held_count = 0;
  abandon_sample(*ending);
  ending->in_use.store(0, std::memory_order_release);
}

/// A thread's data is set without allocating only under the first keys (glibc's first level).
void make_key() noexcept {
  constexpr pthread_key_t keys_without_allocation = 32;
  pthread_key_t key = 0;
  if (pthread_key_create(&key, end_recording_of) != 0) return;
  if (key < keys_without_allocation) {
    end_of_thread_plus_1 = key + 1;
  } else {
    pthread_key_delete(key);
  }
}

void start_process() noexcept {
  std::uint32_t expected = process_memory::not_started;
  if (!memory->state.compare_exchange_strong(expected, process_memory::starting)) return;
  memory->number = static_cast<std::uint32_t>(header().processes.fetch_add(1)) + 1;
  note_modules();
  memory->state.store(process_memory::started, std::memory_order_release);
}

recorded_thread* reuse_ended() noexcept {
  for (auto* each = memory->threads.load(std::memory_order_acquire); each != nullptr;
       each = each->next) {
    std::uint32_t free = 0;
    if (each->in_use.load(std::memory_order_relaxed) == 0 &&
        each->in_use.compare_exchange_strong(free, 1, std::memory_order_acquire)) {
      return each;
    }
  }
  return nullptr;
}

recorded_thread* make_new() noexcept {
  auto* const made = static_cast<recorded_thread*>(memory_of_this_process(sizeof(recorded_thread)));
  if (made == nullptr) {
    header().lost_threads.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  made->in_use.store(1, std::memory_order_relaxed);
  made->next = memory->threads.load(std::memory_order_relaxed);
  while (!memory->threads.compare_exchange_weak(made->next, made, std::memory_order_release)) {
  }
  return made;
}

recorded_thread* claim() noexcept {
  if (memory->state.load(std::memory_order_acquire) == process_memory::not_started) start_process();
  if (memory->state.load(std::memory_order_acquire) != process_memory::started) return nullptr;
  recorded_thread* mine = reuse_ended();
  if (mine == nullptr) mine = make_new();
  if (mine == nullptr) return nullptr;
  mine->number = memory->thread_count.fetch_add(1, std::memory_order_relaxed) + 1;
  recorded = mine;
  if (end_of_thread_plus_1 != 0) pthread_setspecific(end_of_thread_plus_1 - 1, mine);
  return mine;
}

}  // namespace

process_memory& this_process() noexcept { return *memory; }

std::uint32_t process_number() noexcept { return memory->number; }

void start_recording(const char* path) noexcept {
  if (!open_recording(path)) return;
  make_key();
  auto* const made = static_cast<process_memory*>(memory_of_this_process(sizeof(process_memory)));
  if (made == nullptr) {
    engine::complain("no memory for the recorder, or a kernel before 4.14: nothing is recorded");
    return;
  }
  __atomic_store_n(&memory, made, __ATOMIC_RELEASE);
  claiming = true;
  start_process();
  prepare_sampling();
  claiming = false;
}

recorded_thread* new_thread() noexcept {
  if (claiming || __atomic_load_n(&memory, __ATOMIC_ACQUIRE) == nullptr) return nullptr;
  claiming = true;
  recorded_thread* const mine = claim();
  claiming = false;
  return mine;
}

}  // namespace unlatch::probe::recorder
