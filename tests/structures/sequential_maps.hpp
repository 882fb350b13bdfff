// SPDX-License-Identifier: Apache-2.0
//
// The sequential maps as test types, and access objects that watch them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

#include "unlatch/structures/hash_map.hpp"
#include "unlatch/structures/list.hpp"
#include "unlatch/structures/plain_tx.hpp"
#include "unlatch/structures/red_black_tree.hpp"
#include "unlatch/structures/skip_list.hpp"

namespace unlatch::testing {

using model = std::map<std::int64_t, std::int64_t>;

/// Few buckets, so that chains are long.
struct small_hash_map : basic_hash_map<std::int64_t, std::int64_t> {
  small_hash_map() : basic_hash_map(8) {}
};
using sequential_maps = ::testing::Types<small_hash_map, basic_list<std::int64_t, std::int64_t>,
                                         basic_skip_list<std::int64_t, std::int64_t>,
                                         basic_red_black_tree<std::int64_t, std::int64_t>>;

/// Counts what a section does.
struct counting_tx : plain_tx {
  template <class T>
  void write(T& x, const std::type_identity_t<T>& value) {
    ++writes;
    plain_tx::write(x, value);
  }
  template <class T, class... Args>
  T* allocate(Args&&... args) {
    ++allocated;
    return plain_tx::allocate<T>(std::forward<Args>(args)...);
  }
  template <class T>
  void retire(T* object) {
    ++retired;
    plain_tx::retire(object);
  }

  std::size_t writes = 0;
  std::size_t allocated = 0;
  std::size_t retired = 0;
};

/// Remembers what fields were before the section, so that the change of one can be taken back;
/// keeps what was retired; and gives up in a structure that has become endless.
class recording_tx : public plain_tx {
 public:
  struct endless : std::runtime_error {
    endless() : runtime_error("a walk does not end") {}
  };

  /// A field that was written. The section is over.
  class change {
   public:
    template <class T>
    explicit change(T& x) : field_(&x), size_(sizeof(T)) {
      static_assert(sizeof(T) <= sizeof(other_));
      std::memcpy(other_.data(), field_, size_);
    }
    bool changes_anything() const { return std::memcmp(other_.data(), field_, size_) != 0; }
    /// The first call takes the change back, the next one makes it again.
    void swap() {
      auto now = other_;
      std::memcpy(now.data(), field_, size_);
      std::memcpy(field_, other_.data(), size_);
      other_ = now;
    }

   private:
    void* field_;
    std::size_t size_;
    std::array<std::byte, 8> other_;
  };

  ~recording_tx() {
    for (const auto& free_node : retired_) free_node();
  }

  template <class T>
  std::remove_const_t<T> read(const T& x) {
    if (++reads_ > 100'000) throw endless();
    return x;
  }
  template <class T>
  void write(T& x, const std::type_identity_t<T>& value) {
    changes_.try_emplace(&x, x);
    x = value;
  }
  template <class T>
  void retire(T* object) {
    retired_.push_back([object] { delete object; });
  }

  std::map<void*, change>& changes() { return changes_; }

 private:
  std::map<void*, change> changes_;
  std::vector<std::function<void()>> retired_;
  std::size_t reads_ = 0;
};

/// What for_each() visits.
template <class Tx, class Map>
model content(Tx& tx, const Map& map) {
  model all;
  map.for_each(tx, [&](std::int64_t key, std::int64_t value) {
    if (!all.emplace(key, value).second) ADD_FAILURE() << "for_each visits key " << key << " twice";
  });
  return all;
}

}  // namespace unlatch::testing
