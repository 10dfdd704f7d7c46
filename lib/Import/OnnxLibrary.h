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

/// `model` (serialised) has one node, of the operator. Makes it a call of a model-local function whose body is the one
/// that the specification gives the operator for the node's attributes and inputs. False with the reason if there is
/// none.
bool callFunctionBody(std::string &model, llvm::StringRef operatorName, llvm::StringRef domain, int64_t sinceVersion,
                      std::string &error);

} // namespace strata::importer

#endif // STRATA_LIB_IMPORT_ONNXLIBRARY_H
