//===- JoinFills.cpp - small fills that follow each other are one kernel --===//
//
// The border of padded data has a side for each end of each dimension, of few
// elements; a kernel for each would take longer to start than to run.
//
//===----------------------------------------------------------------------===//
#include "Codegen/GPUPasses.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace strata {
#define GEN_PASS_DEF_JOINFILLS
#include "Codegen/GPUPasses.h.inc"
} // namespace strata

using namespace mlir;
using namespace strata;

/// The number that a kernel writes to all of its only argument; null: it does something else.
static Attribute filledWith(func::FuncOp kernel) {
  if (!kernel || !kernel->hasAttr("strata.kernel") || kernel.getNumArguments() != 1)
    return {};
  linalg::GenericOp fill;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    if (fill || !isa<linalg::GenericOp>(op))
      return {};
    fill = cast<linalg::GenericOp>(op);
  }
  if (!fill || fill.getNumDpsInits() != 1 || fill.getNumReductionLoops() ||
      fill.getDpsInits()[0] != kernel.getArgument(0) || !fill.getBody()->without_terminator().empty())
    return {};
  Value value = fill.getBody()->getTerminator()->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == fill.getBody())
    value = fill->getOperand(argument.getArgNumber());
  Attribute number;
  matchPattern(value, m_Constant(&number));
  return number;
}

namespace {
struct JoinFillsPass : strata::impl::JoinFillsBase<JoinFillsPass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    joined.clear();
    SmallVector<Block *> blocks;
    main.walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      visit(*block);
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (filledWith(kernel) && SymbolTable::symbolKnownUseEmpty(kernel, getOperation()))
        kernel.erase();
  }

private:
  llvm::StringMap<func::FuncOp> joined; ///< by the names of their parts

  func::FuncOp kernelOf(func::CallOp call) { return getOperation().lookupSymbol<func::FuncOp>(call.getCallee()); }

  /// Fills with one number may come in any order, even where they overlap, as long as nobody looks at a buffer.
  void visit(Block &block) {
    SmallVector<func::CallOp> calls;
    Attribute number;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto call = dyn_cast<func::CallOp>(op);
      Attribute next = call ? filledWith(kernelOf(call)) : Attribute();
      if (!next && (isMemoryEffectFree(&op) || isa<memref::AllocOp>(op)))
        continue;
      if (next != number) {
        join(calls);
        calls.clear();
        number = next;
      }
      if (next)
        calls.push_back(call);
    }
  }

  void join(ArrayRef<func::CallOp> calls) {
    if (calls.size() < 2)
      return;
    std::string parts;
    SmallVector<Value> buffers;
    SmallVector<Location> locations;
    for (func::CallOp call : calls) {
      parts += (call.getCallee() + " ").str();
      buffers.push_back(call.getOperand(0));
      locations.push_back(call.getLoc());
    }
    OpBuilder b(calls.back());
    Location loc = FusedLoc::get(b.getContext(), locations);
    func::FuncOp &kernel = joined[parts];
    if (!kernel)
      kernel = makeKernel(loc, calls, "fills_" + std::to_string(joined.size() - 1));
    b.create<func::CallOp>(loc, kernel, buffers);
    for (func::CallOp call : calls)
      call.erase();
  }

  func::FuncOp makeKernel(Location loc, ArrayRef<func::CallOp> calls, const std::string &name) {
    OpBuilder b = OpBuilder::atBlockEnd(getOperation().getBody());
    SmallVector<Type> types;
    for (func::CallOp call : calls)
      types.push_back(call.getOperand(0).getType());
    auto kernel = b.create<func::FuncOp>(loc, name, b.getFunctionType(types, {}));
    kernel.setPrivate();
    kernel->setAttr("strata.kernel", b.getUnitAttr());
    b.setInsertionPointToEnd(kernel.addEntryBlock());
    for (auto [call, argument] : llvm::zip(calls, kernel.getArguments())) {
      func::FuncOp part = kernelOf(call);
      IRMapping values;
      values.map(part.getArgument(0), argument);
      for (Operation &op : part.getBody().front().without_terminator())
        b.clone(op, values);
    }
    b.create<func::ReturnOp>(loc);
    return kernel;
  }
};
} // namespace
