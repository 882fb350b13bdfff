// SPDX-License-Identifier: Apache-2.0
//
// Two threads move money between two accounts in opposite directions; none may be made or lost.

#include <cstdio>
#include <mutex>
#include <thread>
#include <unlatch/unlatch.hpp>

namespace {

struct account {
  unlatch::elided<unlatch::mutex> mutex;
  long balance = 1000;
};

void transfer(account& from, account& to, int times) {
  for (int i = 0; i < times; ++i) {
    std::scoped_lock section(from.mutex, to.mutex);
    --from.balance;
    ++to.balance;
  }
}

}  // namespace

int main() {
  account a;
  account b;
  std::thread there([&] { transfer(a, b, 10000); });
  std::thread back([&] { transfer(b, a, 9000); });
  there.join();
  back.join();
  std::printf("%ld %ld\n", a.balance, b.balance);
  return a.balance == 0 && b.balance == 2000 ? 0 : 1;
}
