# SPDX-License-Identifier: Apache-2.0

set(UNLATCH_LEVELDB_SOURCE "$ENV{UNLATCH_LEVELDB_SOURCE}" CACHE PATH
    "LevelDB 1.23 source tree to build from; empty: download Debian's source package")
set(UNLATCH_DOWNLOAD_DIR "${unlatch_SOURCE_DIR}/build/download" CACHE PATH
    "Where downloaded sources are kept; shared by all build trees")

# Sets UNLATCH_LEVELDB_SOURCE_DIR in the caller's scope to an unmodified LevelDB 1.23 source tree,
# verified file by file against systems/leveldb/SHA256SUMS: the one UNLATCH_LEVELDB_SOURCE names, or
# else a downloaded one. Stops the configuration with an explanation when there is none.
function(unlatch_locate_leveldb_source)
  set(fetch "${unlatch_SOURCE_DIR}/scripts/fetch-leveldb")
  if(UNLATCH_LEVELDB_SOURCE)
    get_filename_component(tree "${UNLATCH_LEVELDB_SOURCE}" ABSOLUTE BASE_DIR "${unlatch_SOURCE_DIR}")
    set(arguments --verify "${tree}")
  else()
    set(tree "")
    set(arguments "${UNLATCH_DOWNLOAD_DIR}")
  endif()
  execute_process(
    COMMAND "${fetch}" ${arguments}
    RESULT_VARIABLE result
    OUTPUT_VARIABLE output
    ERROR_VARIABLE explanation
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "No LevelDB source to build from.\n${explanation}")
  endif()
  if(NOT tree)
    set(tree "${output}")
  endif()
  # The sums are part of the configuration: a changed list is verified again.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
               "${unlatch_SOURCE_DIR}/systems/leveldb/SHA256SUMS")
  set(UNLATCH_LEVELDB_SOURCE_DIR "${tree}" PARENT_SCOPE)
endfunction()
