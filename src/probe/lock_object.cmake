# SPDX-License-Identifier: Apache-2.0
#
# What `unlatch run` loads into a program: the library's elision and locks, but with rows and nodes
# of its own, because the library's take memory from the allocator and may be called by it.

if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" OR UNLATCH_SANITIZE)
  message(STATUS "unlatch run is built without the object that it loads")
  return()
endif()

file(GLOB lock_object_sources CONFIGURE_DEPENDS ${unlatch_SOURCE_DIR}/src/preload/run/*.cpp)
add_library(
  unlatch_lock_object MODULE
  ${lock_object_sources} ${unlatch_SOURCE_DIR}/src/sync/htm.cpp
  ${unlatch_SOURCE_DIR}/src/sync/parking.cpp ${unlatch_SOURCE_DIR}/src/sync/path_choice.cpp
  ${unlatch_SOURCE_DIR}/src/sync/section.cpp)
target_include_directories(unlatch_lock_object PRIVATE ${unlatch_SOURCE_DIR}
                                                       ${unlatch_SOURCE_DIR}/include)
target_compile_features(unlatch_lock_object PRIVATE cxx_std_20)
# No name of it may meet one of the program, which may use the library, too. Without exceptions a
# cancelled thread unwinds through it whatever C++ runtime the program has.
target_compile_options(unlatch_lock_object PRIVATE -O2 -ftls-model=initial-exec -fno-exceptions
                                                   -fno-rtti -fno-threadsafe-statics
                                                   -fvisibility=hidden -fvisibility-inlines-hidden)
target_link_options(
  unlatch_lock_object PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,-z,now
  -Wl,--no-undefined -Wl,-Bsymbolic)
target_link_libraries(unlatch_lock_object PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(unlatch_lock_object PROPERTIES PREFIX "" OUTPUT_NAME unlatch-run
                                                     UNITY_BUILD OFF)

if(UNLATCH_INSTALL)
  install(TARGETS unlatch_lock_object LIBRARY DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/unlatch)
endif()
