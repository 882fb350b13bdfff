// SPDX-License-Identifier: Apache-2.0
#include "unlatch/structures/mpsc_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "support/scripted_htm.hpp"

namespace unlatch {
namespace {

using testing::scripted;

struct task : mpsc_hook {
  explicit task(int n = 0) : number(n) {}
  int number;
};

// --- one thread, with and without transactions
// ----------------------------------------------------

template <class Htm>
class MpscQueue : public ::testing::Test {
 protected:
  MpscQueue() { scripted::play({}); }
};
using backends = ::testing::Types<htm::none, scripted>;
TYPED_TEST_SUITE(MpscQueue, backends);

TYPED_TEST(MpscQueue, answers_like_a_std_deque) {
  const auto seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  mpsc_queue<int, TypeParam> queue;
  std::deque<int> expected;
  for (int i = 0; i < 5000; ++i) {
    // Phases in which it grows and phases in which it is mostly empty.
    if (random() % 8 < (i / 500 % 2 == 0 ? 5u : 3u)) {
      queue.push(i);
      expected.push_back(i);
    } else {
      const auto first = queue.try_pop();
      ASSERT_EQ(first.has_value(), !expected.empty());
      if (first) {
        ASSERT_EQ(*first, expected.front());
        expected.pop_front();
      }
    }
    ASSERT_EQ(queue.empty(), expected.empty());
  }
}

TYPED_TEST(MpscQueue, takes_nodes_back_that_were_popped) {
  intrusive_mpsc_queue<task, TypeParam> queue;
  std::array<task, 3> tasks{task(0), task(1), task(2)};
  for (int round = 0; round < 10; ++round) {
    for (task& t : tasks) queue.push(t);
    for (task& t : tasks) EXPECT_EQ(queue.try_pop(), &t);
    EXPECT_EQ(queue.try_pop(), nullptr);
    queue.push(tasks[0]);
    EXPECT_EQ(queue.try_pop(), &tasks[0]);  // the last node is handed over entirely:
    queue.push(tasks[0]);                   // it may be pushed at once
    queue.push(tasks[1]);
    EXPECT_EQ(queue.try_pop(), &tasks[0]);
    EXPECT_EQ(queue.try_pop(), &tasks[1]);
    EXPECT_TRUE(queue.empty());
  }
}

TYPED_TEST(MpscQueue, moves_values_that_cannot_be_copied_and_destroys_what_is_left) {
  const auto watched = std::make_shared<int>(7);
  {
    mpsc_queue<std::shared_ptr<int>, TypeParam> queue;
    for (int i = 0; i < 5; ++i) queue.push(watched);
    EXPECT_EQ(queue.try_pop(), watched);
    EXPECT_EQ(watched.use_count(), 5);
  }
  EXPECT_EQ(watched.use_count(), 1);
  mpsc_queue<std::unique_ptr<int>, TypeParam> queue;
  queue.push(std::make_unique<int>(3));
  EXPECT_EQ(**queue.try_pop(), 3);
}

// --- how a push runs, on a scripted backend
// -------------------------------------------------------

class TransactionalMpscQueue : public ::testing::Test {
 protected:
  static constexpr unsigned attempts = intrusive_mpsc_queue<task, scripted>::attempts;

