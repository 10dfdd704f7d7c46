//===- OutlineKernels.cpp - groups of linalg operations become functions --===//
//
// A reduction, the operation that initialises its accumulator and the
// elementwise operation that consumes its result are one kernel: the buffer
// between them never leaves it. Equal kernels are one function, so that a
// network with fifty convolutions compiles its ten different ones.
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringMap.h"

namespace strata {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

/// The buffer that a view is a view of.
static Value rootOf(Value buffer) {
  while (Operation *maker = buffer.getDefiningOp()) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(maker))
      buffer = view.getViewSource();
    else if (auto cast = dyn_cast<memref::CastOp>(maker))
      buffer = cast.getSource();
    else
      break;
  }
  return buffer;
}

static bool isReduction(linalg::GenericOp op) { return op.getNumReductionLoops() > 0; }

/// Whether `op` can change any of the `roots`, as far as can be seen.
static bool mayWriteTo(Operation *op, ArrayRef<Value> roots) {
  if (isMemoryEffectFree(op) || isa<memref::AllocOp>(op))
    return false;
  auto fresh = [&](Value target) {
    Value root = rootOf(target);
    return root.getDefiningOp<memref::AllocOp>() && !llvm::is_contained(roots, root);
  };
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    bool pure = true;
    generic.getRegion().walk(
        [&](Operation *inner) { pure &= isMemoryEffectFree(inner) || isa<memref::LoadOp>(inner); });
    return !pure || !llvm::all_of(generic.getOutputs(), fresh);
  }
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return !fresh(copy.getTarget());
  return true;
}

namespace {
/// Operations of one kernel, in order.
struct Group {
  memref::AllocOp between; ///< the buffer that the group keeps to itself
  SmallVector<linalg::GenericOp> ops;
};

struct OutlineKernelsPass : strata::impl::OutlineKernelsBase<OutlineKernelsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<linalg::GenericOp> generics;
    module.walk([&](linalg::GenericOp op) {
      if (op.hasPureBufferSemantics())
        generics.push_back(op);
    });
    DenseSet<Operation *> taken;
    SmallVector<Group> groups;
    for (linalg::GenericOp op : generics)
      if (isReduction(op)) {
        Group group = groupAround(op);
        if (llvm::any_of(group.ops, [&](Operation *op) { return taken.contains(op); }))
          group = {nullptr, {op}};
        for (linalg::GenericOp member : group.ops)
          taken.insert(member);
        groups.push_back(std::move(group));
      }
    for (linalg::GenericOp op : generics)
      if (taken.insert(op).second)
        groups.push_back({nullptr, {op}});
    for (Group &group : groups)
      outline(module, group);
  }

