//===- KernelGroups.cpp - which linalg operations are one kernel ----------===//
//
// A reduction, the operation that initialises its accumulator and the
// elementwise operation that consumes its result are one kernel: the buffer
// between them never leaves it.
//
//===----------------------------------------------------------------------===//
#include "KernelGroups.h"
#include "LinalgQueries.h"
#include "NestPlan.h"
#include "WinogradMatrices.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace strata;

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

static OpOperand *sharedOperand(linalg::GenericOp op, Value buffer) {
  for (OpOperand *input : op.getDpsInputOperands())
    if (input->get() == buffer)
      return input;
  return nullptr;
}

static KernelGroup groupAround(linalg::GenericOp reduction) {
  KernelGroup alone{nullptr, {reduction}};
  if (reduction.getNumDpsInits() != 1)
    return alone;
  Value buffer = reduction.getDpsInits()[0];
  Operation *maker = buffer.getDefiningOp();
  Block *block = reduction->getBlock();
  bool isView = isa_and_nonnull<memref::SubViewOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(maker);
  if (!maker || maker->getBlock() != block || (!isView && !isa<memref::AllocOp>(maker)))
    return alone;
  Value whole = isView ? cast<ViewLikeOpInterface>(maker).getViewSource() : buffer;
  auto alloc = (whole.hasOneUse() ? whole : buffer).getDefiningOp<memref::AllocOp>();
  linalg::GenericOp before, after;
  bool written = false;
  for (OpOperand &use : buffer.getUses()) {
    Operation *reader = block->findAncestorOpInBlock(*use.getOwner());
    if (!reader)
      return alone;
    // Of what is in a loop, or in a body, the loop is the reader.
    auto user = reader == use.getOwner() ? dyn_cast<linalg::GenericOp>(reader) : linalg::GenericOp();
    if (!user) {
      // What comes behind, a view of the result, a loop or the end of the function, reads what is written.
      if (!reduction->isBeforeInBlock(reader))
        return alone;
      written = true;
      continue;
    }
    if (user == reduction) {
      if (!user.isDpsInit(&use))
        return alone;
      continue;
    }
    bool first = user->isBeforeInBlock(reduction);
    bool fits =
        !isReduction(user) && user.isDpsInit(&use) == first && user.getMatchingIndexingMap(&use).isPermutation();
    if (first) {
      if (before || !fits || user.getNumDpsInits() != 1 || user.payloadUsesValueFromOperand(&use))
        return alone;
      before = user;
      continue;
    }
    // What several read, or one in another order, is written for them.
    written |= after || !fits;
    after = user;
  }
  // The vector lanes go along the last dimension of both.
  auto hasOtherLanes = [&] {
    AffineMap shared = after.getMatchingIndexingMap(sharedOperand(after, buffer));
    return llvm::any_of(after.getDpsInitsMutable(), [&](OpOperand &output) {
      AffineMap map = after.getMatchingIndexingMap(&output);
      return map.getNumResults() && shared.getNumResults() && map.getResults().back() != shared.getResults().back();
    });
  };
  // Without the consumer, minimal filtering has a vector form always.
  if (written || (after && (hasOtherLanes() || (reduction->hasAttr(kWinograd) && !isVectorizable(after)))))
    after = nullptr;
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
  KernelGroup group{isView ? memref::AllocOp() : alloc, {before, reduction}};
  if (!canSink(before, reduction, nullptr))
    return alone;
  // Of a view, all but the group may use the rest.
  if (!after || !alloc)
    return KernelGroup{nullptr, {before, reduction}};
  KernelGroup withoutConsumer{nullptr, {before, reduction}};
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

SmallVector<KernelGroup> strata::groupKernels(ArrayRef<linalg::GenericOp> generics) {
  DenseSet<Operation *> taken;
  SmallVector<KernelGroup> groups;
  for (linalg::GenericOp op : generics)
    if (isReduction(op)) {
      KernelGroup group = groupAround(op);
      if (llvm::any_of(group.ops, [&](Operation *op) { return taken.contains(op); }))
        group = {nullptr, {op}};
      for (linalg::GenericOp member : group.ops)
        taken.insert(member);
      groups.push_back(std::move(group));
    }
  for (linalg::GenericOp op : generics)
    if (taken.insert(op).second)
      groups.push_back({nullptr, {op}});
  return groups;
}
