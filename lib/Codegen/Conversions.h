//===- Conversions.h - operations that only convert elements ----*- C++ -*-===//
#ifndef STRATA_CODEGEN_CONVERSIONS_H
#define STRATA_CODEGEN_CONVERSIONS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace strata {

/// Each element of `tensor` as `of` makes one of type `element` of it. `read`: where the result's elements are in
/// `tensor`, a permutation (none: at the same place).
mlir::linalg::GenericOp mapElements(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor, mlir::Type element,
                                    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value)> of,
                                    mlir::AffineMap read = {});

/// Reads tensors by computed position, or branches: has no vector form.
bool isIrregular(mlir::linalg::GenericOp op);

/// Rounds each element of its operand to a narrower type, or extends bytes to 16 bits or floats to f32, and does
/// nothing else.
bool isConversion(mlir::linalg::GenericOp op);

/// A conversion of what others read, too, becomes a result of its own of what computes it: the operand is not read for
/// it. Nothing happens where the operand comes from a reduction, or from no operation that computes.
void joinWithProducer(mlir::linalg::GenericOp conversion);

/// The elementwise operation that reads `use` is computed with the one that makes it, which vanishes if nobody else
/// reads its result. Null, and nothing happens, where they cannot be one.
mlir::linalg::GenericOp fuseWithMaker(mlir::OpOperand &use);

} // namespace strata

#endif // STRATA_CODEGEN_CONVERSIONS_H
