// SPDX-License-Identifier: Apache-2.0
//
// map_entry: a key and its value, as the maps' for_each() copy them out of a section.
#pragma once

namespace unlatch {

template <class K, class V>
struct map_entry {
  K key;
  V value;
};

}  // namespace unlatch
