// SPDX-License-Identifier: Apache-2.0
#include "bench/elide/itm.hpp"

namespace unlatch::bench {
namespace {

/// Plain accesses; the compiler makes transactional ones of them.
struct itm_access : plain_tx {};

struct itm_sections {
  template <class Body>
  auto read(Body&& body) {
    return update(std::forward<Body>(body));
  }
  template <class Body>
  auto update(Body&& body) {
    itm_access tx;
    decltype(body(tx)) result;
    __transaction_atomic { result = body(tx); }
    return result;
  }
};

}  // namespace

work itm_work(std::shared_ptr<hash_table> map, std::uint64_t keys, std::uint64_t reads_percent) {
  return map_work(std::move(map), std::make_shared<itm_sections>(), keys, reads_percent);
}

work itm_work(std::shared_ptr<tree> map, std::uint64_t keys, std::uint64_t reads_percent) {
  return map_work(std::move(map), std::make_shared<itm_sections>(), keys, reads_percent);
}

work itm_work(std::shared_ptr<bank> accounts, std::uint64_t sums_percent) {
  return bank_work(std::move(accounts), std::make_shared<itm_sections>(), sums_percent);
}

}  // namespace unlatch::bench
