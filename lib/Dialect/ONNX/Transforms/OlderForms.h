//===- OlderForms.h - ways around a missing version step --------*- C++ -*-===//

#ifndef STRATA_LIB_DIALECT_ONNX_TRANSFORMS_OLDERFORMS_H
#define STRATA_LIB_DIALECT_ONNX_TRANSFORMS_OLDERFORMS_H

#include "mlir/IR/PatternMatch.h"

namespace strata {

/// Replaces an op of ai.onnx that the opset does not have, or not in this form, by operators that began earlier. What
/// it makes is of new versions: their own steps lead further down.
llvm::LogicalResult replaceByOlderForm(mlir::Operation *op, int64_t opset, mlir::RewriterBase &rewriter);

/// Replaces an op of ai.onnx by casts to a wider type, what `downgrade` makes of the op in it, and casts back, where
/// that gives every result that the op has: floats of 16 bits are computed in 32 and rounded once, small integers in
/// larger ones, modulo their range.
llvm::LogicalResult computeWider(mlir::Operation *op, int64_t opset,
                                 llvm::function_ref<llvm::LogicalResult(mlir::Operation *)> downgrade,
                                 mlir::RewriterBase &rewriter);

} // namespace strata

#endif // STRATA_LIB_DIALECT_ONNX_TRANSFORMS_OLDERFORMS_H
