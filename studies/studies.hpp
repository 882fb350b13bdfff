// SPDX-License-Identifier: Apache-2.0
//
// The studies, each in a file of its own.
#pragma once

#include "studies/study.hpp"

namespace unlatch::studies {

study bank_study();

}  // namespace unlatch::studies
