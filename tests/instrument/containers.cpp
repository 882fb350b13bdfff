// SPDX-License-Identifier: Apache-2.0
//
// The standard containers and smart pointers: every kind of change, undone.

#include <array>
#include <bitset>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "conformance.hpp"

namespace conformance {

namespace {

template <class Container, class Body>
void check(const char* name, const Container& before, Body body) {
  const auto cell = std::make_unique<Container>(before);
  rolls_back(
      name, [&] { body(*cell); }, [&] { return *cell == before; });
  const auto changed = std::make_unique<Container>(before);
  Container expected = before;
  body(expected);
  commits(
      name, [&] { body(*changed); }, [&] { return *changed == expected; });
}

std::string key(int i) { return "a key that is not small, number " + std::to_string(i); }

void sequences() {
  check("vector", std::vector<int>{1, 2, 3}, [](auto& v) {
    for (int i = 0; i < 100; ++i) v.push_back(i);
    v.erase(v.begin() + 7);
    v.insert(v.begin() + 1, 5, 9);
    v.shrink_to_fit();
  });
  check("vector of bool", std::vector<bool>(100, true), [](auto& v) {
    v.flip();
    v.resize(1000);
  });
  check("vector of strings", std::vector<std::string>(5, key(1)), [](auto& v) {
    v.emplace_back("x");
    v[2].clear();
    v.erase(v.begin());
  });
  check("deque", std::deque<int>{1, 2, 3}, [](auto& d) {
    for (int i = 0; i < 2000; ++i) (i % 3 != 0 ? d.push_front(i) : d.push_back(i));
    for (int i = 0; i < 100; ++i) d.pop_front();
  });
  check("list", std::list<int>{5, 3, 8, 1}, [](auto& l) {
    l.sort();
    l.reverse();
    std::list<int> other{1, 2};
    l.splice(l.begin(), other);
    l.erase(l.begin());
    l.unique();
  });
  check("forward_list", std::forward_list<int>{5, 3, 8, 1}, [](auto& l) {
    l.sort();
    l.push_front(4);
    l.erase_after(l.begin());
  });
  check("array and bitset", std::pair<std::array<int, 20>, std::bitset<200>>(), [](auto& both) {
    both.first.fill(7);
    both.second.set(150).flip();
  });
}

void trees() {
  std::map<int, int> numbers;
  for (int i = 0; i < 50; ++i) numbers[i] = i;
  check("map", numbers, [](auto& m) {
    for (int i = 10; i < 40; ++i) m.erase(i);
    m[1000] = 7;
    auto node = m.extract(7);
    node.key() = 700;
    m.insert(std::move(node));
    std::map<int, int> other{{900, 1}};
    m.merge(other);
  });
  check("map, cleared", numbers, [](auto& m) { m.clear(); });
  std::set<std::string> names;
  for (int i = 0; i < 20; ++i) names.insert(key(i));
  check("set of strings", names, [](auto& s) {
    for (int i = 0; i < 20; i += 2) s.erase(key(i));
    s.insert("z");
  });
  check("multimap", std::multimap<int, int>{{1, 1}, {1, 2}}, [](auto& m) { m.emplace(1, 3); });
}

void hash_tables() {
  std::unordered_map<std::string, int> counts;
  for (int i = 0; i < 20; ++i) counts[key(i)] = i;
  check("unordered_map", counts, [](auto& m) {
    for (int i = 15; i < 500; ++i) m[key(i)] = -i;
    m.erase(key(3));
  });
  check("unordered_map, rehashed", counts, [](auto& m) { m.rehash(5000); });
}

void pointers() {
  auto shared = std::make_shared<std::string>("x");
  std::weak_ptr<std::string> weak = shared;
  rolls_back(
      "shared_ptr, the last one dropped", [&] { shared.reset(); },
      [&] { return shared.use_count() == 1 && *weak.lock() == "x"; });
  rolls_back(
      "shared_ptr, copied",
      [&] {
        static auto other = shared;
        other = shared;
      },
      [&] { return shared.use_count() == 1; });
  std::weak_ptr<std::string> kept;
  rolls_back(
      "weak_ptr, locked and kept",
      [&] {
        kept = weak;
        *weak.lock() += "more";
      },
      [&] { return kept.expired() && *shared == "x" && shared.use_count() == 1; });
  auto unique = std::make_unique<std::string>(key(1));
  rolls_back(
      "unique_ptr", [&] { unique = std::make_unique<std::string>("y"); },
      [&] { return *unique == key(1); });
  const auto queue = std::make_unique<std::priority_queue<int>>();
  rolls_back(
      "priority_queue",
      [&] {
        for (int i = 0; i < 100; ++i) queue->push(i * 37 % 100);
        queue->pop();
      },
      [&] { return queue->empty(); });
}

}  // namespace

void containers() {
  sequences();
  trees();
  hash_tables();
  pointers();
}

}  // namespace conformance
