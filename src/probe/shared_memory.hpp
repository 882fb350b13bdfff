// SPDX-License-Identifier: Apache-2.0
//
// Memory that this process shares with the programs it starts: a memory file, which they open by
// the name it has in this process, so nothing is left behind whoever ends first.
//
// Thread safety: the object itself has no shared state; what lies in it says for itself.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "src/probe/program_file.hpp"

namespace unlatch::probe {

/// A `T` of zero bytes in shared memory, whose all-zero state must be a valid one.
template <class T>
class shared_memory {
 public:
  /// Throws program_error.
  shared_memory() : file_(memfd_create("unlatch", MFD_CLOEXEC)) {
    void* const mapped =
        file_ < 0 || ftruncate(file_, sizeof(T)) != 0
            ? MAP_FAILED
            : mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (mapped == MAP_FAILED) {
      const int error = errno;
      if (file_ >= 0) close(file_);
      throw program_error(std::string("cannot share memory: ") + std::strerror(error));
    }
    contents_ = static_cast<T*>(mapped);
  }
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  ~shared_memory() {
    munmap(contents_, sizeof(T));
    close(file_);
  }

  T& operator*() const { return *contents_; }
  T* operator->() const { return contents_; }

  /// The file's name for other processes, while this one lives.
  [[nodiscard]] std::string name() const {
    return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file_);
  }

 private:
  int file_;
  T* contents_ = nullptr;
};

}  // namespace unlatch::probe
