// SPDX-License-Identifier: Apache-2.0
//
// Writing a file so that a reader sees the old contents or the new, never half of them.
#pragma once

#include <filesystem>
#include <string_view>

namespace unlatch::studies {

/// Writes `contents` to a temporary file beside `file`, flushes it to the disk and renames it over
/// `file`. Throws std::filesystem::filesystem_error naming `file`; then `file` is as it was and the
/// temporary file is gone.
void replace_file(const std::filesystem::path& file, std::string_view contents);

}  // namespace unlatch::studies
