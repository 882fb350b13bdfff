// SPDX-License-Identifier: Apache-2.0
#include "studies/formatted.hpp"

namespace unlatch::studies {

std::string formatted_of(fmt::string_view text, fmt::format_args values) {
  return fmt::vformat(text, values);
}

}  // namespace unlatch::studies
