//===- RowWindows.cpp - windows of operations that run row by row ---------===//
#include "RowWindows.h"
#include "LinalgQueries.h"

using namespace mlir;
using linalg::GenericOp;
using strata::positionOf;

bool strata::isInWindow(GenericOp op, unsigned dim) {
  return llvm::any_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    return llvm::any_of(map.getResults(),
                        [&](AffineExpr expr) { return !isa<AffineDimExpr>(expr) && expr.isFunctionOfDim(dim); });
  });
}

bool strata::hasOwnWindows(GenericOp op) {
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  if (op.getNumDpsInputs() == 0 || op.getNumDpsInits() != 1 || reductions.empty() ||
      !llvm::all_of(reductions, [&](unsigned dim) { return isInWindow(op, dim); }))
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  bool windows = false;
  for (AffineExpr expr : maps[0].getResults()) {
    bool window = isa<AffineBinaryOpExpr>(expr);
    if (windows && !window)
      return false;
    windows |= window;
  }
  return windows &&
         llvm::all_of(llvm::drop_begin(maps), [](AffineMap map) { return map.isProjectedPermutation(true); });
}

tensor::PadOp strata::rowPadding(Value value, AffineMap map, ArrayRef<unsigned> rows) {
  auto pad = value.getDefiningOp<tensor::PadOp>();
  if (!pad || !pad->hasOneUse() || !pad.getConstantPaddingValue())
    return nullptr;
  SmallVector<OpFoldResult> low = pad.getMixedLowPad(), high = pad.getMixedHighPad();
  for (unsigned row : rows)
    if (std::optional<unsigned> at = positionOf(map, row))
      if (!isConstantIntValue(low[*at], 0) || !isConstantIntValue(high[*at], 0))
        return nullptr;
  return pad;
}

bool strata::hasNoWindow(GenericOp op, AffineMap map) {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
    unsigned loops = 0, parallel = 0;
    for (unsigned dim = 0; dim < map.getNumDims(); ++dim)
      if (expr.isFunctionOfDim(dim)) {
        ++loops;
        parallel += kinds[dim] == utils::IteratorType::parallel;
      }
    return loops <= 1 || parallel == 0;
  });
}
