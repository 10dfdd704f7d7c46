//===- FuseRows.h - operations that share their rows run row by row -------===//
#ifndef STRATA_CODEGEN_FUSEROWS_H
#define STRATA_CODEGEN_FUSEROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <functional>

namespace strata {

/// Elements of an unknown extent, where something has to be decided.
constexpr int64_t usualExtent = 512;
inline int64_t usualSize(int64_t size) { return mlir::ShapedType::isDynamic(size) ? usualExtent : size; }

/// What the groups may be like.
struct RowLimits {
  int64_t rowBytes;         ///< of the tensors that members have in common, for one row
  bool products = true;     ///< products of two computed matrices may join
  bool blocks = true;       ///< several rows at once, as the cache has room for; else each iteration is one row
  int64_t blockBytes = 0;   ///< as rowBytes, for all rows of a block without products
  int64_t productBytes = 0; ///< as rowBytes, for all rows of a block with products
  /// As usualExtent, of further dimensions of a row, where threads find enough rows.
  int64_t furtherExtent = usualExtent;
  int64_t copiedBytes = 0;  ///< of a part of a tensor that iterations may copy for themselves
  bool windows = true;      ///< windows of single channels may join, with the padding of their input
  /// Lanes of a block, for a product of so many rows at once and so many lanes: what all rows of a product share, and
  /// several blocks of rows read, is copied in such blocks first. Null: never.
  std::function<int64_t(int64_t rows, int64_t lanes)> packedLanes;
  bool sharedPlaces = true; ///< what one member alone still reads is overwritten by its result
  std::function<bool(mlir::linalg::GenericOp)> suits;  ///< what may be a member; null: whatever has the rows
  std::function<bool(mlir::linalg::GenericOp)> isLoop; ///< reductions that are a loop by themselves, too; null: none
};

/// Groups become loops over their rows.
void fuseRows(mlir::func::FuncOp function, const RowLimits &limits);

} // namespace strata

#endif // STRATA_CODEGEN_FUSEROWS_H
