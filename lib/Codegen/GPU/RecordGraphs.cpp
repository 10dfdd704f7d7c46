//===- RecordGraphs.cpp - kernels that the runtime may start as a graph ---===//
//
// Launches and copies on the device that follow each other do the same whenever
// they are given the same addresses and sizes. The runtime records them once and
// then starts all of them by one call of the driver.
//
//===----------------------------------------------------------------------===//
#include "Codegen/GPUPasses.h"
#include "DeviceMemory.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace strata {
#define GEN_PASS_DEF_RECORDGRAPHS
#include "Codegen/GPUPasses.h.inc"
} // namespace strata

using namespace mlir;
using namespace strata;

/// The role of a call of the runtime.
static StringRef roleOf(Operation *op) {
  auto call = dyn_cast_or_null<func::CallOp>(op);
  auto callee = call ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr()) : func::FuncOp();
  auto role = callee ? callee->getAttrOfType<StringAttr>(kDeviceCall) : StringAttr();
  return role ? role.getValue() : "";
}

/// Work that a graph can hold; tensor maps are parameters of its kernels.
static bool isRecordable(Operation &op) {
  if (roleOf(&op) == "tensor_map")
    return true;
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return isDeviceMemory(copy.getSource().getType()) && isDeviceMemory(copy.getTarget().getType());
  return isa<gpu::LaunchFuncOp>(op) && llvm::all_of(op.getOperandTypes(), [](Type type) {
           return isa<MemRefType, LLVM::LLVMPointerType>(type) || type.isIntOrIndexOrFloat();
         });
}

/// What may as well be done before the work that it stands behind.
static bool mayComeEarlier(Operation &op) {
  if (auto alloc = dyn_cast<memref::AllocOp>(op))
    // Those of known size are few: the arena has the others.
    return isDeviceMemory(alloc.getType()) && alloc.getType().hasStaticShape();
  if (isa<func::CallOp>(op)) {
    StringRef role = roleOf(&op);
    return role == "constant" || role == "input" || role == "multiprocessors";
  }
  return op.getNumRegions() == 0 && !op.hasTrait<OpTrait::IsTerminator>() && isMemoryEffectFree(&op);
}

namespace {
struct RecordGraphsPass : strata::impl::RecordGraphsBase<RecordGraphsPass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    number = 0;
    SmallVector<Block *> blocks;
    main.walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      record(*block);
  }

private:
  void record(Block &block) {
    SmallVector<Operation *> work, frees;
    auto close = [&] {
      if (llvm::count_if(work, [](Operation *op) { return isa<gpu::LaunchFuncOp>(op); }) > 1)
        wrap(work, frees);
      work.clear();
      frees.clear();
    };
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isRecordable(op))
        work.push_back(&op);
      else if (!work.empty() && isa<memref::DeallocOp>(op))
        frees.push_back(&op);
      else if (!work.empty() && mayComeEarlier(op))
        op.moveBefore(work.front());
      else
        close();
    }
  }

  func::FuncOp declare(StringRef role, TypeRange inputs, TypeRange results) {
    OpBuilder top(getOperation().getBodyRegion());
    auto function = top.create<func::FuncOp>(top.getUnknownLoc(), ("strata_gpu_" + role + "_" + Twine(number)).str(),
                                             FunctionType::get(&getContext(), inputs, results));
    function.setPrivate();
    function->setAttr(kDeviceCall, top.getStringAttr(role));
    return function;
  }

  void wrap(ArrayRef<Operation *> work, ArrayRef<Operation *> frees) {
    llvm::SetVector<Value> key;
    for (Operation *op : work)
      for (Value operand : op->getOperands())
        // A tensor map is what its own operands say.
        if (!matchPattern(operand, m_Constant()) && !isa<LLVM::LLVMPointerType>(operand.getType()))
          key.insert(operand);
    OpBuilder b(work.front());
    Location loc = work.front()->getLoc();
    func::FuncOp begin = declare("graph_begin", ValueRange(key.getArrayRef()).getTypes(), b.getI1Type());
    Value isNew = b.create<func::CallOp>(loc, begin, key.getArrayRef()).getResult(0);
    auto branch = b.create<scf::IfOp>(loc, isNew, /*withElseRegion=*/false);
    Operation *end = branch.thenBlock()->getTerminator();
    for (Operation *op : work)
      op->moveBefore(end);
    OpBuilder(end).create<func::CallOp>(loc, declare("graph_end", {}, {}), ValueRange());
    for (Operation *free : llvm::reverse(frees))
      free->moveAfter(branch);
    ++number;
  }

  int number = 0;
};
} // namespace
