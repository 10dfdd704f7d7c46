//===- Transposed.h - a tensor with its dimensions in another order -*- C++ -*-===//
#ifndef STRATA_CODEGEN_TRANSPOSED_H
#define STRATA_CODEGEN_TRANSPOSED_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace strata {

/// `value` itself for the identity, else a linalg.transpose.
inline mlir::Value transposed(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                              llvm::ArrayRef<int64_t> permutation) {
  if (mlir::isIdentityPermutation(permutation))
    return value;
  llvm::SmallVector<mlir::OpFoldResult> sizes = mlir::tensor::getMixedSizes(b, loc, value);
  mlir::applyPermutationToVector(sizes, permutation);
  mlir::Type element = mlir::cast<mlir::RankedTensorType>(value.getType()).getElementType();
  mlir::Value empty = b.create<mlir::tensor::EmptyOp>(loc, sizes, element);
  return b.create<mlir::linalg::TransposeOp>(loc, value, empty, permutation).getResult()[0];
}

/// The transpose that makes this operand; not one in front of a loop, in which it would be made again in each step.
inline mlir::linalg::TransposeOp transposeBefore(mlir::Operation *op, mlir::Value operand) {
  auto transpose = operand.getDefiningOp<mlir::linalg::TransposeOp>();
  bool inSameLoop = transpose && transpose->getParentOfType<mlir::LoopLikeOpInterface>() ==
                                     op->getParentOfType<mlir::LoopLikeOpInterface>();
  return inSameLoop ? transpose : nullptr;
}

/// How an operation with this map of the transposed tensor reads the tensor itself.
inline mlir::AffineMap mapBehind(mlir::linalg::TransposeOp transpose, mlir::AffineMap map) {
  llvm::SmallVector<mlir::AffineExpr> results(map.getNumResults());
  for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
    results[from] = map.getResult(to);
  return mlir::AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

} // namespace strata

#endif // STRATA_CODEGEN_TRANSPOSED_H
