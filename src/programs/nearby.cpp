// SPDX-License-Identifier: Apache-2.0
#include "src/programs/nearby.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>

namespace unlatch::programs {

namespace fs = std::filesystem;

fs::path this_program() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

fs::path find_nearby(std::string_view name, std::initializer_list<std::string_view> rooms) {
  std::error_code ignored;
  for (fs::path above = this_program().parent_path();; above = above.parent_path()) {
    for (const std::string_view room : rooms) {
      if (const fs::path file = above / room / name; fs::exists(file, ignored)) return file;
    }
    if (above == above.parent_path()) return {};
  }
}

fs::path find_nearby_or_named(const char* variable, std::string_view name,
                              std::initializer_list<std::string_view> rooms) {
  const char* const named = std::getenv(variable);
  if (named == nullptr || *named == 0) return find_nearby(name, rooms);
  std::error_code ignored;
  if (fs::exists(named, ignored)) return fs::absolute(named);
  throw std::runtime_error(std::string(variable) + " names " + named +
                           ", which is not there; name the right file or unset it");
}

}  // namespace unlatch::programs
