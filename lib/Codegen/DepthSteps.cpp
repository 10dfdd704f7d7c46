//===- DepthSteps.cpp - taps of a window for each step of its depth -------===//
//
// Neighbouring taps of a line read the same pixels but one. With all channels of
// one tap before the next, the pixels of a tile come from the second-level cache
// for each of them: those of 448 channels are 27 KB, and the weights that pass
// between the two are as many. Tap by tap for each step of a matrix unit they
// are in the first level.
//
//===----------------------------------------------------------------------===//
#include "DepthSteps.h"
#include "Blocks.h"
#include "LinalgQueries.h"
#include "MatrixUnit.h"
#include "Padding.h"
#include "ProductSums.h"

using namespace mlir;

/// Whether most rows of a tile along `expr` are those of the next tap, too.
static bool sharesRows(linalg::GenericOp op, AffineExpr expr) {
  std::optional<strata::PaddedLoop> window = strata::matchWindow(expr, op.getIteratorTypesArray());
  return window && op.getStaticLoopRanges()[window->tap] != 1 &&
         4 * window->dilation <= strata::MatrixUnit::mostRows * window->stride;
}

std::optional<unsigned> strata::cutDepthInSteps(linalg::GenericOp &op, const TargetFacts &target,
                                                const ConstantExpressions &constants) {
  std::optional<unsigned> lane = getLaneOf(op, 1);
  OpOperand *data = op.getDpsInputOperand(0), *weights = op.getDpsInputOperand(1);
  AffineMap map = op.getMatchingIndexingMap(data), weightsMap = op.getMatchingIndexingMap(weights);
  if (!lane || !isForMatrixUnit(op, data, target) || !isPlain(weightsMap) || !constants.isConstant(weights->get()) ||
      map.getNumResults() < 3)
    return std::nullopt;
  // [.., pixel + tap, depth, group]
  ArrayRef<AffineExpr> last = map.getResults().take_back(3);
  auto depth = dyn_cast<AffineDimExpr>(last[1]);
  if (!depth || !sharesRows(op, last[0]) || !positionOf(weightsMap, depth.getPosition()))
    return std::nullopt;
  unsigned loop = depth.getPosition();
  int64_t size = op.getStaticLoopRanges()[loop];
  if (op.getIteratorTypesArray()[loop] != utils::IteratorType::reduction || ShapedType::isDynamic(size))
    return std::nullopt;
  // What two tiles of rows and two of lanes read for one tap passes between two uses of a row.
  int64_t step = MatrixUnit::groupsOfStep(size), passing = 2 * (MatrixUnit::mostRows + MatrixUnit::columns) * 4 * size;
  if (2 * passing <= target.nearCacheBytes)
    return std::nullopt;
  SmallVector<PaddedLoop> padded = getPaddedLoops(op);
  splitLoop(op, loop, step);
  setPaddedLoops(op, padded);
  return loop;
}
