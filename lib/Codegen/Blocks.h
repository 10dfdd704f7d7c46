//===- Blocks.h - a dimension of a tensor in blocks -------------*- C++ -*-===//
#ifndef STRATA_CODEGEN_BLOCKS_H
#define STRATA_CODEGEN_BLOCKS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace strata {

/// Dimensions of `rank` and one more: `dim` and the one behind it belong together.
llvm::SmallVector<mlir::ReassociationIndices> withNext(int64_t rank, int64_t dim);

/// Elements first, first + step, .. of dimension `dim`, `count` of them.
mlir::Value sliceOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, int64_t dim, int64_t first,
                    int64_t count, int64_t step = 1);

/// Elements first .. first + count of dimension `dim` of what is expanded, of the part of its source that `ofSource`
/// makes of such arguments; null if there is no such part.
mlir::Value
sliceExpanded(mlir::OpBuilder &b, mlir::tensor::ExpandShapeOp expand, int64_t dim, int64_t first, int64_t count,
              llvm::function_ref<mlir::Value(mlir::Value source, int64_t dim, int64_t first, int64_t count)> ofSource);

/// A loop of the reduction becomes two: over groups of `group` iterations, and, as the last loop, over those of a
/// group.
void splitLoop(mlir::linalg::GenericOp &op, unsigned loop, int64_t group);

/// Dimension `dim`, filled up with zeros to `size` (0: whole groups), as one of groups and, behind it, one of the
/// `group` elements of each. One of unknown size has whole groups.
mlir::Value inGroups(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, int64_t dim, int64_t group,
                     int64_t size = 0);

/// Dimension `dim` of a tensor in blocks, the last one filled up with zeros, as dimensions `dim` and `dim + 1`; then
/// all dimensions in `order`. One of unknown size has whole blocks.
mlir::Value inBlocks(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, int64_t dim, int64_t block,
                     llvm::ArrayRef<int64_t> order);

/// How many of `lines` a block should have, at most about `fits`, if one is `bytes` that lie side by side, and the next
/// part of it far away: as many as give some lines of the cache, or up to twice as many, if these share `lines` out
/// evenly. Of an unknown number of lines, not so many that what is left of them matters.
int64_t linesOfBlock(int64_t lines, int64_t bytes, int64_t fits);

/// A copy of `value`, which is an input of a product with one loop of the reduction or a part of it, as
/// [.., lanes / block, reduction, block], the lanes being those of the result's last dimension; and how the operation
/// reads it.
std::pair<mlir::Value, mlir::AffineMap> copyInBlocks(mlir::OpBuilder &b, mlir::linalg::GenericOp op,
                                                     mlir::OpOperand *input, mlir::Value value, int64_t block);

} // namespace strata

#endif // STRATA_CODEGEN_BLOCKS_H
