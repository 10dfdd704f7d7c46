//===- Trace.h - where in a model the importer is ---------------*- C++ -*-===//
//
// A chain of frames on the C++ stack, from the file to the smallest thing at
// hand. Every message of the importer begins with it:
//
//   model.onnx: graph 'g': node 3 'conv1' (Conv-11): attribute 'pads': ...
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_IMPORT_TRACE_H
#define STRATA_LIB_IMPORT_TRACE_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace onnx {}

namespace strata::importer {
/// ONNX's protobuf classes; `onnx` is the dialect.
namespace proto = ::onnx;

class Trace {
public:
  /// The outermost frame: the file.
  Trace(mlir::MLIRContext *context, const llvm::Twine &file)
      : outer(nullptr), location(mlir::UnknownLoc::get(context)), text(file.str()) {}
  Trace(const Trace &outer, const llvm::Twine &text) : outer(&outer), location(outer.location), text(text.str()) {}
  Trace(const Trace &outer, const llvm::Twine &text, mlir::Location location)
      : outer(&outer), location(location), text(text.str()) {}

  /// Starts an error; stream the rest of the sentence into it.
  mlir::InFlightDiagnostic error() const { return mlir::emitError(location) << path() << ": "; }
  mlir::InFlightDiagnostic warning() const { return mlir::emitWarning(location) << path() << ": "; }

  std::string path() const { return outer ? outer->path() + ": " + text : text; }
  mlir::Location getLocation() const { return location; }
  mlir::MLIRContext *getContext() const { return location->getContext(); }

private:
  const Trace *outer;
  mlir::Location location;
  std::string text;
};

} // namespace strata::importer

#endif // STRATA_LIB_IMPORT_TRACE_H
