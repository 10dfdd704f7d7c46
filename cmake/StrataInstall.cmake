# What `cmake --install` puts beside the tools: headers, TableGen files and libraries, as the package Strata.
include(CMakePackageConfigHelpers)

foreach(tree ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
  install(DIRECTORY ${tree}/ DESTINATION include/strata
    FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "*.def" PATTERN "*.td")
endforeach()
install(FILES ${STRATA_ONNX_ROOT}/lib/libonnx.a ${STRATA_ONNX_ROOT}/lib/libonnx_proto.a DESTINATION lib)

set(package lib/cmake/Strata)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/StrataConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/StrataConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/StrataConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/StrataConfig.cmake ${PROJECT_BINARY_DIR}/cmake/StrataConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/StrataOnnx.cmake DESTINATION ${package})
install(EXPORT StrataTargets NAMESPACE Strata:: DESTINATION ${package})
