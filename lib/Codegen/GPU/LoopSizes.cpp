//===- LoopSizes.cpp - how long a kernel's loops are, for its caller ------===//
#include "LoopSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace strata;

Value strata::loopSize(OpBuilder &b, Location loc, linalg::GenericOp op, unsigned loop, func::CallOp call) {
  auto constant = [&](int64_t value) { return b.create<arith::ConstantIndexOp>(loc, value); };
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (unsigned i = 0; i < map.getNumResults(); ++i) {
      auto dim = dyn_cast<AffineDimExpr>(map.getResult(i));
      if (!dim || dim.getPosition() != loop)
        continue;
      if (!type.isDynamicDim(i))
        return constant(type.getDimSize(i));
      auto outside = [&](Value value) { return call.getOperand(cast<BlockArgument>(value).getArgNumber()); };
      if (auto alloc = operand.get().getDefiningOp<memref::AllocOp>())
        return outside(alloc.getDynamicSizes()[type.getDynamicDimIndex(i)]);
      return b.create<memref::DimOp>(loc, outside(operand.get()), i);
    }
  }
  llvm_unreachable("every loop of a structured operation walks a dimension of an operand");
}

Value strata::loopSizes(OpBuilder &b, Location loc, linalg::GenericOp op, ArrayRef<int> loops, func::CallOp call) {
  Value product = b.create<arith::ConstantIndexOp>(loc, 1);
  for (int loop : loops)
    product = b.createOrFold<arith::MulIOp>(loc, product, loopSize(b, loc, op, loop, call));
  return product;
}
