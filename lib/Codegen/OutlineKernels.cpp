//===- OutlineKernels.cpp - groups of linalg operations become functions --===//
//
// A group of operations, or a loop over rows, is one kernel. Equal kernels are
// one function, so that a network with fifty convolutions compiles its ten
// different ones.
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"
#include "KernelGroups.h"
#include "LinalgQueries.h"
#include "LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringMap.h"

namespace strata {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

namespace {
struct OutlineKernelsPass : strata::impl::OutlineKernelsBase<OutlineKernelsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<linalg::GenericOp> generics;
    SmallVector<scf::ForallOp> loops;
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForallOp>(op)) {
        loops.push_back(loop);
        return WalkResult::skip();
      }
      if (auto generic = dyn_cast<linalg::GenericOp>(op); generic && generic.hasPureBufferSemantics())
        generics.push_back(generic);
      return WalkResult::advance();
    });
    for (strata::KernelGroup &group : strata::groupKernels(generics))
      outline(module, SmallVector<Operation *>(group.ops.begin(), group.ops.end()), group.between);
    for (scf::ForallOp loop : loops) {
      numberGroups(loop);
      outline(module, loop.getOperation(), nullptr);
    }
  }

private:
  llvm::StringMap<func::FuncOp> known;

  /// What is one nest in a loop over rows: told here, where it is still seen which buffers are different.
  static void numberGroups(scf::ForallOp loop) {
    Builder b(loop.getContext());
    SmallVector<linalg::GenericOp> generics(loop.getBody()->getOps<linalg::GenericOp>());
    for (auto [number, group] : llvm::enumerate(strata::groupKernels(generics)))
      for (linalg::GenericOp op : group.ops)
        op->setAttr("strata.nest", b.getI64IntegerAttr(number));
  }

  /// Numbers in which many kernels differ that are otherwise equal become arguments: the wide integers that a buffer is
  /// filled with (the border of padded data is of floats or narrow), and the places that all elements are read at. Of
  /// zeros LLVM makes more. What runs once need not be fast: there all are arguments but sizes, and the many kernels
  /// that multiply the scales of quantised layers are few.
  static bool isArgument(Operation *constant, ArrayRef<Operation *> ops) {
    Type type = constant->getResult(0).getType();
    auto generic = dyn_cast<linalg::GenericOp>(ops.front());
    if (matchPattern(constant, m_Zero()) || matchPattern(constant, m_AnyZeroFloat()))
      return false;
    if (type.isIntOrFloat() && ops.front()->getParentOfType<func::FuncOp>().getName() == "init")
      return true;
    if (ops.size() > 1 || !generic)
      return false;
    auto isFill = [&](OpOperand &use) {
      auto type = dyn_cast<IntegerType>(use.get().getType());
      return type && type.getWidth() >= 32 && generic.getNumDpsInputs() == 1 && generic.isDpsInput(&use) &&
             llvm::hasSingleElement(generic.getBody()->getOperations()) &&
             generic.getBody()->getTerminator()->getOperand(0) == generic.getBody()->getArgument(0);
    };
    auto isPlace = [](OpOperand &use) { return isa<memref::LoadOp>(use.getOwner()) && use.getOperandNumber() > 0; };
    Value number = constant->getResult(0);
    auto mayUse = [&](Operation *op, llvm::function_ref<bool(OpOperand &)> may) {
      return llvm::all_of(op->getOpOperands(), [&](OpOperand &use) { return use.get() != number || may(use); });
    };
    WalkResult inside = generic.getBody()->walk(
        [&](Operation *op) { return mayUse(op, isPlace) ? WalkResult::advance() : WalkResult::interrupt(); });
    return mayUse(generic, isFill) && !inside.wasInterrupted();
  }

  /// A buffer that the caller of the model has made. Others begin with a line of the cache.
  static bool isGiven(Value value) {
    auto argument = dyn_cast<BlockArgument>(strata::rootOf(value));
    return isa<MemRefType>(value.getType()) && argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
  }

  /// By dimension of a buffer, the argument that is its size; -1: it is known, or none is.
  static SmallVector<int64_t> findSizes(Builder &b, Value buffer, ArrayRef<Value> arguments) {
    SmallVector<int64_t> sizes(cast<MemRefType>(buffer.getType()).getRank(), -1);
    for (auto [number, argument] : llvm::enumerate(arguments)) {
      if (!isa<IndexType>(argument.getType()))
        continue;
      if (auto dim = argument.getDefiningOp<memref::DimOp>(); dim && dim.getSource() == buffer)
        if (std::optional<int64_t> at = dim.getConstantIndex())
          sizes[*at] = number;
      SmallVector<OpFoldResult> made;
      if (auto alloc = buffer.getDefiningOp<memref::AllocOp>())
        made = alloc.getMixedSizes();
      if (auto expanded = buffer.getDefiningOp<memref::ExpandShapeOp>())
        made = getMixedValues(expanded.getStaticOutputShape(), expanded.getOutputShape(), b);
      for (auto [at, size] : llvm::enumerate(made))
        if (dyn_cast<Value>(size) == argument)
          sizes[at] = number;
    }
    return sizes;
  }

  void outline(ModuleOp module, ArrayRef<Operation *> ops, memref::AllocOp between) {
    Operation *last = ops.back();
    OpBuilder b(last);
    llvm::SetVector<Value> captured;
    SmallVector<Operation *> constants;
    auto capture = [&](Value value) {
      if (between && value == between.getResult())
        return;
      Operation *maker = value.getDefiningOp();
      if (maker && isa<arith::ConstantOp>(maker) && !isArgument(maker, ops)) {
        if (!llvm::is_contained(constants, maker))
          constants.push_back(maker);
      } else {
        captured.insert(value);
      }
    };
    for (Operation *op : ops) {
      for (Value operand : op->getOperands())
        capture(operand);
      llvm::SetVector<Value> above;
      getUsedValuesDefinedAbove(op->getRegions(), above);
      for (Value value : above)
        capture(value);
    }
    // The intermediate buffer's sizes.
    if (between)
      for (Value size : between.getDynamicSizes())
        capture(size);
    SmallVector<Location> locations;
    for (Operation *op : ops)
      locations.push_back(op->getLoc());
    Location loc = FusedLoc::get(module.getContext(), locations);
    SmallVector<Value> arguments(captured.begin(), captured.end());
    auto type = FunctionType::get(module.getContext(), ValueRange(arguments).getTypes(), {});
    OpBuilder top(module.getContext());
    auto function = top.create<func::FuncOp>(loc, "kernel", type);
    function.setPrivate();
    for (auto [number, value] : llvm::enumerate(arguments)) {
      if (isGiven(value))
        function.setArgAttr(number, "strata.given", top.getUnitAttr());
      auto buffer = dyn_cast<MemRefType>(value.getType());
      if (buffer && !buffer.hasStaticShape())
        if (SmallVector<int64_t> sizes = findSizes(top, value, arguments);
            llvm::any_of(sizes, [](int64_t n) { return n >= 0; }))
          function.setArgAttr(number, strata::kSizes, top.getDenseI64ArrayAttr(sizes));
    }
    Block *body = function.addEntryBlock();
    IRMapping mapping;
    mapping.map(arguments, body->getArguments());
    top.setInsertionPointToEnd(body);
    for (Operation *constant : constants)
      top.clone(*constant, mapping);
    if (between)
      top.clone(*between, mapping);
    for (Operation *op : ops)
      top.clone(*op, mapping);
    top.create<func::ReturnOp>(loc);

    std::string text;
    llvm::raw_string_ostream stream(text);
    function->print(stream, OpPrintingFlags().useLocalScope());
    func::FuncOp &same = known[text];
    if (!same) {
      same = function;
      function.setName("kernel_" + std::to_string(known.size() - 1));
      function->setAttr("strata.kernel", top.getUnitAttr());
      module.push_back(function);
    } else {
      function->erase();
    }
    b.create<func::CallOp>(loc, same, arguments);
    for (Operation *op : llvm::reverse(ops))
      op->erase();
    if (between)
      between.erase();
  }
};
} // namespace
