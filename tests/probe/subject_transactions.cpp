// SPDX-License-Identifier: Apache-2.0
#include <cpuid.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "subject.hpp"

namespace unlatch::probe::testing {
namespace {

volatile long value = 1;
volatile long zero = 0;

bool commits() {
  if (aborted_with(_xbegin())) return false;
  value = 2;
  _xend();
  return value == 2;
}

bool aborts_explicitly() {
  const unsigned status = _xbegin();
  if (status == _XBEGIN_STARTED) {
    value = 99;
    _xabort(0x42);
  }
  return aborted_with(status) && value == 1;
}

bool tests() {
  const bool before = _xtest();
  volatile bool inside = false;
  if (_xbegin() != _XBEGIN_STARTED) return false;
  inside = _xtest();
  _xend();
  const bool after = _xtest();
  _xabort(7);  // outside of a transaction: nothing
  return !before && inside && !after;
}

template <int Depth>
unsigned nest() {
  const unsigned status = _xbegin();
  if (status != _XBEGIN_STARTED) return status;
  value = value + 1;
  if constexpr (Depth > 1) {
    // An abort in there comes back to the outermost begin.
    static_cast<void>(nest<Depth - 1>());
  }
  _xend();
  return _XBEGIN_STARTED;
}

bool nests_seven_deep() { return !aborted_with(nest<7>()) && value == 8; }
bool nests_eight_deep() { return aborted_with(nest<8>()) && value == 1; }

bool aborts_in_a_nested_transaction() {
  const unsigned status = _xbegin();
  if (status == _XBEGIN_STARTED) {
    value = 5;
    if (_xbegin() == _XBEGIN_STARTED) _xabort(3);
    _xend();
  }
  return aborted_with(status) && value == 1;
}

/// Whether a transaction that does `act` aborts, and what it wrote before is undone.
template <class Act>
[[gnu::always_inline]] inline bool is_undone(Act act) {
  const unsigned status = _xbegin();
  if (status == _XBEGIN_STARTED) {
    value = 3;
    act();
    _xend();
  }
  return aborted_with(status) && value == 1;
}

bool makes_a_system_call() {
  return is_undone([] {
    long result = 39;  // getpid
    asm volatile("syscall" : "+a"(result)::"rcx", "r11", "memory");
  });
}

bool pauses() {
  return is_undone([] { _mm_pause(); });
}

bool asks_cpuid() {
  return is_undone([] {
    unsigned leaf = 0;
    asm volatile("cpuid" : "+a"(leaf)::"ebx", "ecx", "edx");
  });
}

/// As programs do: a transaction only if the CPU shows RTM.
bool uses_rtm_if_it_is_shown() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx);
  const bool shown = ebx & bit_RTM;
  std::printf("rtm %d hle %d aborts %u\n", shown ? 1 : 0, ebx & bit_HLE ? 1 : 0,
              edx & (1u << 11 | 1u << 13));
  unsigned most = 0;
  char vendor[13] = {};
  auto* const words = reinterpret_cast<unsigned*>(vendor);
  __cpuid(0, most, words[0], words[2], words[1]);
  std::printf("leaves %u vendor %s\n", most, vendor);
  return !shown || commits();
}

bool writes_to_nowhere() {
  return is_undone([] { *nowhere = 1; });
}

bool jumps_to_nowhere() {
  return is_undone([] { reinterpret_cast<void (*)()>(0x10)(); });
}

