# SPDX-License-Identifier: Apache-2.0
#
# Writes the header OUTPUT that names the revision of SOURCE_DIR, or VERSION outside a repository.
# Runs at every build and touches the header only when the revision changed.
cmake_minimum_required(VERSION 3.25)
execute_process(
  COMMAND git describe --always --dirty --abbrev=10
  WORKING_DIRECTORY ${SOURCE_DIR}
  OUTPUT_VARIABLE revision
  OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET
  RESULT_VARIABLE failed)
if(failed OR NOT revision)
  set(revision ${VERSION})
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#pragma once\n#define UNLATCH_BUILD_ID \"@revision@\"\n"
     @ONLY)
