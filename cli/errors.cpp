// SPDX-License-Identifier: Apache-2.0
#include "cli/errors.hpp"

#include <fmt/core.h>

#include <filesystem>

namespace unlatch::cli {

std::string describe(const std::exception& error) {
  const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error);
  if (file == nullptr) return error.what();
  return fmt::format("{}: {}; choose another place or make it writable", file->path1().string(),
                     file->code().message());
}

}  // namespace unlatch::cli
