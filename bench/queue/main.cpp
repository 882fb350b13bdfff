// SPDX-License-Identifier: Apache-2.0
//
// mpsc_queue against the queues that others ship. Operations are items that went through.
#include <memory>
#include <thread>
#include <vector>

#include "bench/harness/session.hpp"
#include "bench/queue/queues.hpp"

namespace unlatch::bench {
namespace {

constexpr std::size_t items_of_a_producer = 1024;

void wait_a_little(unsigned& looks) {
  if (++looks % 64 != 0)
    cpu_relax();
  else
    std::this_thread::yield();  // where threads outnumber CPUs the other side may need this one
}

/// A queue, and the items of its producers: each goes round through the queue, which bounds it.
template <class Queue>
struct line {
  explicit line(unsigned producers) {
    for (unsigned i = 0; i < producers; ++i)
      items.push_back(std::make_unique<item[]>(items_of_a_producer));
    next.resize(producers);
  }

  struct alignas(cache_line) place {
    std::size_t index = 0;
  };

  Queue queue;
  std::vector<std::unique_ptr<item[]>> items;
  std::vector<place> next;  ///< of each producer
};

/// One thread pushes `batch` items and pops them again.
template <class Queue>
work alone(std::size_t batch) {
  auto shared = std::make_shared<line<Queue>>(1);
  return [=](unsigned, const window_state& window) {
    line<Queue>& l = *shared;
    item* const items = l.items[0].get();
    return batch * repeat(window, [&] {
             for (std::size_t i = 0; i < batch; ++i) l.queue.push(items[i]);
             for (std::size_t i = 0; i < batch; ++i) asm volatile("" : : "r"(l.queue.try_pop()));
           });
  };
}

/// Thread 0 pops, the others push.
template <class Queue>
work streaming(unsigned producers) {
  auto shared = std::make_shared<line<Queue>>(producers);
  return [=](unsigned thread, const window_state& window) -> std::uint64_t {
    line<Queue>& l = *shared;
    unsigned looks = 0;
    if (thread != 0) {
      std::size_t& next = l.next[thread - 1].index;
      item* const items = l.items[thread - 1].get();
      repeat(window, [&] {
        item& one = items[next % items_of_a_producer];
        if (one.queued.load(std::memory_order_acquire)) return wait_a_little(looks);
        one.queued.store(true, std::memory_order_relaxed);
        l.queue.push(one);
        ++next;
      });
      return 0;
    }
    std::uint64_t popped = 0;
    const auto pop = [&] {
      item* const one = l.queue.try_pop();
      if (one == nullptr) return wait_a_little(looks);
      one->queued.store(false, std::memory_order_release);
      ++popped;
    };
    while (window.warming()) pop();
    popped = 0;
    while (window.counting()) pop();
    return popped;
  };
}

/// All queues; `in(queue type)` makes the work of one.
template <class Make>
std::vector<peer> intrusive_queues(Make make) {
  std::vector<peer> peers = {
      {"intrusive_mpsc_queue", make.template operator()<intrusive_unlatch_queue>()}};
#if UNLATCH_BENCH_WFCQUEUE
  peers.push_back({"liburcu wfcqueue", make.template operator()<urcu_queue>()});
  peers.push_back(control_of(peers.back()));
#endif
  return peers;
}

template <class Make>
std::vector<peer> value_queues(Make make) {
  std::vector<peer> peers = {{"mpsc_queue", make.template operator()<unlatch_queue>()}};
#if UNLATCH_BENCH_TBB
  peers.push_back({"tbb::concurrent_queue", make.template operator()<tbb_queue>()});
  peers.push_back(control_of(peers.back()));
#endif
#if UNLATCH_BENCH_MOODYCAMEL
  peers.push_back({"moodycamel", make.template operator()<moodycamel_queue>()});
  peers.push_back(control_of(peers.back()));
#endif
  return peers;
}

/// `ours` against every other peer: at least equal, but for what the control shows to be noise.
void measure(session& run, std::string name, unsigned threads, std::vector<peer> peers) {
  cell one{.case_name = std::move(name), .threads = threads, .peers = std::move(peers)};
  std::vector<std::string> others;
  for (const auto& other : one.peers)
    if (&other != &one.peers.front() && !other.name.ends_with(control_suffix))
      others.push_back(other.name);
  one.targets = {{one.peers.front().name, others, 0.97}};
  one.references = others.empty() ? std::vector{one.peers.front().name} : others;
  run.measure(one);
}

template <class Make>
void measure_both(session& run, const std::string& name, unsigned threads, Make make) {
  measure(run, "nodes, " + name, threads, intrusive_queues(make));
  measure(run, "values, " + name, threads, value_queues(make));
}

}  // namespace
}  // namespace unlatch::bench

int main(int argc, char** argv) {
  using namespace unlatch::bench;
  options defaults;
  defaults.threads = {4};
  session run("queue", "mpsc_queue against the queues of others", defaults, argc, argv);
  for (const std::size_t batch : {std::size_t{1}, std::size_t{64}})
    measure_both(run, "push " + std::to_string(batch) + ", pop " + std::to_string(batch), 1,
                 [&]<class Queue> { return alone<Queue>(batch); });
  for (const unsigned producers : {1u, 3u})
    measure_both(run, std::to_string(producers) + " producing, 1 consuming", producers + 1,
                 [&]<class Queue> { return streaming<Queue>(producers); });
  return run.finish();
}
