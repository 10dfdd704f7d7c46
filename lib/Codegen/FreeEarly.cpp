//===- FreeEarly.cpp - give memory back right behind its last use ---------===//
#include "Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace strata {
#define GEN_PASS_DEF_FREEEARLY
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

/// The last op of `block` that uses `buffer` or a view of it, `except` aside.
static Operation *lastUse(Value buffer, Block *block, BufferViewFlowAnalysis &views, Operation *except = nullptr) {
  Operation *last = buffer.getDefiningOp();
  for (Value alias : views.resolve(buffer)) {
    // A view that other code may have made of something else still names this buffer: every use of it counts.
    if (Operation *maker = alias.getDefiningOp())
      if (Operation *inBlock = block->findAncestorOpInBlock(*maker); inBlock && last->isBeforeInBlock(inBlock))
        last = inBlock;
    for (Operation *user : alias.getUsers()) {
      Operation *inBlock = block->findAncestorOpInBlock(*user);
      if (inBlock && inBlock != except && last->isBeforeInBlock(inBlock))
        last = inBlock;
    }
  }
  return last;
}

static void freeBuffers(func::FuncOp function) {
  SmallVector<memref::DeallocOp> deallocs;
  function.walk([&](memref::DeallocOp op) { deallocs.push_back(op); });
  BufferViewFlowAnalysis views(function);
  for (memref::DeallocOp op : deallocs) {
    Operation *definition = op.getMemref().getDefiningOp();
    Block *block = op->getBlock();
    if (!definition || definition->getBlock() != block)
      continue;
    if (Operation *last = lastUse(op.getMemref(), block, views, op); last->isBeforeInBlock(op))
      op->moveAfter(last);
  }
}

/// In the init function, says of each constant that only it reads when it has been read.
static void endConstants(func::FuncOp init, ArrayAttr constants) {
  auto module = init->getParentOfType<ModuleOp>();
  BufferViewFlowAnalysis views(init);
  Block *block = &init.getBody().front();
  SymbolTable symbols(module);
  llvm::MapVector<int64_t, Operation *> lastUses;
  init.walk([&](memref::GetGlobalOp load) {
    auto global = symbols.lookup<memref::GlobalOp>(load.getName());
    auto slot = global ? global->getAttrOfType<IntegerAttr>("strata.slot") : nullptr;
    if (!slot)
      return;
    auto entry = cast<DictionaryAttr>(constants[slot.getInt()]);
    if (entry.getAs<BoolAttr>("computed").getValue() || entry.getAs<BoolAttr>("needed_at_run_time").getValue())
      return;
    Operation *last = load->getBlock() == block ? lastUse(load, block, views) : block->findAncestorOpInBlock(*load);
    Operation *&known = lastUses[slot.getInt()];
    if (!known || known->isBeforeInBlock(last))
      known = last;
  });
  if (lastUses.empty())
    return;
  OpBuilder b(module.getBodyRegion());
  Location loc = init.getLoc();
  auto function = b.create<func::FuncOp>(loc, "strata_rt_constant_done", b.getFunctionType({b.getI64Type()}, {}));
  function.setPrivate();
  for (auto [slot, last] : lastUses) {
    b.setInsertionPointAfter(last);
    Value number = b.create<arith::ConstantIntOp>(loc, slot, 64);
    b.create<func::CallOp>(loc, function, number);
  }
}

namespace {
struct FreeEarlyPass : strata::impl::FreeEarlyBase<FreeEarlyPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal())
        freeBuffers(function);
    auto init = module.lookupSymbol<func::FuncOp>("init");
    auto constants = module->getAttrOfType<ArrayAttr>("strata.constants");
    if (init && constants && !init.isExternal())
      endConstants(init, constants);
  }
};
} // namespace
