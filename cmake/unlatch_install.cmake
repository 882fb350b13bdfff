# SPDX-License-Identifier: Apache-2.0
#
# What an outside project needs to use the library: the headers, the library, and descriptions of both
# for CMake (find_package(unlatch)) and for pkg-config. What else is installed is said where it is built.

include(CMakePackageConfigHelpers)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/unlatch)

install(TARGETS unlatch EXPORT unlatch_targets FILE_SET HEADERS)
install(EXPORT unlatch_targets NAMESPACE unlatch:: FILE unlatchTargets.cmake
        DESTINATION ${package_directory})

configure_package_config_file(
  cmake/unlatchConfig.cmake.in "${unlatch_BINARY_DIR}/package/unlatchConfig.cmake"
  INSTALL_DESTINATION ${package_directory} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${unlatch_BINARY_DIR}/package/unlatchConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${unlatch_BINARY_DIR}/package/unlatchConfig.cmake"
              "${unlatch_BINARY_DIR}/package/unlatchConfigVersion.cmake"
        DESTINATION ${package_directory})

set(pkg_config_definitions "")
if(UNLATCH_CHECKED)
  set(pkg_config_definitions " -DUNLATCH_CHECKED=1")
endif()
set(pkg_config_libraries "-pthread")
if(NOT BUILD_SHARED_LIBS)
  # A C program that links the archive does not get the C++ runtime from its own compiler.
  string(APPEND pkg_config_libraries " -lstdc++")
endif()
file(RELATIVE_PATH pkg_config_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" pkg_config_prefix "${pkg_config_prefix}")
configure_file(cmake/unlatch.pc.in "${unlatch_BINARY_DIR}/package/unlatch.pc" @ONLY)
install(FILES "${unlatch_BINARY_DIR}/package/unlatch.pc"
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES "${unlatch_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DOCDIR})