  intrusive_mpsc_queue<task, scripted> queue_;
  task first_{1}, second_{2};
};

TEST_F(TransactionalMpscQueue, pushes_in_one_transaction) {
  scripted::play({});
  queue_.push(first_);
  EXPECT_EQ(scripted::calls(), "bc");
  EXPECT_EQ(queue_.try_pop(), &first_);
}

TEST_F(TransactionalMpscQueue, attempts_again_after_an_abort) {
  scripted::play({testing::conflict, testing::capacity, testing::interrupt});
  queue_.push(first_);
  EXPECT_EQ(scripted::calls(), "xxxbc");
  EXPECT_EQ(queue_.try_pop(), &first_);
}

TEST_F(TransactionalMpscQueue, pushes_under_the_latch_when_all_attempts_have_aborted) {
  scripted::play({}, testing::conflict);
  queue_.push(first_);
  EXPECT_EQ(scripted::calls(), std::string(attempts, 'x'));
  queue_.push(second_);
  EXPECT_EQ(queue_.try_pop(), &first_);
  EXPECT_EQ(queue_.try_pop(), &second_);
  EXPECT_EQ(queue_.try_pop(), nullptr);
}

TEST_F(TransactionalMpscQueue, pops_without_transactions) {
  scripted::play({});
  queue_.push(first_);
  queue_.push(second_);
  scripted::play({});
  EXPECT_EQ(queue_.try_pop(), &first_);
  EXPECT_EQ(queue_.try_pop(), &second_);
  EXPECT_EQ(queue_.try_pop(), nullptr);
  EXPECT_EQ(scripted::calls(), "");
}

/// As scripted; its abort() calls a function.
struct scripted_with_abort : scripted {
  static inline std::function<void()> at_abort;
  template <std::uint8_t Code>
  static htm::status abort() {
    at_abort();
    return scripted::abort<Code>();
  }
};

/// A queue whose latch another thread seems to hold when the test says so.
class latched_queue : public intrusive_mpsc_queue<task, scripted_with_abort> {
 public:
  void take_latch() { latch_.store(true); }
  void release_latch() { latch_.store(false); }
  bool is_latched() const { return latch_.load(); }
};

TEST_F(TransactionalMpscQueue, aborts_a_transaction_that_finds_the_latch_held) {
  latched_queue queue;
  scripted::play({});
  scripted::in_next_transaction([&] { queue.take_latch(); });
  scripted_with_abort::at_abort = [&] { queue.release_latch(); };
  queue.push(first_);
  EXPECT_EQ(scripted::calls(), "babc");
  EXPECT_EQ(queue.try_pop(), &first_);
  EXPECT_EQ(queue.try_pop(), nullptr);
}

TEST_F(TransactionalMpscQueue, does_not_begin_while_the_latch_is_held) {
  latched_queue queue;
  queue.take_latch();
  std::thread holder([&] { queue.release_latch(); });
  scripted::play({});
  scripted::in_next_transaction([&] { EXPECT_FALSE(queue.is_latched()); });
  queue.push(first_);
  holder.join();
  EXPECT_EQ(scripted::calls(), "bc");
  EXPECT_EQ(queue.try_pop(), &first_);
}

// --- between a producer's two stores
// --------------------------------------------------------------

/// Its commit() calls a function: then the node is the last one, but is not linked yet.
struct committing : scripted {
  static inline std::function<void()> at_commit;
  static void commit() {
    scripted::commit();
    if (at_commit) std::exchange(at_commit, nullptr)();
  }
};

TEST(MpscQueueLink, is_awaited_by_the_consumer) {
  for (const bool starts_empty : {true, false}) {
    intrusive_mpsc_queue<task, committing> queue;
    task first(1), second(2);
    scripted::play({});
    if (!starts_empty) queue.push(first);
    std::vector<task*> popped;
    std::thread consumer;
    std::atomic<bool> has_popped{false};
    committing::at_commit = [&] {
      EXPECT_FALSE(queue.empty());
      consumer = std::thread([&] {
        popped.push_back(queue.try_pop());
        if (!starts_empty) popped.push_back(queue.try_pop());
        has_popped = true;
      });
      // Time enough for a consumer that does not wait to return with too little.
      for (int i = 0; i < 2000 && !has_popped; ++i) std::this_thread::yield();
      EXPECT_FALSE(has_popped);
    };
    queue.push(second);
    consumer.join();
    EXPECT_EQ(popped, starts_empty ? std::vector{&second} : (std::vector{&first, &second}));
    EXPECT_TRUE(queue.empty());
  }
}

// --- the memory of values ------------------------------------------------------------------------

/// Fills several blocks, and a part of another.
constexpr int several_blocks = 3 * detail::value_block<int>::entries + 7;

TEST(MpscQueueMemory, outlives_the_thread_that_pushed) {
  mpsc_queue<int> queue;
  std::thread([&] {
    for (int i = 0; i < several_blocks; ++i) queue.push(i);
  }).join();
  for (int i = 0; i < several_blocks; ++i) ASSERT_EQ(queue.try_pop(), i);
  EXPECT_EQ(queue.try_pop(), std::nullopt);
}

TEST(MpscQueueMemory, serves_several_queues_at_once) {
  mpsc_queue<int> stays;
  {
    mpsc_queue<int> ends;
    for (int i = 0; i < several_blocks; ++i) (i % 2 == 0 ? stays : ends).push(i);
    EXPECT_EQ(ends.try_pop(), 1);
  }
  for (int i = 0; i < several_blocks; i += 2) ASSERT_EQ(stays.try_pop(), i);
  EXPECT_TRUE(stays.empty());
}

TEST(MpscQueueMemory, serves_a_push_at_the_end_of_a_thread) {
  mpsc_queue<int> queue;
  struct pushing_late {
    mpsc_queue<int>* to = nullptr;
    ~pushing_late() {
      to->push(2);
      to->push(3);
    }
  };
  std::thread([&] {
    // Constructed before the thread has a block: destroyed after it has given back the rest.
    static thread_local pushing_late late;
    late.to = &queue;
    queue.push(1);
  }).join();
  for (const int expected : {1, 2, 3}) EXPECT_EQ(queue.try_pop(), expected);
  EXPECT_TRUE(queue.empty());
}

/// A value that says whether it was ever put where its type may not be.
template <std::size_t Alignment, std::size_t Size>
struct alignas(Alignment) placed {
  explicit placed(int n) : number(n) {}
  placed(placed&& other) noexcept
      : number(other.number),
        well(other.well && reinterpret_cast<std::uintptr_t>(this) % Alignment == 0) {}
  int number;
  bool well = true;
  std::array<char, Size> rest{};
};

template <class T>
class MpscQueueOf : public ::testing::Test {};
using sizes_and_alignments =
    ::testing::Types<placed<4, 1>, placed<16, 24>, placed<128, 1>, placed<8, 490>, placed<8, 5000>>;
TYPED_TEST_SUITE(MpscQueueOf, sizes_and_alignments);

TYPED_TEST(MpscQueueOf, values_of_any_size_and_alignment) {
  mpsc_queue<TypeParam> queue;
  for (int i = 0; i < 100; ++i) queue.push(TypeParam(i));
  for (int i = 0; i < 100; ++i) {
    const auto first = queue.try_pop();
    ASSERT_TRUE(first && first->well);
    ASSERT_EQ(first->number, i);
  }
}

// --- under load ----------------------------------------------------------------------------------

/// All transactions abort, so that every push and the consumer meet at the latch.
struct always_aborting : htm::none {
  static bool available() noexcept { return true; }
};

template <class Htm>
class MpscQueueUnderLoad : public ::testing::Test {};
using parallel_backends = ::testing::Types<htm::none, always_aborting, htm::hardware>;
TYPED_TEST_SUITE(MpscQueueUnderLoad, parallel_backends);

TYPED_TEST(MpscQueueUnderLoad, loses_nothing_and_keeps_each_producers_order) {
  constexpr int producers = 3, each = 20'000;
  mpsc_queue<std::array<int, 2>, TypeParam> queue;
  std::vector<std::thread> running;
  for (int producer = 0; producer < producers; ++producer)
    running.emplace_back([&, producer] {
      for (int i = 0; i < each; ++i) queue.push({producer, i});
    });
  std::array<int, producers> next{};
  int out_of_order = 0;
  for (int popped = 0; popped < producers * each;)
    if (const auto value = queue.try_pop()) {
      out_of_order += next[(*value)[0]]++ != (*value)[1];
      ++popped;
    } else {
      std::this_thread::yield();
    }
  for (auto& r : running) r.join();
  EXPECT_EQ(out_of_order, 0);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace unlatch
