# SPDX-License-Identifier: Apache-2.0
#
# GoogleTest for the build that runs in the simulated machine: Debian's has another standard library,
# so its sources, which Debian ships too, are built like everything else here.

include_guard(GLOBAL)

find_path(
  UNLATCH_GOOGLETEST_SOURCES googletest/src/gtest-all.cc
  HINTS /usr/src/googletest
  REQUIRED)
mark_as_advanced(UNLATCH_GOOGLETEST_SOURCES)
add_library(
  unlatch_lab_googletest STATIC
  ${UNLATCH_GOOGLETEST_SOURCES}/googletest/src/gtest-all.cc
  ${UNLATCH_GOOGLETEST_SOURCES}/googlemock/src/gmock-all.cc
  ${UNLATCH_GOOGLETEST_SOURCES}/googletest/src/gtest_main.cc)
target_include_directories(
  unlatch_lab_googletest SYSTEM
  PUBLIC ${UNLATCH_GOOGLETEST_SOURCES}/googletest/include
         ${UNLATCH_GOOGLETEST_SOURCES}/googlemock/include
  PRIVATE ${UNLATCH_GOOGLETEST_SOURCES}/googletest ${UNLATCH_GOOGLETEST_SOURCES}/googlemock)
# Nothing measures it, and optimized it takes four times as long to compile.
target_compile_options(unlatch_lab_googletest PRIVATE -w -O0)
unlatch_instrument(unlatch_lab_googletest)
