# SPDX-License-Identifier: Apache-2.0
#
# How everything in this tree is compiled: language, warnings, sanitizers, compiler cache, and what
# goes where in the build and install trees.

include(GNUInstallDirs)

set(UNLATCH_SANITIZE "" CACHE STRING "Sanitizers to build everything with: address;undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  # A designated initializer leaves members out on purpose.
  add_compile_options(-Wall -Wextra -Wpedantic -Wno-missing-field-initializers)

  find_program(UNLATCH_CCACHE ccache)
  mark_as_advanced(UNLATCH_CCACHE)
  if(UNLATCH_CCACHE)
    foreach(language IN ITEMS C CXX)
      if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
        set(CMAKE_${language}_COMPILER_LAUNCHER "${UNLATCH_CCACHE}")
      endif()
    endforeach()
  endif()
endif()

if(UNLATCH_SANITIZE)
  list(JOIN UNLATCH_SANITIZE "," sanitizers)
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${sanitizers})
  if("undefined" IN_LIST UNLATCH_SANITIZE)
    # These check every access through a pointer and double the time to compile; what they find on this
    # hardware is found by the address sanitizer too, which runs beside them.
    add_compile_options(-fno-sanitize=null,alignment,object-size,vptr)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Beside a sanitizer GCC finds uninitialized members inside std::regex and std::function.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
  if("thread" IN_LIST UNLATCH_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC warns of every std::atomic_thread_fence, those inside the standard library included.
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>)
  endif()
endif()

# For the directories whose code is measured: CMAKE_UNITY_BUILD, which the presets turn on because
# most of the time to compile goes into headers, is not for these: the compiler sees each of their
# sources alone, as where they are used. Beside a sanitizer nothing is measured.
macro(unlatch_is_measured)
  if(NOT UNLATCH_SANITIZE)
    set(CMAKE_UNITY_BUILD OFF)
  endif()
endmacro()

set(checked_by_default OFF)
if(UNLATCH_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(checked_by_default ON)
endif()
option(UNLATCH_CHECKED "Check at run time that locks are used as documented" ${checked_by_default})
