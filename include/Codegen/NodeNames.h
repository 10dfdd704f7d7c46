//===- NodeNames.h - the ONNX nodes that a location stands for ------------===//
#ifndef STRATA_CODEGEN_NODENAMES_H
#define STRATA_CODEGEN_NODENAMES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace strata {

/// The module attribute with the names of all nodes, for --explain.
inline constexpr llvm::StringLiteral kNodes = "strata.nodes";

/// Adds the names of the nodes that were merged into a location, each once.
inline void collectNodeNames(mlir::Location loc, llvm::SmallVectorImpl<llvm::StringRef> &names) {
  if (auto name = mlir::dyn_cast<mlir::NameLoc>(loc)) {
    if (!llvm::is_contained(names, name.getName().getValue()))
      names.push_back(name.getName().getValue());
  } else if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(loc)) {
    for (mlir::Location part : fused.getLocations())
      collectNodeNames(part, names);
  } else if (auto call = mlir::dyn_cast<mlir::CallSiteLoc>(loc)) {
    collectNodeNames(call.getCallee(), names);
  }
}

/// All of them in one text.
inline std::string joinNodeNames(mlir::Location loc, llvm::StringRef separator) {
  llvm::SmallVector<llvm::StringRef> names;
  collectNodeNames(loc, names);
  return llvm::join(names, separator);
}

} // namespace strata

#endif // STRATA_CODEGEN_NODENAMES_H
