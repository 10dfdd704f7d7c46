//===- ConstantExpressions.cpp - what depends on weights alone ------------===//
#include "ConstantExpressions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace strata;

llvm::SetVector<Value> strata::valuesReadBy(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  for (Region &region : op->getRegions())
    getUsedValuesDefinedAbove(region, values);
  return values;
}

ConstantExpressions::ConstantExpressions(func::FuncOp function) {
  function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    // Of a global that can be stored to: what the init function has computed. Lists of numbers are weights, too: what
    // is made of one number alone costs nothing.
    auto literal = dyn_cast<arith::ConstantOp>(op);
    bool isList = literal && isa<TensorType>(literal.getType()) && !isa<SplatElementsAttr>(literal.getValue());
    if (isList || isa<ml_program::GlobalLoadConstOp, ml_program::GlobalLoadOp>(op)) {
      known[op] = true;
      return WalkResult::skip();
    }
    // Inside of loops and branches, too; bodies of structured operations work on elements.
    WalkResult inside = isa<linalg::LinalgOp>(op) ? WalkResult::skip() : WalkResult::advance();
    if (!isMemoryEffectFree(op) || op->hasTrait<OpTrait::IsTerminator>() || op->getNumResults() == 0)
      return inside;
    bool weights = false;
    for (Value value : valuesReadBy(op)) {
      if (!isConstant(value))
        return inside;
      weights |= usesWeights(value);
    }
    known[op] = weights;
    return WalkResult::skip();
  });
}

bool ConstantExpressions::isConstant(Operation *op) const { return known.contains(op); }

bool ConstantExpressions::isConstant(Value value) const {
  return value.getDefiningOp() && isConstant(value.getDefiningOp());
}

bool ConstantExpressions::usesWeights(Value value) const {
  return value.getDefiningOp() && known.lookup(value.getDefiningOp());
}
