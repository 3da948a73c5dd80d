# find_package(Rewind) for other projects.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS rewind EXPORT RewindTargets DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/rewind DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT RewindTargets NAMESPACE Rewind:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Rewind)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/RewindConfig.cmake.in
  ${PROJECT_BINARY_DIR}/RewindConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Rewind)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/RewindConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/RewindConfig.cmake ${PROJECT_BINARY_DIR}/RewindConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/RewindAutograph.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Rewind)
