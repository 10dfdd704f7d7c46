//===- BulkOperand.cpp - an operand as bulk copies take it ----------------===//
//
// A bulk copy takes a box of a tensor, whose strides are multiples of 16 bytes but
// for one dimension of neighbours. So a side's loops become dimensions: a loop is
// one, or several of a window (a pixel's number and the filter's) are one together.
//
//===----------------------------------------------------------------------===//
#include "BulkOperand.h"
#include "Divisors.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace strata;

static constexpr int64_t copyBytes = 16, mostDimensions = 5;

bool strata::isKnownToHost(Value value) {
  if (!value)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op)
    return isa<gpu::GPUFuncOp, func::FuncOp>(value.getParentBlock()->getParentOp());
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) && llvm::all_of(op->getOperands(), isKnownToHost);
}

std::optional<SmallVector<MapDimension, 5>> strata::findDimensions(const LoopNest &nest, const Access &access,
                                                                   int64_t elementBytes) {
  if (!access.base || access.blockedLoop >= 0 || !isKnownToHost(access.base) || !isKnownToHost(access.offset) ||
      (access.offset && divisorOf(access.offset) * elementBytes % copyBytes))
    return std::nullopt;
  SmallVector<int> known, unknown;
  for (auto [i, stride] : llvm::enumerate(access.strides)) {
    if (stride.is(0))
      continue;
    if (!stride.is(1) && divisorOf(stride) * elementBytes % copyBytes)
      return std::nullopt;
    if ((stride.isKnown() && stride.known < 0) || !isKnownToHost(stride.value) ||
        !isKnownToHost(nest.loops[i].size.value))
      return std::nullopt;
    (stride.isKnown() ? known : unknown).push_back(i);
  }
  llvm::stable_sort(known, [&](int x, int y) { return access.strides[x].known < access.strides[y].known; });
  SmallVector<MapDimension, 5> dimensions;
  for (int loop : known) {
    const Extent &size = nest.loops[loop].size, &stride = access.strides[loop];
    MapDimension *last = dimensions.empty() ? nullptr : &dimensions.back();
    // Whether the last one ends where this one goes on, only the run tells.
    if (last && !last->size.isKnown())
      return std::nullopt;
    bool overlaps = last && last->stride.known * last->size.known > stride.known;
    if (!overlaps) {
      dimensions.push_back({{{loop, 1}}, size, stride});
      continue;
    }
    if (dimensions.size() == 1 || !size.isKnown())
      return std::nullopt;
    // Of a window: places are counted in what both strides are multiples of.
    int64_t unit = std::gcd(last->stride.known, stride.known), widen = last->stride.known / unit;
    for (MapDimension::Part &part : last->parts)
      part.factor *= widen;
    last->parts.push_back({loop, stride.known / unit});
    last->size.known = (last->size.known - 1) * widen + (size.known - 1) * (stride.known / unit) + 1;
    last->stride.known = unit;
  }
  for (int loop : unknown)
    dimensions.push_back({{{loop, 1}}, nest.loops[loop].size, access.strides[loop]});
  if (dimensions.empty() || !dimensions[0].stride.is(1) || dimensions.size() > mostDimensions)
    return std::nullopt;
  return dimensions;
}

bool strata::setBoxes(BulkOperand &operand, int stepLoop) {
  for (auto [i, dimension] : llvm::enumerate(operand.dimensions)) {
    for (const MapDimension::Part &part : dimension.parts) {
      int64_t count = 1;
      // Of a line, one copy takes as much as swizzling mixes.
      if (i == 0)
        count = operand.lineElements();
      else if (part.loop == stepLoop)
        count = operand.depth;
      else if (auto *loop = llvm::find(operand.loops, part.loop); loop != operand.loops.end())
        count = operand.boxes[loop - operand.loops.begin()];
      if (count == 1)
        continue;
      if (dimension.box != 1 || part.factor > kLongestStep)
        return false;
      dimension.box = count * part.factor;
      dimension.step = part.factor;
    }
    if (dimension.box > kLargestBox)
      return false;
  }
  return true;
}
