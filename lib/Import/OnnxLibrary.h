//===- OnnxLibrary.h - the parts of ONNX's C++ library that we call *- C++ -*-===//
//
// The library throws exceptions; nothing escapes from here.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_IMPORT_ONNXLIBRARY_H
#define STRATA_LIB_IMPORT_ONNXLIBRARY_H

#include "Trace.h"
#include "onnx/onnx_pb.h"

namespace strata::importer {

/// Parses ONNX's text syntax.
llvm::LogicalResult parseModelText(llvm::StringRef text, const Trace &trace, proto::ModelProto &model);

} // namespace strata::importer

#endif // STRATA_LIB_IMPORT_ONNXLIBRARY_H
