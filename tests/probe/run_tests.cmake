# SPDX-License-Identifier: Apache-2.0

if(NOT TARGET unlatch_lock_object)
  message(STATUS "No tests of unlatch run: the object that it loads is not built")
  return()
endif()

add_executable(
  run_subject run_subject.cpp run_subject_mutexes.cpp run_subject_kinds.cpp
              run_subject_conditions.cpp run_subject_rwlocks.cpp run_subject_processes.cpp)
set_target_properties(run_subject PROPERTIES UNITY_BUILD OFF)
target_compile_features(run_subject PRIVATE cxx_std_20)
target_link_libraries(run_subject PRIVATE Threads::Threads)

add_library(strange_locks MODULE strange_locks.c)
target_link_libraries(strange_locks PRIVATE ${CMAKE_DL_LIBS})
add_library(slow_waits MODULE slow_waits.c)
target_link_libraries(slow_waits PRIVATE ${CMAKE_DL_LIBS})
target_link_options(slow_waits PRIVATE
                    "-Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/slow_waits.version")
set_target_properties(slow_waits PROPERTIES LINK_DEPENDS
                                            ${CMAKE_CURRENT_SOURCE_DIR}/slow_waits.version)

file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/run_static_subject.c "int main(void) { return 0; }\n")
add_executable(run_static_subject ${CMAKE_CURRENT_BINARY_DIR}/run_static_subject.c)
target_link_options(run_static_subject PRIVATE -static)

unlatch_add_test(
  run_test
  SOURCES
  run_test.cpp
  ../cli/subprocess.cpp
  LIBRARIES
  nlohmann_json::nlohmann_json
  LABELS
  probe)
add_dependencies(run_test unlatch_cli run_subject strange_locks slow_waits run_static_subject)
target_compile_definitions(
  run_test
  PRIVATE UNLATCH_PROGRAM="$<TARGET_FILE:unlatch_cli>"
          UNLATCH_RUN_SUBJECT="$<TARGET_FILE:run_subject>"
          UNLATCH_RUN_STATIC_SUBJECT="$<TARGET_FILE:run_static_subject>"
          UNLATCH_STRANGE_LOCKS="$<TARGET_FILE:strange_locks>"
          UNLATCH_SLOW_WAITS="$<TARGET_FILE:slow_waits>"
          $<$<TARGET_EXISTS:unlatch_emulator>:UNLATCH_HAS_EMULATOR>)
