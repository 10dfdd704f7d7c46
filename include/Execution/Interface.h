//===- Interface.h - what a model takes and gives ---------------*- C++ -*-===//
//
// Names, element types and shapes of a model's inputs and outputs. The seam
// keeps them as attributes of @main's arguments and results; lowering drops
// those, so attachInterface first copies them into a module attribute:
//
//   strata.interface = {inputs = [{name = "x", dtype = "float",
//                                  shape = array<i64: -1, 3>,
//                                  dims = ["batch", ""]}], outputs = [...]}
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_EXECUTION_INTERFACE_H
#define STRATA_EXECUTION_INTERFACE_H

#include "Execution/ValueInfo.h"
#include "mlir/IR/BuiltinOps.h"

namespace strata {

/// Reads the module attribute if there is one, else @main's attributes and
/// tensor types. Emits an error on malformed ones.
mlir::FailureOr<ModelInterface> readInterface(mlir::ModuleOp module);

/// Puts @main's interface into the module attribute, if it is not there yet.
mlir::LogicalResult attachInterface(mlir::ModuleOp module);

/// "float[batch, 3, 224, ?]", "sequence(float[...])"
std::string formatType(const ValueInfo &info);

} // namespace strata

#endif // STRATA_EXECUTION_INTERFACE_H
