# SPDX-License-Identifier: Apache-2.0
#
# unlatch-lab: the studies that measure, instrumented, with the simulated machine they run on.
if(NOT TARGET unlatch_source_lines)
  message(FATAL_ERROR "unlatch-lab needs elfutils' libdw to name lines of source. On Debian: "
                      "apt-get install libdw-dev.")
endif()

list(TRANSFORM measuring_sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
# libc++ 19 has std::jthread and std::stop_token among its experiments.
unlatch_add_lab_program(
  unlatch_lab_program
  SOURCES
  ${CMAKE_CURRENT_SOURCE_DIR}/lab/blame.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/lab/main.cpp
  ${measuring_sources}
  LIBRARIES
  unlatch_models
  unlatch_source_lines
  OPTIONS
  -fexperimental-library)
target_include_directories(unlatch_lab_program PRIVATE ${unlatch_SOURCE_DIR})
target_compile_definitions(unlatch_lab_program PRIVATE FMT_HEADER_ONLY)
set_target_properties(
  unlatch_lab_program PROPERTIES OUTPUT_NAME unlatch-lab RUNTIME_OUTPUT_DIRECTORY
                                                         ${unlatch_BINARY_DIR}/studies)