private:
  llvm::StringMap<func::FuncOp> known;

  static OpOperand *sharedOperand(linalg::GenericOp op, Value buffer) {
    for (OpOperand *input : op.getDpsInputOperands())
      if (input->get() == buffer)
        return input;
    return nullptr;
  }

  static Group groupAround(linalg::GenericOp reduction) {
    Group alone{nullptr, {reduction}};
    if (reduction.getNumDpsInits() != 1)
      return alone;
    Value buffer = reduction.getDpsInits()[0];
    auto alloc = buffer.getDefiningOp<memref::AllocOp>();
    Block *block = reduction->getBlock();
    if (!alloc || alloc->getBlock() != block)
      return alone;
    linalg::GenericOp before, after;
    for (OpOperand &use : buffer.getUses()) {
      auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
      if (!user || user->getBlock() != block)
        return alone;
      if (user == reduction) {
        if (!user.isDpsInit(&use))
          return alone;
        continue;
      }
      bool first = user->isBeforeInBlock(reduction);
      linalg::GenericOp &role = first ? before : after;
      if (role || isReduction(user) || user.isDpsInit(&use) != first ||
          !user.getMatchingIndexingMap(&use).isPermutation() ||
          (first && (user.getNumDpsInits() != 1 || user.payloadUsesValueFromOperand(&use))))
        return alone;
      role = user;
    }
    // The vector lanes go along the last dimension of both.
    if (after) {
      AffineMap shared = after.getMatchingIndexingMap(sharedOperand(after, buffer));
      for (OpOperand &output : after.getDpsInitsMutable()) {
        AffineMap map = after.getMatchingIndexingMap(&output);
        if (map.getNumResults() && shared.getNumResults() && map.getResults().back() != shared.getResults().back())
          return alone;
      }
    }
    if (!before)
      return alone;
    auto roots = [](ValueRange values) {
      SmallVector<Value> result;
      for (Value value : values)
        if (isa<MemRefType>(value.getType()))
          result.push_back(rootOf(value));
      return result;
    };
    // The first operation moves down to the reduction, and both to the last.
    auto canSink = [&](linalg::GenericOp op, Operation *to, Operation *except) {
      SmallVector<Value> inputs = roots(op.getInputs());
      for (Operation *next = op->getNextNode(); next != to; next = next->getNextNode())
        if (next != except && mayWriteTo(next, inputs))
          return false;
      return true;
    };
    Group group{alloc, {before, reduction}};
    if (!canSink(before, reduction, nullptr))
      return alone;
    if (!after)
      return {nullptr, {before, reduction}};
    Group withoutConsumer{nullptr, {before, reduction}};
    if (!canSink(before, after, reduction) || !canSink(reduction, after, nullptr))
      return withoutConsumer;
    // Fused, the results are written while the inputs are still read.
    SmallVector<Value> inputs = roots(reduction.getInputs());
    inputs.append(roots(before.getInputs()));
    for (Value output : after.getOutputs()) {
      Value root = rootOf(output);
      if (!root.getDefiningOp<memref::AllocOp>() || llvm::is_contained(inputs, root))
        return withoutConsumer;
    }
    group.ops.push_back(after);
    return group;
  }

  void outline(ModuleOp module, Group &group) {
    Operation *last = group.ops.back();
    OpBuilder b(last);
    llvm::SetVector<Value> captured;
    SmallVector<Operation *> constants;
    auto capture = [&](Value value) {
      if (group.between && value == group.between.getResult())
        return;
      Operation *maker = value.getDefiningOp();
      if (maker && isa<arith::ConstantOp>(maker)) {
        if (!llvm::is_contained(constants, maker))
          constants.push_back(maker);
      } else {
        captured.insert(value);
      }
    };
    for (linalg::GenericOp op : group.ops) {
      for (Value operand : op->getOperands())
        capture(operand);
      llvm::SetVector<Value> above;
      getUsedValuesDefinedAbove(op.getRegion(), above);
      for (Value value : above)
        capture(value);
    }
    // The intermediate buffer's sizes.
    if (group.between)
      for (Value size : group.between.getDynamicSizes())
        capture(size);
    SmallVector<Location> locations;
    for (linalg::GenericOp op : group.ops)
      locations.push_back(op.getLoc());
    Location loc = FusedLoc::get(module.getContext(), locations);
    SmallVector<Value> arguments(captured.begin(), captured.end());
    auto type = FunctionType::get(module.getContext(), ValueRange(arguments).getTypes(), {});
    OpBuilder top(module.getContext());
    auto function = top.create<func::FuncOp>(loc, "kernel", type);
    function.setPrivate();
    Block *body = function.addEntryBlock();
    IRMapping mapping;
    mapping.map(arguments, body->getArguments());
    top.setInsertionPointToEnd(body);
    for (Operation *constant : constants)
      top.clone(*constant, mapping);
    if (group.between)
      top.clone(*group.between, mapping);
    for (linalg::GenericOp op : group.ops)
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
    for (linalg::GenericOp op : llvm::reverse(group.ops))
      op.erase();
    if (group.between)
      group.between.erase();
  }
};
} // namespace
