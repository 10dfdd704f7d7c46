//===- DepthToSpace.cpp - DepthToSpace and SpaceToDepth -------------------===//
//
// Blocks of the channels become blocks of pixels and back. In mode DCR the
// block is the outer part of the channel, in CRD the inner one.
//
//===----------------------------------------------------------------------===//

#include "../Slice.h"
#include "Dialect/VersionSteps.h"

static bool isCRD(Operation *op) {
  auto mode = op->getAttrOfType<StringAttr>("mode");
  return mode && mode.getValue() == "CRD";
}

static int64_t getBlock(Operation *op) { return op->getAttrOfType<IntegerAttr>("blocksize").getInt(); }

static LogicalResult verifyBlock(Operation *op) {
  if (getBlock(op) < 1)
    return op->emitOpError("has the block size ") << getBlock(op);
  if (auto mode = op->getAttrOfType<StringAttr>("mode"); mode && mode.getValue() != "DCR" && mode.getValue() != "CRD")
    return op->emitOpError("has the unknown mode '") << mode.getValue() << "'";
  return success();
}

static LogicalResult inferBlocks(ShapeContext &c, bool toSpace) {
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return success();
  if (shape->size() != 4)
    return c.emitError() << "needs an input of rank 4, not " << shape->size();
  int64_t block = getBlock(c.getOperation()), area = block * block;
  auto divide = [&](const Dim &dim, int64_t by, StringRef what) -> FailureOr<Dim> {
    if (dim.isStatic() && dim.size % by != 0)
      return c.emitError() << "has " << what << " of size " << dim.size << ", which " << by << " does not divide";
    return floorDiv(dim, Dim(by));
  };
  Shape &s = *shape;
  if (toSpace) {
    FailureOr<Dim> channels = divide(s[1], area, "channels");
    if (failed(channels))
      return failure();
    c.setShape(0, {s[0], *channels, s[2] * Dim(block), s[3] * Dim(block)});
    return success();
  }
  FailureOr<Dim> height = divide(s[2], block, "a height"), width = divide(s[3], block, "a width");
  if (failed(height) || failed(width))
    return failure();
  c.setShape(0, {s[0], s[1] * Dim(area), *height, *width});
  return success();
}

static LogicalResult inferDepthToSpace(ShapeContext &c) { return inferBlocks(c, true); }
static LogicalResult inferSpaceToDepth(ShapeContext &c) { return inferBlocks(c, false); }

static FailureOr<SmallVector<Value>> lowerDepthToSpace(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Sizes s = b.sizes(operands[0]);
  OpFoldResult block = b.getIndexAttr(getBlock(op)), channels = b.floorDiv(s[1], b.mul(block, block));
  b.checkEqual(b.mul(channels, b.mul(block, block)), s[1], "the block does not divide the channels");
  bool crd = isCRD(op);
  Value split = crd ? b.reshape(operands[0], {s[0], channels, block, block, s[2], s[3]})
                    : b.reshape(operands[0], {s[0], block, block, channels, s[2], s[3]});
  Value moved = b.transpose(split, crd ? ArrayRef<int64_t>{0, 1, 4, 2, 5, 3} : ArrayRef<int64_t>{0, 3, 4, 1, 5, 2});
  return SmallVector<Value>{b.reshape(moved, {s[0], channels, b.mul(s[2], block), b.mul(s[3], block)})};
}

static FailureOr<SmallVector<Value>> lowerSpaceToDepth(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Sizes s = b.sizes(operands[0]);
  OpFoldResult block = b.getIndexAttr(getBlock(op)), height = b.floorDiv(s[2], block), width = b.floorDiv(s[3], block);
  b.checkEqual(b.mul(height, block), s[2], "the block does not divide the height");
  b.checkEqual(b.mul(width, block), s[3], "the block does not divide the width");
  Value split = b.reshape(operands[0], {s[0], s[1], height, block, width, block});
  Value moved =
      b.transpose(split, isCRD(op) ? ArrayRef<int64_t>{0, 1, 3, 5, 2, 4} : ArrayRef<int64_t>{0, 3, 5, 1, 2, 4});
  return SmallVector<Value>{b.reshape(moved, {s[0], b.mul(s[1], b.mul(block, block)), height, width})};
}

static LogicalResult downgradeBlock(Operation *op, PatternRewriter &rewriter) {
  return downgradeStep(op, rewriter, {{"mode", "DCR"}});
}

STRATA_SLICE(DepthToSpace) {
  ops.add("DepthToSpace", {.verify = verifyBlock,
                           .inferShapes = inferDepthToSpace,
                           .upgrade = keepAttributes,
                           .downgrade = downgradeBlock,
                           .lower = lowerDepthToSpace,
                           .handles = true});
  ops.add("SpaceToDepth", {.verify = verifyBlock,
                           .inferShapes = inferSpaceToDepth,
                           .upgrade = keepAttributes,
                           .downgrade = downgradeBlock,
                           .lower = lowerSpaceToDepth,
                           .handles = true});
}
