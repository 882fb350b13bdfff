# SPDX-License-Identifier: Apache-2.0
#
# Building for the simulated machine (UNLATCH_LAB): everything that is to run in it is compiled by
# clang 19 with the pass of src/instrument, against libc++, whose templates are then instrumented with
# the code that uses them, and linked statically at a fixed address.
#
#   unlatch_instrument(target...)            compiles the target's sources so
#   unlatch_add_lab_program(name SOURCES file... [LIBRARIES target...] [OPTIONS flag...])
#                                            an instrumented program, linked with the simulated machine
#
# Sources outside these (the pass, the machine itself) are compiled as usual, against libstdc++.

set(UNLATCH_LLVM_VERSION 19)

# All of it is measured, and what an object depends on is said for single sources.
set(CMAKE_UNITY_BUILD OFF)

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang"
   OR NOT CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL ${UNLATCH_LLVM_VERSION}
   OR NOT CMAKE_CXX_COMPILER_VERSION VERSION_LESS 20)
  message(
    FATAL_ERROR
      "The simulated machine is built by clang ${UNLATCH_LLVM_VERSION}, not by "
      "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}. Use `cmake --preset lab`; "
      "`scripts/bootstrap lab` installs what it needs. Everything else builds without it.")
endif()
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  message(FATAL_ERROR "The simulated machine runs on x86-64 Linux only.")
endif()

get_filename_component(llvm_root "${CMAKE_CXX_COMPILER}" REALPATH)
get_filename_component(llvm_root "${llvm_root}/../.." ABSOLUTE)
find_path(UNLATCH_LLVM_INCLUDE_DIR llvm/Passes/PassPlugin.h HINTS "${llvm_root}/include"
          NO_DEFAULT_PATH)
find_program(UNLATCH_OBJCOPY NAMES llvm-objcopy HINTS "${llvm_root}/bin" NO_DEFAULT_PATH)
find_program(UNLATCH_LLD NAMES ld.lld HINTS "${llvm_root}/bin" NO_DEFAULT_PATH)
foreach(library IN ITEMS c++ c++abi unwind)
  find_library(UNLATCH_LIB_${library} lib${library}.a HINTS "${llvm_root}/lib" NO_DEFAULT_PATH)
endforeach()
foreach(need IN ITEMS LLVM_INCLUDE_DIR OBJCOPY LLD LIB_c++ LIB_c++abi LIB_unwind)
  mark_as_advanced(UNLATCH_${need})
  if(NOT UNLATCH_${need})
    message(
      FATAL_ERROR
        "The simulated machine needs LLVM's headers and tools, lld, and static libc++, libc++abi and "
        "libunwind, all of version ${UNLATCH_LLVM_VERSION}; under ${llvm_root} there is no ${need}. "
        "`scripts/bootstrap lab` installs them. Everything else builds without.")
  endif()
endforeach()

# Objects are linked at a fixed address, so that the same binary has the same addresses each time.
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)

set(UNLATCH_INSTRUMENT_DIR "${unlatch_BINARY_DIR}/src/instrument")
set(UNLATCH_INSTRUMENT_FILES "${UNLATCH_INSTRUMENT_DIR}/unlatch_instrument.so"
                             "${UNLATCH_INSTRUMENT_DIR}/fast_path.bc")
# The pass is part of what a cached object depends on.
set(instrument_launcher "${CMAKE_CXX_COMPILER_LAUNCHER}")
if(instrument_launcher)
  list(JOIN UNLATCH_INSTRUMENT_FILES ":" files)
  set(instrument_launcher "${CMAKE_COMMAND};-E;env;CCACHE_EXTRAFILES=${files};${instrument_launcher}")
endif()
set(UNLATCH_INSTRUMENT_LAUNCHER "${instrument_launcher}")

function(unlatch_instrument)
  foreach(target IN LISTS ARGN)
    target_compile_options(
      ${target}
      PRIVATE -fpass-plugin=${UNLATCH_INSTRUMENT_DIR}/unlatch_instrument.so
              -Wno-error=backend-plugin
              -fno-pie
              -fcf-protection=none
              -gdwarf-aranges
              $<$<COMPILE_LANGUAGE:CXX>:-stdlib=libc++>)
    target_compile_definitions(${target} PRIVATE UNLATCH_LAB=1)
    set_target_properties(
      ${target}
      PROPERTIES POSITION_INDEPENDENT_CODE OFF
                 C_COMPILER_LAUNCHER "${UNLATCH_INSTRUMENT_LAUNCHER}"
                 CXX_COMPILER_LAUNCHER "${UNLATCH_INSTRUMENT_LAUNCHER}")
    add_dependencies(${target} unlatch_instrument_pass unlatch_fast_path)
    get_target_property(sources ${target} SOURCES)
    get_target_property(directory ${target} SOURCE_DIR)
    list(FILTER sources INCLUDE REGEX "\\.(c|cc|cpp)$")
    foreach(source IN LISTS sources)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${directory}")
      set_property(
        SOURCE "${source}" TARGET_DIRECTORY ${target} APPEND PROPERTY OBJECT_DEPENDS
                                                                 ${UNLATCH_INSTRUMENT_FILES})
    endforeach()
  endforeach()
endfunction()

# How a program of instrumented objects is linked with the simulated machine `runtime`, which comes
# whole and before libc++ and the C library because it stands in for parts of both.
function(unlatch_link_lab_program target runtime)
  get_target_property(type ${runtime} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    set(runtime $<LINK_LIBRARY:WHOLE_ARCHIVE,${runtime}>)
  endif()
  target_link_options(${target} PRIVATE -no-pie -fuse-ld=lld -nostdlib++)
  target_link_libraries(${target} PRIVATE unlatch_instrumented_libcxx ${runtime}
                                          unlatch_weak_libcxx)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
endfunction()

function(unlatch_add_lab_program name)
  cmake_parse_arguments(PARSE_ARGV 1 program "" "" "SOURCES;LIBRARIES;OPTIONS")
  if(NOT program_SOURCES OR program_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "unlatch_add_lab_program(${name}): needs SOURCES; takes LIBRARIES, OPTIONS")
  endif()
  add_executable(${name} ${program_SOURCES})
  target_compile_options(${name} PRIVATE ${program_OPTIONS})
  target_link_libraries(${name} PRIVATE unlatch::unlatch ${program_LIBRARIES})
  unlatch_instrument(${name})
  unlatch_link_lab_program(${name} unlatch_lab_runtime)
endfunction()
