// SPDX-License-Identifier: Apache-2.0
#include "studies/replace_file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace unlatch::studies {
namespace {

/// A temporary file that is unlinked unless it was renamed into place.
class temporary_file {
 public:
  explicit temporary_file(const std::filesystem::path& target)
      : target_(target), name_(target.string() + ".XXXXXX"), descriptor_(mkstemp(name_.data())) {
    if (descriptor_ < 0) fail("cannot create a file beside it");
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!renamed_) unlink(name_.c_str());
  }

  void write(std::string_view contents) {
    while (!contents.empty()) {
      const ssize_t written = ::write(descriptor_, contents.data(), contents.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("cannot be written");
      contents.remove_prefix(static_cast<std::size_t>(written));
    }
    if (fsync(descriptor_) != 0) fail("cannot be flushed to the disk");
  }

  void rename_into_place() {
    const mode_t mask = umask(0);
    umask(mask);
    if (fchmod(descriptor_, 0666 & ~mask) != 0) fail("cannot get its permissions");
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (close(descriptor) != 0) fail("cannot be written");
    if (rename(name_.c_str(), target_.c_str()) != 0) fail("cannot be replaced");
    renamed_ = true;
  }

 private:
  [[noreturn]] void fail(const char* what) {
    const std::error_code error(errno, std::generic_category());
    throw std::filesystem::filesystem_error(what, target_, error);
  }

  std::filesystem::path target_;
  std::string name_;
  int descriptor_;
  bool renamed_ = false;
};

}  // namespace

void replace_file(const std::filesystem::path& file, std::string_view contents) {
  temporary_file temporary(file);
  temporary.write(contents);
  temporary.rename_into_place();
}

}  // namespace unlatch::studies
