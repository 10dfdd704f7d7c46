//===- KeptElements.cpp - tensors whose elements have another form --------===//
#include "KeptElements.h"
#include "Conversions.h"
#include "EqualSizes.h"
#include "LinalgQueries.h"
#include "Transposed.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace strata;

tensor::ExtractOp KeptElements::gatherOf(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || !generic.hasPureTensorSemantics() || generic.getNumDpsInits() != 1 ||
      generic.getNumReductionLoops() || !generic.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>())
    return nullptr;
  auto read = generic.getBody()->getTerminator()->getOperand(0).getDefiningOp<tensor::ExtractOp>();
  return read && !generic->isAncestor(read.getTensor().getParentBlock()->getParentOp()) ? read : nullptr;
}

/// Whether a generic only repeats elements, each of them once at least.
static bool isRepetition(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || !generic.hasPureTensorSemantics() || generic.getNumDpsInputs() != 1 ||
      generic.getNumDpsInits() != 1 || generic.getNumReductionLoops() ||
      generic.getBody()->getTerminator()->getOperand(0) != generic.getBody()->getArgument(0) ||
      !generic.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>())
    return false;
  return readsAll(generic, *generic.getDpsInputOperand(0)) && generic.getIndexingMapsArray().back().isPermutation();
}

Operation *KeptElements::readerOf(OpOperand &use) {
  Operation *user = use.getOwner();
  return isa<tensor::ExtractOp>(user) && gatherOf(user->getParentOp()) == user ? user->getParentOp() : user;
}

SmallVector<Value> KeptElements::movedBy(Operation *op) {
  if (tensor::ExtractOp read = gatherOf(op))
    return {read.getTensor()};
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return {insert.getSource(), insert.getDest()};
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  return destination ? destination.getDpsInputs() : SmallVector<Value>(op->getOperands());
}

bool KeptElements::moves(Operation *op) const {
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return pad.getConstantPaddingValue() && matchPattern(pad.getConstantPaddingValue(), m_Constant());
  return isa<tensor::ConcatOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::InsertSliceOp, tensor::EmptyOp,
             linalg::TransposeOp>(op) ||
         gatherOf(op) || isRepetition(op);
}

Value KeptElements::moved(OpBuilder &b, Operation *op, IRMapping &mapping) const {
  Location loc = op->getLoc();
  auto old = cast<RankedTensorType>(op->getResult(0).getType());
  RankedTensorType type = old.clone(typeOf(old.getElementType()));
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
    return transposed(b, loc, mapping.lookup(transpose.getInput()), transpose.getPermutation());
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    TypedAttr padding;
    matchPattern(pad.getConstantPaddingValue(), m_Constant(&padding));
    Value constant = b.create<arith::ConstantOp>(loc, convert(padding));
    return b.create<tensor::PadOp>(loc, type, mapping.lookup(pad.getSource()), pad.getMixedLowPad(),
                                   pad.getMixedHighPad(), constant);
  }
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    Value empty =
        b.create<tensor::EmptyOp>(loc, tensor::getMixedSizes(b, loc, generic.getDpsInits()[0]), type.getElementType());
    mapping.map(generic.getDpsInits()[0], empty);
  }
  Operation *result = b.clone(*op, mapping);
  result->getResult(0).setType(type);
  if (auto generic = dyn_cast<linalg::GenericOp>(result)) {
    tensor::ExtractOp read = gatherOf(generic);
    if (read)
      read.getResult().setType(type.getElementType());
    // What a gather's places are computed from stays as it is.
    auto changed = read ? generic.getRegionOutputArgs() : generic.getBody()->getArguments();
    for (BlockArgument argument : changed)
      argument.setType(type.getElementType());
  }
  return result->getResult(0);
}

Value KeptElements::keep(Value value) {
  if (isKept(value))
    return value;
  if (Value done = known.lookup(value))
    return done;
  OpBuilder b(value.getContext());
  Location loc = value.getLoc();
  Operation *maker = value.getDefiningOp();
  Value result;
  if (maker && moves(maker)) {
    IRMapping mapping;
    for (Value operand : movedBy(maker))
      if (isa<RankedTensorType>(operand.getType()) && getElementTypeOrSelf(operand) == getElementTypeOrSelf(value))
        mapping.map(operand, keep(operand));
    setInsertionPointBehindChecks(b, value);
    result = moved(b, maker, mapping);
  } else {
    if (maker)
      prepare(maker);
    setInsertionPointBehindChecks(b, value);
    auto element = [&](OpBuilder &b, Value x) { return convert(b, loc, x); };
    result = mapElements(b, loc, value, typeOf(getElementTypeOrSelf(value)), element).getResult(0);
    converted.push_back(value);
    conversions.insert(result.getDefiningOp());
  }
  forms.insert(result);
  return known[value] = result;
}

bool KeptElements::canAllRead(Value value, DenseSet<Value> &seen) const {
  if (!seen.insert(value).second) // a join of several paths
    return true;
  return !isa<BlockArgument>(value) && llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = readerOf(use);
    if (moves(user))
      return llvm::is_contained(movedBy(user), value) && canAllRead(user->getResult(0), seen);
    auto generic = dyn_cast<linalg::GenericOp>(user);
    return isa<tensor::DimOp>(user) || conversions.contains(user) ||
           (generic && generic.hasPureTensorSemantics() && generic.isDpsInput(&use) && canRead(generic, use));
  });
}

void KeptElements::readKept(Value value) {
  if (!read.insert(value).second)
    return;
  Value kept = keep(value);
  for (OpOperand *use : llvm::to_vector(llvm::make_pointer_range(value.getUses()))) {
    Operation *user = readerOf(*use);
    if (moves(user))
      readKept(user->getResult(0));
    else if (auto generic = dyn_cast<linalg::GenericOp>(user); generic && !conversions.contains(user))
      readAs(generic, use, kept);
  }
}

void KeptElements::readAs(linalg::GenericOp op, OpOperand *use, Value kept) {
  BlockArgument argument = op.getMatchingBlockArgument(use);
  bool wasKept = isKept(use->get());
  use->set(kept);
  if (wasKept) // since all that read it do
    return;
  argument.setType(getElementTypeOrSelf(kept));
  auto b = OpBuilder::atBlockBegin(op.getBody());
  Value element = restore(b, argument.getLoc(), argument);
  argument.replaceAllUsesExcept(element, element.getDefiningOp());
}
