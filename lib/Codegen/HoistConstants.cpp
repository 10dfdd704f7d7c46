//===- HoistConstants.cpp - constant expressions are computed at load -----===//
#include "Codegen/Passes.h"
#include "ConstantExpressions.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace strata {
#define GEN_PASS_DEF_HOISTCONSTANTS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

/// Only renames elements of what it is made of: nothing to compute.
static bool isView(Operation *op) { return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op); }

/// Constant expressions inside of loops and branches that use weights, such as the packed weights of a recurrence, are
/// computed before them. Nothing at the seam does harm where it would not have been run.
static void moveBefore(Operation *outer, const strata::ConstantExpressions &constants) {
  DenseMap<Operation *, bool> known; ///< of those inside: whether they use weights
  auto isKnown = [&](Value value) {
    return constants.isConstant(value) || (value.getDefiningOp() && known.contains(value.getDefiningOp()));
  };
  SmallVector<Operation *> inner;
  outer->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == outer)
      return WalkResult::advance();
    llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
    for (Region &region : op->getRegions())
      getUsedValuesDefinedAbove(region, values);
    if (!isMemoryEffectFree(op) || op->hasTrait<OpTrait::IsTerminator>() || op->getNumResults() == 0 ||
        !llvm::all_of(values, isKnown))
      return WalkResult::advance();
    known[op] = llvm::any_of(values, [&](Value value) {
      return constants.usesWeights(value) || (value.getDefiningOp() && known.lookup(value.getDefiningOp()));
    });
    inner.push_back(op);
    return WalkResult::skip();
  });
  IRMapping mapping;
  OpBuilder b(outer);
  std::function<void(Operation *)> copy = [&](Operation *op) {
    if (!known.contains(op) || mapping.contains(op->getResult(0)))
      return;
    llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
    for (Region &region : op->getRegions())
      getUsedValuesDefinedAbove(region, values);
    for (Value value : values)
      if (Operation *maker = value.getDefiningOp())
        copy(maker);
    b.clone(*op, mapping);
  };
  for (Operation *op : inner) {
    bool wanted = known[op] && !isView(op) && llvm::any_of(op->getUsers(), [&](Operation *user) {
                    while (user->getParentOp() != op->getParentOp())
                      user = user->getParentOp();
                    return !known.contains(user);
                  });
    if (!wanted)
      continue;
    copy(op);
    op->replaceAllUsesWith(llvm::map_to_vector(op->getResults(), [&](Value value) { return mapping.lookup(value); }));
  }
}

namespace {
struct HoistConstantsPass : strata::impl::HoistConstantsBase<HoistConstantsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    strata::ConstantExpressions outside(main);
    for (Operation &op : llvm::make_early_inc_range(main.getBody().front()))
      if (op.getNumRegions() && !isa<linalg::LinalgOp>(op))
        moveBefore(&op, outside);
    strata::ConstantExpressions constants(main);
    SmallVector<Value> wanted;
    for (Operation &op : main.getBody().front()) {
      if (isa<ml_program::GlobalLoadConstOp, ml_program::GlobalLoadOp, arith::ConstantOp>(op) || isView(&op))
        continue;
      for (Value result : op.getResults()) {
        auto type = dyn_cast<RankedTensorType>(result.getType());
        if (!type || !type.hasStaticShape() || type.getNumElements() == 0 || !constants.usesWeights(result))
          continue;
        // Wanted where something that is not constant reads it, or a view of it.
        std::function<bool(Value)> leaves = [&](Value value) {
          return llvm::any_of(value.getUsers(), [&](Operation *user) {
            Operation *inBlock = main.getBody().front().findAncestorOpInBlock(*user);
            return inBlock->getNumResults() == 0 || !constants.isConstant(inBlock->getResult(0)) ||
                   (isView(inBlock) && leaves(inBlock->getResult(0)));
          });
        };
        if (leaves(result))
          wanted.push_back(result);
      }
    }
    if (wanted.empty())
      return;
    SymbolTable symbols(module);
    OpBuilder top(module.getBodyRegion());
    Location unknown = top.getUnknownLoc();
    top.setInsertionPointToEnd(module.getBody());
    auto init = module.lookupSymbol<func::FuncOp>("init");
    if (!init) {
      init = top.create<func::FuncOp>(unknown, "init", top.getFunctionType({}, {}));
      top.setInsertionPointToEnd(init.addEntryBlock());
      top.create<func::ReturnOp>(unknown);
    }
    OpBuilder b(init.getBody().front().getTerminator());
    IRMapping mapping;
    // Clones what a value is made of, in the order in which it stands.
    auto copy = [&](Operation *last) {
      SmallVector<Operation *> work = {last}, made;
      SmallPtrSet<Operation *, 16> seen;
      while (!work.empty()) {
        Operation *op = work.pop_back_val();
        if (!seen.insert(op).second || (op->getNumResults() && mapping.contains(op->getResult(0))))
          continue;
        made.push_back(op);
        llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
        for (Region &region : op->getRegions())
          getUsedValuesDefinedAbove(region, values);
        for (Value value : values)
          work.push_back(value.getDefiningOp());
      }
      llvm::sort(made, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
      for (Operation *op : made)
        b.clone(*op, mapping);
    };
    for (Value value : wanted) {
      Location loc = value.getLoc();
      copy(value.getDefiningOp());
      OpBuilder global(module.getBodyRegion());
      auto slot = global.create<ml_program::GlobalOp>(loc, "computed", value.getType(), /*is_mutable=*/true,
                                                      Attribute(), global.getStringAttr("private"));
      slot->setAttr("strata.computed", global.getUnitAttr());
      symbols.insert(slot);
      auto name = FlatSymbolRefAttr::get(slot.getSymNameAttr());
      b.create<ml_program::GlobalStoreOp>(loc, name, mapping.lookup(value));
      OpBuilder at(main.getContext());
      at.setInsertionPointAfterValue(value);
      Value loaded = at.create<ml_program::GlobalLoadOp>(loc, value.getType(), name);
      value.replaceAllUsesWith(loaded);
    }
  }
};
} // namespace
