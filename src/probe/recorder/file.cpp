// SPDX-License-Identifier: Apache-2.0
#include "src/probe/recorder/file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "src/probe/engine/system_calls.hpp"

namespace unlatch::probe::recorder {
namespace {

using engine::system_call;
using recording::block_bytes;

const char* file_path;
/// Kept open, because the program may change its root or its user; out of the way of numbers that
/// programs choose themselves. A program may close it all the same.
int kept_descriptor = -1;
std::uint64_t file_device, file_inode;
recording::header* mapped_header;

bool is_recording(long descriptor) noexcept {
  struct stat status;
  return system_call(SYS_fstat, descriptor, &status) == 0 && status.st_dev == file_device &&
         status.st_ino == file_inode;
}

/// The kept descriptor, or a new one if the program has closed that; negative if neither.
long descriptor_of_recording() noexcept {
  if (kept_descriptor >= 0 && is_recording(kept_descriptor)) return kept_descriptor;
  kept_descriptor = -1;
  const long opened = system_call(SYS_openat, long{AT_FDCWD}, file_path, long{O_RDWR | O_CLOEXEC});
  if (opened < 0 || is_recording(opened)) return opened;
  system_call(SYS_close, opened);
  return -ENOENT;
}

void give_back(long descriptor) noexcept {
  if (descriptor != kept_descriptor) system_call(SYS_close, descriptor);
}

/// A write beyond the limit would kill the process by SIGXFSZ.
bool within_limit(std::uint64_t end) noexcept {
  rlimit limit = {};
  const long asked = system_call(SYS_prlimit64, 0L, long{RLIMIT_FSIZE}, nullptr, &limit);
  return asked != 0 || limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur;
}

/// Makes sure that writing to the mapped bytes cannot fail: a full disk would kill the program by
/// SIGBUS. 0, or a negative errno.
long reserve(long descriptor, std::uint64_t offset, std::uint64_t bytes) noexcept {
  if (!within_limit(offset + bytes)) return -EFBIG;
  long result;
  do {
    result = system_call(SYS_fallocate, descriptor, 0L, offset, bytes);
  } while (result == -EINTR);
  if (result != -EOPNOTSUPP) return result;
  static const char zeros[4096] = {};
  for (std::uint64_t done = 0; done < bytes; done += sizeof zeros) {
    result = system_call(SYS_pwrite64, descriptor, zeros, sizeof zeros, offset + done);
    if (result != sizeof zeros) return result < 0 ? result : -ENOSPC;
  }
  return 0;
}

void* map(long descriptor, std::uint64_t offset, std::uint64_t bytes) noexcept {
  const long at = system_call(SYS_mmap, 0L, bytes, long{PROT_READ | PROT_WRITE}, long{MAP_SHARED},
                              descriptor, offset);
  return at < 0 && at > -4096 ? nullptr : reinterpret_cast<void*>(at);
}

const char* why(long error) noexcept {
  switch (error) {
    case ENOSPC:
      return "no space left on the device of the recording; what comes from now on is not "
             "recorded, the program goes on";
    case EDQUOT:
      return "the disk quota is used up; what comes from now on is not recorded, the program "
             "goes on";
    case EFBIG:
      return "the recording may not grow further (ulimit -f); what comes from now on is not "
             "recorded, the program goes on";
    default:
      return "the recording cannot be written to any more; what comes from now on is not "
             "recorded, the program goes on";
  }
}

void note_failure(long error) noexcept {
  std::uint32_t none = 0;
  if (mapped_header->failure.compare_exchange_strong(none, static_cast<std::uint32_t>(error))) {
    engine::complain(why(error));
  }
}

}  // namespace

bool open_recording(const char* path) noexcept {
  file_path = path;
  const long opened = system_call(SYS_openat, long{AT_FDCWD}, path, long{O_RDWR | O_CLOEXEC});
  struct stat status = {};
  if (opened >= 0 && system_call(SYS_fstat, opened, &status) == 0) {
    file_device = status.st_dev;
    file_inode = status.st_ino;
    mapped_header = static_cast<recording::header*>(map(opened, 0, block_bytes));
    constexpr long out_of_the_way = 700;
    const long kept = system_call(SYS_fcntl, opened, long{F_DUPFD_CLOEXEC}, out_of_the_way);
    if (kept >= 0) kept_descriptor = static_cast<int>(kept);
  }
  if (opened >= 0) system_call(SYS_close, opened);
  if (mapped_header != nullptr && mapped_header->magic == recording::header::magic_number) {
    return true;
  }
  engine::complain("a program cannot open the recording; it runs without being recorded");
  return false;
}

recording::header& header() noexcept { return *mapped_header; }

recording::block_head* take_blocks(std::uint32_t blocks, std::uint32_t process) noexcept {
  if (mapped_header->failure.load(std::memory_order_relaxed) != 0) return nullptr;
  const std::uint64_t first = mapped_header->next_block.fetch_add(blocks);
  const std::uint64_t bytes = blocks * block_bytes;
  const long descriptor = descriptor_of_recording();
  long result = descriptor;
  void* at = nullptr;
  if (descriptor >= 0) {
    result = reserve(descriptor, first * block_bytes, bytes);
    if (result == 0) at = map(descriptor, first * block_bytes, bytes);
    if (result == 0 && at == nullptr) result = -ENOMEM;
    give_back(descriptor);
  }
  if (at == nullptr) {
    note_failure(-result);
    return nullptr;
  }
  auto* const head = static_cast<recording::block_head*>(at);
  head->blocks = blocks;
  head->process = process;
  head->process_id = engine::process_id();
  return head;
}

}  // namespace unlatch::probe::recorder
