//===- ProductRows.cpp - rows that share the weights of a product ---------===//
#include "ProductRows.h"
#include "LinalgQueries.h"

using namespace mlir;

std::optional<int64_t> strata::rowDistance(linalg::GenericOp op, OpOperand *weights, OpOperand *data, unsigned lane) {
  AffineMap map = op.getMatchingIndexingMap(weights), out = op.getIndexingMapsArray().back();
  AffineMap read = op.getMatchingIndexingMap(data);
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto type = cast<RankedTensorType>(data->get().getType());
  for (AffineExpr expr : llvm::reverse(out.getResults())) {
    auto row = dyn_cast<AffineDimExpr>(expr);
    if (!row || row.getPosition() == lane || map.isFunctionOfDim(row.getPosition()) || sizes[row.getPosition()] == 1)
      continue;
    int64_t distance = strata::bytesOf(type.getElementType());
    for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
      SmallVector<int64_t> factors;
      if (read.getResult(dim).isFunctionOfDim(row.getPosition())) {
        if (failed(getFlattenedAffineExpr(read.getResult(dim), read.getNumDims(), 0, &factors)))
          return std::nullopt;
        return distance * factors[row.getPosition()];
      }
      if (type.isDynamicDim(dim))
        return std::nullopt;
      distance *= type.getDimSize(dim);
    }
  }
  return std::nullopt;
}

std::optional<int64_t> strata::rowsOf(linalg::GenericOp op, OpOperand *weights, OpOperand *data) {
  AffineMap map = op.getMatchingIndexingMap(weights), out = op.getIndexingMapsArray().back();
  bool window = !op.getMatchingIndexingMap(data).isProjectedPermutation();
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  constexpr int64_t someRows = 4;
  int64_t rows = 1;
  bool known = true;
  for (AffineExpr expr : out.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || map.isFunctionOfDim(dim.getPosition()))
      continue;
    int64_t size = sizes[dim.getPosition()];
    if (!ShapedType::isDynamic(size)) {
      rows = window ? size : rows * size;
      continue;
    }
    known = false;
    rows = window ? 1 : rows;
  }
  return known || rows >= someRows ? std::optional(rows) : std::nullopt;
}
