// SPDX-License-Identifier: Apache-2.0
#include "studies/window.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace unlatch::studies {
namespace {

using std::chrono::milliseconds;

TEST(Window, adds_up_what_every_thread_counted) {
  window during(milliseconds(5));
  std::vector<std::uint64_t> counted(3);
  const auto measured = during.run(3, {}, [&](unsigned thread) {
    counted[thread] = count_operations(during, [] {});
    return counted[thread];
  });
  EXPECT_EQ(measured.ops, counted[0] + counted[1] + counted[2]);
  EXPECT_GT(measured.ops, 0);
  EXPECT_GT(measured.seconds, 0);
  EXPECT_TRUE(measured.context_switches);
}

TEST(Window, counts_nothing_while_it_warms_up) {
  window during(milliseconds(5));
  std::atomic<std::uint64_t> all{0};
  const auto measured = during.run(1, {}, [&](unsigned) {
    return count_operations(during, [&] { all.fetch_add(1, std::memory_order_relaxed); });
  });
  EXPECT_LE(measured.ops, all.load());
  EXPECT_FALSE(during.warming());
  EXPECT_FALSE(during.counting());
}

TEST(Window, ends_all_threads_and_throws_when_a_stop_is_requested) {
  std::stop_source stop;
  window during(std::chrono::hours(1));
  std::atomic<int> running{0};
  EXPECT_THROW(during.run(2, stop.get_token(),
                          [&](unsigned) {
                            if (++running == 2) stop.request_stop();
                            const auto count = count_operations(during, [] {});
                            --running;
                            return count;
                          }),
               interrupted);
  EXPECT_EQ(running, 0);
}

TEST(Window, passes_on_what_a_worker_throws) {
  window during(milliseconds(1));
  EXPECT_THROW(during.run(2, {},
                          [&](unsigned thread) -> std::uint64_t {
                            if (thread == 1) throw study_error("wrong");
                            return count_operations(during, [] {});
                          }),
               study_error);
}

}  // namespace
}  // namespace unlatch::studies
