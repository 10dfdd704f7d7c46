# StrataOnnx: ONNX's own C++ library, built by cmake/build-onnx.sh.
#   onnx::proto   the protobuf classes (ModelProto, TensorProto, ...; #include "onnx/onnx_pb.h")
#   onnx::onnx    all of it: schemas, checker, inliner, text parser and printer. It throws exceptions: keep it
#                 behind lib/Import/OnnxLibrary.cpp.
set(STRATA_ONNX_ROOT "${CMAKE_CURRENT_SOURCE_DIR}/.deps/onnx" CACHE PATH "Where cmake/build-onnx.sh installed onnx")
if(NOT EXISTS "${STRATA_ONNX_ROOT}/lib/libonnx.a")
  message(STATUS "No onnx library in ${STRATA_ONNX_ROOT}: cmake/build-onnx.sh makes it (some minutes)")
  find_package(Python COMPONENTS Interpreter REQUIRED)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env PYTHON=${Python_EXECUTABLE} CXX=${CMAKE_CXX_COMPILER}
            bash ${CMAKE_CURRENT_LIST_DIR}/build-onnx.sh ${STRATA_ONNX_ROOT}
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "cmake/build-onnx.sh failed; STRATA_ONNX_ROOT may name the prefix of a library made elsewhere")
  endif()
endif()
find_package(Protobuf REQUIRED)
find_package(Threads REQUIRED)

foreach(part onnx proto)
  if(NOT TARGET onnx::${part})
    add_library(onnx::${part} STATIC IMPORTED GLOBAL)
    set_target_properties(onnx::${part} PROPERTIES
      INTERFACE_COMPILE_DEFINITIONS "ONNX_NAMESPACE=onnx;ONNX_ML=1"
      INTERFACE_INCLUDE_DIRECTORIES "${STRATA_ONNX_ROOT}/include"
      INTERFACE_LINK_LIBRARIES "protobuf::libprotobuf;Threads::Threads")
  endif()
endforeach()
set_target_properties(onnx::proto PROPERTIES IMPORTED_LOCATION "${STRATA_ONNX_ROOT}/lib/libonnx_proto.a")
set_target_properties(onnx::onnx PROPERTIES IMPORTED_LOCATION "${STRATA_ONNX_ROOT}/lib/libonnx.a")
