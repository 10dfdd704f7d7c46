//===- ConstantExpressions.cpp - what depends on weights alone ------------===//
#include "ConstantExpressions.h"
#include "Conversions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
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

bool strata::isMadeOfConstants(Value value) {
  constexpr size_t few = 64;
  llvm::SetVector<Value> seen;
  seen.insert(value);
  for (size_t i = 0; i < seen.size(); ++i) {
    Operation *maker = seen[i].getDefiningOp();
    if (!maker || seen.size() > few || !(isa<ml_program::GlobalLoadConstOp>(maker) || isMemoryEffectFree(maker)))
      return false;
    for (Value read : valuesReadBy(maker))
      seen.insert(read);
  }
  return true;
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

/// The model's constant that `value` has the elements of, in whichever order.
static Attribute constantBehind(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto conversion = dyn_cast<linalg::GenericOp>(op);
    if (isa<linalg::TransposeOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp>(op) ||
        (conversion && isConversion(conversion))) {
      value = op->getOperand(0);
      continue;
    }
    if (auto load = dyn_cast<ml_program::GlobalLoadConstOp>(op)) {
      auto global = SymbolTable::lookupNearestSymbolFrom<ml_program::GlobalOp>(op, load.getGlobal());
      return global ? global.getValueAttr() : Attribute();
    }
    Attribute constant;
    return matchPattern(value, m_Constant(&constant)) ? constant : Attribute();
  }
  return {};
}

std::pair<ArrayRef<char>, Type> strata::elementsBehind(Value value) {
  auto constant = dyn_cast_or_null<ElementsAttr>(constantBehind(value));
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(constant))
    return {dense.getRawData(), dense.getElementType()};
  if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(constant))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      return {blob->getData(), resource.getElementType()};
  return {};
}
