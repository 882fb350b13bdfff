# SPDX-License-Identifier: Apache-2.0

include(GoogleTest)
if(UNLATCH_LAB)
  include(unlatch_lab_testing)
  set(test_libraries unlatch_lab_googletest)
else()
  find_package(GTest REQUIRED)
  set(test_libraries GTest::gmock GTest::gtest_main)
endif()
set(UNLATCH_TEST_LIBRARIES "${test_libraries}")

# unlatch_add_test(name SOURCES file... [LIBRARIES target...] [LABELS label...] [TIMEOUT seconds]
#                  [UNOPTIMIZED])
#
# Builds the GoogleTest program `name` and registers each of its tests with ctest, as `name.` followed
# by the test's own name. Every program has the library, GoogleTest with its main function, and Google
# Mock; LIBRARIES adds to them. TIMEOUT is for one test, 120 seconds if not given. UNOPTIMIZED is for
# tests of what is compiled elsewhere: to optimize their own sources takes time and finds nothing.
#
# In the build for the simulated machine (UNLATCH_LAB) the program, GoogleTest included, is
# instrumented and linked with the machine: its tests start as usual, and may call lab::run().
# unlatch_add_lab_test takes the same and is for tests that exist in that build alone.
function(unlatch_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "UNOPTIMIZED" "TIMEOUT" "SOURCES;LIBRARIES;LABELS")
  if(NOT test_SOURCES OR test_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "unlatch_add_test(${name}): needs SOURCES; takes LIBRARIES, "
                        "LABELS, TIMEOUT, UNOPTIMIZED")
  endif()
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 120)
  endif()
  add_executable(${name} ${test_SOURCES})
  target_link_libraries(${name} PRIVATE unlatch::unlatch ${test_LIBRARIES}
                                        ${UNLATCH_TEST_LIBRARIES})
  if(test_UNOPTIMIZED)
    target_compile_options(${name} PRIVATE -O0)
  endif()
  if(UNLATCH_LAB)
    unlatch_instrument(${name})
    unlatch_link_lab_program(${name} unlatch_lab_runtime)
  endif()
  gtest_discover_tests(
    ${name}
    TEST_PREFIX ${name}.
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${test_TIMEOUT} ENVIRONMENT
               "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp")
  if(test_LABELS)
    # gtest_discover_tests keeps only the first of several labels, so ctest sets them afterwards.
    set(labels_file "${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake")
    file(
      WRITE "${labels_file}"
      "foreach(test IN LISTS ${name}_TESTS)\n"
      "  set_tests_properties(\"\${test}\" PROPERTIES LABELS \"${test_LABELS}\")\n"
      "endforeach()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${labels_file}")
  endif()
endfunction()

function(unlatch_add_lab_test)
  if(UNLATCH_LAB)
    unlatch_add_test(${ARGN})
  endif()
endfunction()
