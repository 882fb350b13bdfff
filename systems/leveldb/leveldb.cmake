# SPDX-License-Identifier: Apache-2.0
#
# What LevelDB's own CMakeLists.txt says of its sources and its platform, for a build beside ours.
# Compression, CRC32C acceleration and tcmalloc stay off in both variants: they are not measured.

set(HAVE_CRC32C OFF)
set(HAVE_SNAPPY OFF)
check_cxx_symbol_exists(fdatasync unistd.h HAVE_FDATASYNC)
check_cxx_symbol_exists(F_FULLFSYNC fcntl.h HAVE_FULLFSYNC)
check_cxx_symbol_exists(O_CLOEXEC fcntl.h HAVE_O_CLOEXEC)
configure_file("${UNLATCH_LEVELDB_SOURCE_DIR}/port/port_config.h.in"
               "${CMAKE_CURRENT_BINARY_DIR}/leveldb/port/port_config.h")

set(leveldb_sources
    db/builder.cc db/c.cc db/db_impl.cc db/db_iter.cc db/dbformat.cc db/dumpfile.cc db/filename.cc
    db/log_reader.cc db/log_writer.cc db/memtable.cc db/repair.cc db/table_cache.cc
    db/version_edit.cc db/version_set.cc db/write_batch.cc
    helpers/memenv/memenv.cc
    table/block.cc table/block_builder.cc table/filter_block.cc table/format.cc table/iterator.cc
    table/merger.cc table/table.cc table/table_builder.cc table/two_level_iterator.cc
    util/arena.cc util/bloom.cc util/cache.cc util/coding.cc util/comparator.cc util/crc32c.cc
    util/env.cc util/env_posix.cc util/filter_policy.cc util/hash.cc util/logging.cc util/options.cc
    util/status.cc)
list(TRANSFORM leveldb_sources PREPEND "${UNLATCH_LEVELDB_SOURCE_DIR}/")
# An assertion in this file names std::memory_order::memory_order_relaxed, which C++20 has renamed.
set_source_files_properties("${UNLATCH_LEVELDB_SOURCE_DIR}/util/env_posix.cc"
                            PROPERTIES COMPILE_DEFINITIONS NDEBUG)

# Compiles a target of LevelDB's own sources: our warnings do not apply to them, except that Clang
# checks the locking annotations of the overlay and of all its users.
function(unlatch_leveldb_compile_options target)
  set_target_properties(${target} PROPERTIES COMPILE_WARNING_AS_ERROR OFF)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${target} PRIVATE -Wno-everything -Werror=thread-safety)
  else()
    target_compile_options(${target} PRIVATE -w)
  endif()
endfunction()

# Adds the static libraries leveldb_VARIANT, the database, and leveldb_VARIANT_testutil, what its tests
# and benchmarks share; and the program leveldb_db_bench_VARIANT.
function(unlatch_add_leveldb variant)
  set(library leveldb_${variant})
  add_library(${library} STATIC ${leveldb_sources})
  unlatch_leveldb_compile_options(${library})
  if(UNLATCH_SANITIZE)
    # Its tests, which are not optimized there, spend their time here.
    target_compile_options(${library} PRIVATE -O1)
  endif()
  target_include_directories(${library} SYSTEM PUBLIC "${UNLATCH_LEVELDB_SOURCE_DIR}/include")
  target_link_libraries(${library} PUBLIC Threads::Threads)

  # LevelDB's internal headers, for its own sources only.
  add_library(${library}_internals INTERFACE)
  target_include_directories(
    ${library}_internals INTERFACE "${UNLATCH_LEVELDB_SOURCE_DIR}"
                                   "${CMAKE_CURRENT_BINARY_DIR}/leveldb")
  target_compile_definitions(${library}_internals INTERFACE LEVELDB_PLATFORM_POSIX=1)
  if(NOT variant STREQUAL "stock")
    # Quoted includes look here before every -I directory, whatever their order.
    target_compile_options(${library}_internals
                           INTERFACE "SHELL:-iquote \"${CMAKE_CURRENT_SOURCE_DIR}/overlay\"")
    target_link_libraries(${library}_internals INTERFACE unlatch::unlatch)
    target_link_libraries(${library} PUBLIC unlatch::unlatch)
  endif()
  if(variant STREQUAL "elided")
    target_compile_definitions(${library}_internals
                               INTERFACE UNLATCH_LEVELDB_POLICY=unlatch::policy::glibc)
  elseif(variant STREQUAL "xsync")
    target_compile_definitions(${library}_internals
                               INTERFACE UNLATCH_LEVELDB_POLICY=unlatch::policy::xsync
                                         UNLATCH_LEVELDB_XSYNC_CONDITION)
  endif()
  target_link_libraries(${library} PRIVATE ${library}_internals)

  add_library(${library}_testutil STATIC "${UNLATCH_LEVELDB_SOURCE_DIR}/util/histogram.cc"
                                         "${UNLATCH_LEVELDB_SOURCE_DIR}/util/testutil.cc")
  unlatch_leveldb_compile_options(${library}_testutil)
  target_link_libraries(${library}_testutil PUBLIC ${library}_internals ${library}
                                                   ${leveldb_test_libraries})
  if(UNLATCH_LAB)
    unlatch_instrument(${library} ${library}_testutil)
  endif()

  set(db_bench leveldb_db_bench_${variant})
  add_executable(${db_bench} "${UNLATCH_LEVELDB_SOURCE_DIR}/benchmarks/db_bench.cc")
  unlatch_leveldb_compile_options(${db_bench})
  target_link_libraries(${db_bench} PRIVATE ${library}_testutil)
  if(UNLATCH_LAB)
    unlatch_simulate(${db_bench})
  endif()
endfunction()

# Makes a program whose main function is called simulated_main run in the simulated machine.
function(unlatch_simulate program)
  target_sources(${program} PRIVATE "${unlatch_SOURCE_DIR}/systems/leveldb/simulated/main.cpp")
  target_include_directories(${program} PRIVATE ${unlatch_SOURCE_DIR})
  target_link_libraries(${program} PRIVATE unlatch_models)
  unlatch_instrument(${program})
  unlatch_link_lab_program(${program} unlatch_lab_runtime)
endfunction()

if(UNLATCH_LAB)
  include(unlatch_lab_testing)
  set(leveldb_test_libraries unlatch_lab_googletest)
  # Another main function runs this one in the simulated machine.
  set_source_files_properties("${UNLATCH_LEVELDB_SOURCE_DIR}/benchmarks/db_bench.cc"
                              PROPERTIES COMPILE_DEFINITIONS main=simulated_main)
else()
  find_package(GTest REQUIRED)
  set(leveldb_test_libraries GTest::gmock GTest::gtest)
endif()
