//===- RuntimeCalls.h - what linalg cannot do -------------------*- C++ -*-===//
//
// Calls of the runtime's functions on the seam (include/Runtime/strata_runtime.h):
// strings, sequences, optionals, maps.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_CONVERSION_RUNTIMECALLS_H
#define STRATA_CONVERSION_RUNTIMECALLS_H

#include "Conversion/LinalgBuilder.h"

namespace strata {

/// Calls the C function `symbol`. Tensors (read only) and buffers are passed as descriptors, scalars by value. A
/// `located` function gets the address of the node's name as one more, last argument.
mlir::Value callRuntime(LinalgBuilder &b, llvm::StringRef symbol, mlir::ValueRange arguments, mlir::Type result = {},
                        bool located = false);

/// A new buffer that a runtime function fills, and afterwards the tensor that it is.
mlir::Value makeBuffer(LinalgBuilder &b, llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type element);
mlir::Value bufferToTensor(LinalgBuilder &b, mlir::Value buffer);

/// A table of strings as runtime functions read it: a tensor of bytes.
mlir::Value stringTable(LinalgBuilder &b, llvm::ArrayRef<llvm::StringRef> strings);
/// The handles of constant strings, one dimension.
mlir::Value stringConstants(LinalgBuilder &b, llvm::ArrayRef<llvm::StringRef> strings);
/// One of them, an i64.
mlir::Value stringConstant(LinalgBuilder &b, llvm::StringRef string);
/// The address of a constant tensor, an i64, that scalar functions are given.
mlir::Value addressOf(LinalgBuilder &b, mlir::Value constant);

/// Constant strings that strings are searched among. Made outside of loops.
class StringSearch {
public:
  StringSearch(LinalgBuilder &b, llvm::ArrayRef<llvm::StringRef> strings);
  /// The position of the last string that equals `string`, or -1, an i64.
  mlir::Value find(LinalgBuilder &b, mlir::Value string) const;

private:
  mlir::Value table, order;
};

/// An element for each index tuple, in order: for bodies that call the runtime, which linalg's do not.
mlir::Value tabulate(LinalgBuilder &b, llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type element,
                     llvm::function_ref<mlir::Value(mlir::ValueRange indices)> body);
/// The same over the elements of tensors that are broadcast.
mlir::Value mapElements(LinalgBuilder &b, mlir::ValueRange tensors, mlir::Type element,
                        llvm::function_ref<mlir::Value(mlir::ValueRange elements)> body);

/// ONNX's number of a tensor's element type, an i64.
mlir::Value dtypeOf(LinalgBuilder &b, mlir::Type onnxElement);

} // namespace strata

#endif // STRATA_CONVERSION_RUNTIMECALLS_H
