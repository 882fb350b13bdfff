// SPDX-License-Identifier: Apache-2.0
//
// Finding what was built or installed together with this program: other programs, objects to load.
//
// Thread safety: no shared state.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string_view>

namespace unlatch::programs {

/// The file of the running program, links resolved.
[[nodiscard]] std::filesystem::path this_program();

/// The file `name` in one of the `rooms`, the first that has it: directories by their paths
/// relative to that of this program or to a directory above it, the nearest first. "" stands for
/// those directories themselves. Empty if there is none.
[[nodiscard]] std::filesystem::path find_nearby(std::string_view name,
                                                std::initializer_list<std::string_view> rooms);

/// As find_nearby(), unless the environment variable `variable` is set and not empty: then the
/// file that it names. Throws std::runtime_error if that is not there.
[[nodiscard]] std::filesystem::path find_nearby_or_named(
    const char* variable, std::string_view name, std::initializer_list<std::string_view> rooms);

}  // namespace unlatch::programs
