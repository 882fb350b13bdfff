// SPDX-License-Identifier: Apache-2.0
#include "unlatch/reclamation.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "speculating_lock.hpp"

namespace unlatch {
namespace {

std::atomic<int> freed{0};

struct counted {
  ~counted() { freed.fetch_add(1); }
};

void retire_one() {
  reclamation::retire(new counted, [](void* p) { delete static_cast<counted*>(p); });
}

TEST(Reclamation, frees_everything_by_the_end_of_drain) {
  freed = 0;
  for (int i = 0; i < 1000; ++i) retire_one();
  reclamation::drain();
  EXPECT_EQ(freed, 1000);
}

TEST(Reclamation, frees_nothing_while_a_stretch_that_began_before_is_open) {
  freed = 0;
  std::atomic<int> step{0};
  std::thread reader([&] {
    const reclamation::stretch open;
    step = 1;
    while (step != 2) std::this_thread::yield();
  });
  while (step != 1) std::this_thread::yield();
  for (int i = 0; i < 600; ++i) retire_one();  // more than two batches
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
  for (int i = 0; i < 256; ++i) retire_one();
  EXPECT_EQ(freed, 0);
  step = 2;
  reader.join();
  reclamation::drain();
  EXPECT_EQ(freed, 856);
}

TEST(Reclamation, frees_what_a_thread_left_behind) {
  freed = 0;
  std::thread([] {
    for (int i = 0; i < 300; ++i) retire_one();
  }).join();
  // The barrier inside drain() waits for every hand-over that came before it.
  reclamation::drain();
  EXPECT_EQ(freed, 300);
}

TEST(Reclamation, keeps_an_object_that_a_section_unlinked_until_speculating_readers_are_done) {
  using namespace testing;
  struct node {
    std::uint64_t value = 42;
    ~node() { value = 0; }
  };
  speculating_lock lock{"unlink"};
  warm_up(lock);
  auto* head = new node;
  bool unlinked = false;
  const auto seen = elide(lock, [&](auto& tx) -> std::uint64_t {
    node* const mine = tx.read(head);
    if (mine == nullptr) return 0;
    if (!unlinked) {
      unlinked = true;
      std::thread([&] {
        elide(lock, [&](auto& writer) {
          node* const first = writer.read(head);
          writer.write(head, nullptr);
          writer.retire(first);
        });
      }).join();
      EXPECT_EQ(mine->value, 42u) << "freed under a reader's feet";
    }
    return tx.read(mine->value);
  });
  EXPECT_EQ(seen, 0u) << "the second run sees the list without the node";
  reclamation::drain();
}

}  // namespace
}  // namespace unlatch
