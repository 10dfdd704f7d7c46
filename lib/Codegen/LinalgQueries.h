//===- LinalgQueries.h - small questions about linalg operations -*- C++ -*-===//
#ifndef STRATA_CODEGEN_LINALGQUERIES_H
#define STRATA_CODEGEN_LINALGQUERIES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace strata {

inline bool isReduction(mlir::linalg::GenericOp op) { return op.getNumReductionLoops() > 0; }

/// The one operation that reads a value's elements; others may read its sizes.
inline mlir::OpOperand *onlyReader(mlir::Value value) {
  mlir::OpOperand *only = nullptr;
  for (mlir::OpOperand &use : value.getUses())
    if (!mlir::isa<mlir::tensor::DimOp>(use.getOwner())) {
      if (only)
        return nullptr;
      only = &use;
    }
  return only;
}

/// The one operation that reads a value, if it computes elements, each of one of these.
inline mlir::linalg::GenericOp elementwiseReader(mlir::Value value) {
  mlir::OpOperand *use = onlyReader(value);
  auto reader = use ? mlir::dyn_cast<mlir::linalg::GenericOp>(use->getOwner()) : nullptr;
  bool fits = reader && mlir::linalg::isElementwise(reader) && reader.getNumResults() == 1 &&
              reader.getMatchingIndexingMap(use).isPermutation();
  return fits ? reader : nullptr;
}

/// The position of loop `dim` among a map's results.
inline std::optional<unsigned> positionOf(mlir::AffineMap map, unsigned dim) {
  return map.getResultPosition(mlir::getAffineDimExpr(dim, map.getContext()));
}

/// Whether each element of an operand is read, by loops of its own.
inline bool readsAll(mlir::linalg::GenericOp op, mlir::OpOperand &operand) {
  mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
  return map.isProjectedPermutation(/*allowZeroInResults=*/true) &&
         llvm::all_of(llvm::zip_equal(map.getResults(), op.getShape(&operand)), [](auto dim) {
           auto [place, size] = dim;
           return mlir::isa<mlir::AffineDimExpr>(place) || size == 1;
         });
}

/// Elements so far apart, at most, are read for the lanes of a vector with what is between them.
constexpr int64_t kMostApart = 4;

/// Of one element in memory.
inline int64_t bytesOf(mlir::Type element) {
  return element.isIntOrFloat() ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8) : 8;
}

/// The buffer that a view is a view of.
inline mlir::Value rootOf(mlir::Value buffer) {
  while (mlir::Operation *maker = buffer.getDefiningOp()) {
    if (auto view = mlir::dyn_cast<mlir::ViewLikeOpInterface>(maker))
      buffer = view.getViewSource();
    else if (auto cast = mlir::dyn_cast<mlir::memref::CastOp>(maker))
      buffer = cast.getSource();
    else
      break;
  }
  return buffer;
}

} // namespace strata

#endif // STRATA_CODEGEN_LINALGQUERIES_H
