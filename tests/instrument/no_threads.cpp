// SPDX-License-Identifier: Apache-2.0
//
// Without the machine there is one thread.

#include "conformance.hpp"

namespace conformance {

void threads() {}

}  // namespace conformance
