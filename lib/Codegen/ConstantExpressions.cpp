//===- ConstantExpressions.cpp - what depends on weights alone ------------===//
#include "ConstantExpressions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace strata;

ConstantExpressions::ConstantExpressions(func::FuncOp function) {
  if (function.isExternal())
    return;
  for (Operation &op : function.getBody().front()) {
    // Of a global that can be stored to: what the init function has computed. Lists of numbers are weights, too: what is
    // made of one number alone costs nothing.
    auto literal = dyn_cast<arith::ConstantOp>(op);
    bool isList = literal && isa<TensorType>(literal.getType()) && !isa<SplatElementsAttr>(literal.getValue());
    if (isList || isa<ml_program::GlobalLoadConstOp, ml_program::GlobalLoadOp>(op)) {
      known[&op] = true;
      continue;
    }
    // They stand in the entry block, so they would run anyway.
    if (!isMemoryEffectFree(&op) || op.hasTrait<OpTrait::IsTerminator>() || op.getNumResults() == 0)
      continue;
    llvm::SetVector<Value> values(op.operand_begin(), op.operand_end());
    for (Region &region : op.getRegions())
      getUsedValuesDefinedAbove(region, values);
    bool constant = true, weights = false;
    for (Value value : values) {
      auto found = value.getDefiningOp() ? known.find(value.getDefiningOp()) : known.end();
      constant &= found != known.end();
      weights |= found != known.end() && found->second;
    }
    if (constant)
      known[&op] = weights;
  }
}

bool ConstantExpressions::isConstant(Value value) const {
  return value.getDefiningOp() && known.contains(value.getDefiningOp());
}

bool ConstantExpressions::usesWeights(Value value) const {
  return value.getDefiningOp() && known.lookup(value.getDefiningOp());
}
