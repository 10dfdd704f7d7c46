//===- SpecializeShapes.h - sizes for symbolic dimensions -------*- C++ -*-===//
//
// A model whose inputs have symbolic dimensions, made for known sizes of some of them. Comes before the upgrade phase:
// what follows from the sizes is the business of shape inference.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_DIALECT_ONNX_TRANSFORMS_SPECIALIZESHAPES_H
#define STRATA_DIALECT_ONNX_TRANSFORMS_SPECIALIZESHAPES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <string>
#include <utility>
#include <vector>

namespace strata {

/// Sizes of symbolic dimensions, by name: at least one, each at least 1, no name twice.
using ShapeSet = std::vector<std::pair<std::string, int64_t>>;

/// Reads {"batch=1", "seq=128"}.
llvm::Expected<ShapeSet> parseShapeSet(llvm::ArrayRef<llvm::StringRef> sizes);

/// The shapes of all inputs of @main, in order, with -1 where a size is not known.
using InputShapes = std::vector<std::vector<int64_t>>;

/// The shapes of the inputs with the sizes of the set. Emits an error if no input has a dimension of such a name.
mlir::FailureOr<InputShapes> shapesFor(mlir::ModuleOp module, const ShapeSet &set);

/// Gives the inputs of @main these shapes, which may only say more than their types do.
void specializeInputs(mlir::ModuleOp module, const InputShapes &shapes);

} // namespace strata

#endif // STRATA_DIALECT_ONNX_TRANSFORMS_SPECIALIZESHAPES_H