bool writes_to_constants() {
  auto* const page = static_cast<volatile char*>(
      mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const unsigned status = _xbegin();
  if (status == _XBEGIN_STARTED) {
    value = 3;
    page[100] = 1;
    _xend();
  }
  return aborted_with(status) && value == 1 && page[100] == 0;
}

bool divides_by_zero() {
  const unsigned status = _xbegin();
  if (status == _XBEGIN_STARTED) {
    value = 3 / zero;
    _xend();
  }
  return aborted_with(status) && value == 1;
}

constexpr long most_lines = 4096;
alignas(1 << 20) std::array<char, most_lines * 64> lines;

/// Writes a byte in each of `count` lines, `stride` apart, and nothing else.
unsigned write_lines(long count, long stride) {
  unsigned status = _XBEGIN_STARTED;
  char* at = lines.data();
  asm volatile(
      "xbegin 2f\n"
      "1: movb $1, (%1)\n"
      "add %3, %1\n"
      "dec %2\n"
      "jnz 1b\n"
      "xend\n"
      "2:"
      : "+a"(status), "+r"(at), "+r"(count)
      : "r"(stride * 64)
      : "memory", "cc");
  return status;
}

bool fills_the_cache() {
  for (const long stride : {1L, 2L, 3L, 4L}) {
    long fits = 0;
    for (long count = 1; count * stride <= most_lines && count <= 1024; ++count) {
      const unsigned status = write_lines(count, stride);
      if (status == _XBEGIN_STARTED) {
        fits = count;
      } else if (status != _XABORT_CAPACITY) {
        return false;
      }
    }
    std::printf("stride %ld lines %ld\n", stride, fits);
  }
  return true;
}

bool overflows_the_cache() {
  lines.fill(7);
  if (write_lines(2000, 1) != _XABORT_CAPACITY) return false;
  for (const char each : lines) {
    if (each != 7) return false;
  }
  return true;
}

/// A section of many instructions, tried until it commits. `both` must always be equal.
bool keeps_its_invariant() {
  static std::array<volatile long, 2> both;
  static std::array<volatile double, 2> scaled{1.0, 1.0};
  long attempts = 0;
  for (;;) {
    ++attempts;
    const unsigned status = _xbegin();
    if (status == _XBEGIN_STARTED) {
      for (int i = 0; i < 8; ++i) {
        both[0] = both[0] + i;
        scaled[0] = scaled[0] * 1.5;
        scaled[1] = scaled[1] * 1.5;
        both[1] = both[1] + i;
      }
      _xend();
      break;
    }
    if (both[0] != 0 || both[1] != 0 || scaled[0] != 1.0 || scaled[1] != 1.0) return false;
    if (attempts == 1) std::printf("status %#x\n", status);
  }
  std::printf("attempts %ld\n", attempts);
  return both[0] == 28 && both[1] == 28 && scaled[0] == scaled[1];
}

bool adds_often() {
  long committed = 0;
  for (int round = 0; round < 2000; ++round) {
    if (_xbegin() != _XBEGIN_STARTED) continue;
    for (int i = 0; i < 5; ++i) value = value + 1;
    _xend();
    ++committed;
  }
  return value == 1 + 5 * committed;
}

bool uses_the_library() {
  std::map<std::string, std::string> words;
  std::string text(100, 'x');
  const auto work = [&] {
    words["key" + text] = text;
    text.replace(3, 40, "something else");
    return std::strlen(text.c_str());
  };
  const auto warm = work();  // binds functions and maps memory, which a transaction may not
  words.clear();
  text.assign(100, 'x');
  if (aborted_with(_xbegin())) return false;
  const auto in_transaction = work();
  _xend();
  return in_transaction == warm && words.size() == 1;
}

bool ends_without_a_transaction() {
  _xend();
  return true;
}

}  // namespace

subject_cases transaction_cases() {
  return {{"commits", commits},
          {"aborts_explicitly", aborts_explicitly},
          {"tests", tests},
          {"nests_seven_deep", nests_seven_deep},
          {"nests_eight_deep", nests_eight_deep},
          {"aborts_in_a_nested_transaction", aborts_in_a_nested_transaction},
          {"makes_a_system_call", makes_a_system_call},
          {"pauses", pauses},
          {"asks_cpuid", asks_cpuid},
          {"uses_rtm_if_it_is_shown", uses_rtm_if_it_is_shown},
          {"writes_to_nowhere", writes_to_nowhere},
          {"writes_to_constants", writes_to_constants},
          {"jumps_to_nowhere", jumps_to_nowhere},
          {"divides_by_zero", divides_by_zero},
          {"fills_the_cache", fills_the_cache},
          {"overflows_the_cache", overflows_the_cache},
          {"keeps_its_invariant", keeps_its_invariant},
          {"adds_often", adds_often},
          {"uses_the_library", uses_the_library},
          {"ends_without_a_transaction", ends_without_a_transaction}};
}

}  // namespace unlatch::probe::testing
