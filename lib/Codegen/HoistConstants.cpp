//===- HoistConstants.cpp - constant expressions are computed at load -----===//
#include "Codegen/Passes.h"
#include "ConstantExpressions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

namespace strata {
#define GEN_PASS_DEF_HOISTCONSTANTS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using strata::ConstantExpressions;

/// Only renames elements of what it is made of: nothing to compute.
static bool isView(Operation *op) { return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op); }

/// Whether something that is not constant reads a value, or a view of it.
static bool isReadAtRunTime(Value value, const ConstantExpressions &constants) {
  return llvm::any_of(value.getUsers(), [&](Operation *reader) {
    while (!constants.isConstant(reader) && reader->getBlock() != value.getParentBlock())
      reader = reader->getParentOp();
    return !constants.isConstant(reader) || (isView(reader) && isReadAtRunTime(reader->getResult(0), constants));
  });
}

/// What is to be computed once. Where a loop or a branch does so, it may not have been reached: at this level, nothing
/// that has no side effects does harm.
static SmallVector<Value> findWanted(func::FuncOp function, const ConstantExpressions &constants) {
  SmallVector<Value> wanted;
  function.walk([&](Operation *op) {
    if (isa<ml_program::GlobalLoadConstOp, ml_program::GlobalLoadOp, arith::ConstantOp>(op) || isView(op))
      return;
    for (Value result : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (type && type.hasStaticShape() && type.getNumElements() && constants.usesWeights(result) &&
          isReadAtRunTime(result, constants))
        wanted.push_back(result);
    }
  });
  return wanted;
}

/// Clones an operation and all that it is made of, each once.
static void copyInto(OpBuilder &b, Operation *op, IRMapping &mapping) {
  if (op->getNumResults() && mapping.contains(op->getResult(0)))
    return;
  for (Value value : strata::valuesReadBy(op))
    copyInto(b, value.getDefiningOp(), mapping);
  b.clone(*op, mapping);
}

static func::FuncOp initFunction(ModuleOp module) {
  if (auto init = module.lookupSymbol<func::FuncOp>("init"))
    return init;
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto init = b.create<func::FuncOp>(b.getUnknownLoc(), "init", b.getFunctionType({}, {}));
  b.setInsertionPointToEnd(init.addEntryBlock());
  b.create<func::ReturnOp>(b.getUnknownLoc());
  return init;
}

namespace {
struct HoistConstantsPass : strata::impl::HoistConstantsBase<HoistConstantsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    SmallVector<Value> wanted = findWanted(main, ConstantExpressions(main));
    if (wanted.empty())
      return;
    SymbolTable symbols(module);
    OpBuilder b(initFunction(module).getBody().front().getTerminator());
    IRMapping mapping;
    for (Value value : wanted) {
      Location loc = value.getLoc();
      copyInto(b, value.getDefiningOp(), mapping);
      OpBuilder global(module.getBodyRegion());
      auto slot = global.create<ml_program::GlobalOp>(loc, "computed", value.getType(), /*is_mutable=*/true,
                                                      Attribute(), global.getStringAttr("private"));
      slot->setAttr("strata.computed", global.getUnitAttr());
      symbols.insert(slot);
      auto name = FlatSymbolRefAttr::get(slot.getSymNameAttr());
      b.create<ml_program::GlobalStoreOp>(loc, name, mapping.lookup(value));
      // Before loops and branches around it.
      OpBuilder load(main.getBody().front().findAncestorOpInBlock(*value.getDefiningOp()));
      value.replaceAllUsesWith(load.create<ml_program::GlobalLoadOp>(loc, value.getType(), name));
    }
  }
};
} // namespace
