// SPDX-License-Identifier: Apache-2.0
//
// The workloads in GCC's transactions (libitm). Compiled on their own, because -fgnu-tm is for them
// only.
#pragma once

#include <memory>

#include "bench/elide/workloads.hpp"

namespace unlatch::bench {

work itm_work(std::shared_ptr<hash_table> map, std::uint64_t keys, std::uint64_t reads_percent);
work itm_work(std::shared_ptr<tree> map, std::uint64_t keys, std::uint64_t reads_percent);
work itm_work(std::shared_ptr<bank> accounts, std::uint64_t sums_percent);

}  // namespace unlatch::bench
