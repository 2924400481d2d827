# Installed copy: libraries, headers, program, and the files that make find_package(piddm) work outside the tree.
include(CMakePackageConfigHelpers)

set(PIDDM_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/piddm)
get_property(PIDDM_LIBRARIES GLOBAL PROPERTY PIDDM_LIBRARIES)
list(TRANSFORM PIDDM_LIBRARIES REPLACE "^piddm_" "piddm::" OUTPUT_VARIABLE PIDDM_EXPORTED)

install(TARGETS ${PIDDM_LIBRARIES} EXPORT piddmTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT piddmTargets NAMESPACE piddm:: DESTINATION ${PIDDM_CONFIG_DIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/piddm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN hdf5_child EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET piddm)
  set_target_properties(piddm PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS piddm RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/piddmConfig.cmake.in ${PROJECT_BINARY_DIR}/piddmConfig.cmake
  INSTALL_DESTINATION ${PIDDM_CONFIG_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/piddmConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/piddmConfig.cmake ${PROJECT_BINARY_DIR}/piddmConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/PiddmTorch.cmake DESTINATION ${PIDDM_CONFIG_DIR})
