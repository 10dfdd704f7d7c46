//===- ValueNames.h - the names that values have in a model -----*- C++ -*-===//

#ifndef STRATA_DIALECT_ONNX_IR_VALUENAMES_H
#define STRATA_DIALECT_ONNX_IR_VALUENAMES_H

#include "Dialect/ONNX/IR/ONNXBase.h"

namespace strata::onnx {

/// The name that the importer gave `result` in its op's location; empty if there is none.
inline llvm::StringRef getValueName(mlir::OpResult result) {
  auto name = mlir::dyn_cast<mlir::NameLoc>(result.getOwner()->getLoc());
  if (!name)
    return "";
  mlir::Location child = name.getChildLoc();
  if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(child);
      fused && result.getResultNumber() < fused.getLocations().size())
    child = fused.getLocations()[result.getResultNumber()];
  if (auto own = mlir::dyn_cast<mlir::NameLoc>(child))
    return own.getName();
  return mlir::isa<InitializerOp>(result.getOwner()) ? name.getName().getValue() : llvm::StringRef();
}

} // namespace strata::onnx

#endif // STRATA_DIALECT_ONNX_IR_VALUENAMES_H
