//===- FreeEarly.cpp - free each buffer right behind its last use ---------===//
#include "Codegen/Passes.h"

#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace strata {
#define GEN_PASS_DEF_FREEEARLY
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

namespace {
struct FreeEarlyPass : strata::impl::FreeEarlyBase<FreeEarlyPass> {
  void runOnOperation() override {
    SmallVector<memref::DeallocOp> deallocs;
    getOperation().walk([&](memref::DeallocOp op) { deallocs.push_back(op); });
    BufferViewFlowAnalysis views(getOperation());
    for (memref::DeallocOp op : deallocs) {
      Operation *definition = op.getMemref().getDefiningOp();
      Block *block = op->getBlock();
      if (!definition || definition->getBlock() != block)
        continue;
      Operation *last = definition;
      for (Value alias : views.resolve(op.getMemref())) {
        // A view that other code may have made of something else still names
        // this buffer: every use of it counts.
        if (Operation *maker = alias.getDefiningOp())
          if (Operation *inBlock = block->findAncestorOpInBlock(*maker);
              inBlock && last->isBeforeInBlock(inBlock))
            last = inBlock;
        for (Operation *user : alias.getUsers()) {
          Operation *inBlock = block->findAncestorOpInBlock(*user);
          if (inBlock && inBlock != op && last->isBeforeInBlock(inBlock))
            last = inBlock;
        }
      }
      if (last->isBeforeInBlock(op))
        op->moveAfter(last);
    }
  }
};
} // namespace
