//===- Halves.cpp - tensors that are kept as bf16 -------------------------===//
#include "Halves.h"
#include "LoopNest.h"

using namespace mlir;
using namespace strata;

arith::TruncFOp strata::roundToHalf(OpBuilder &b, Location loc, Value element) {
  auto rounded = b.create<arith::TruncFOp>(loc, b.getBF16Type(), element);
  rounded.setFastmath(arith::FastMathFlags::afn);
  return rounded;
}

Value Halves::convert(OpBuilder &b, Location loc, Value element) const { return roundToHalf(b, loc, element); }

TypedAttr Halves::convert(TypedAttr constant) const {
  return FloatAttr::get(typeOf(constant.getType()), cast<FloatAttr>(constant).getValueAsDouble());
}

Value Halves::restore(OpBuilder &b, Location loc, Value element) const {
  return b.create<arith::ExtFOp>(loc, b.getF32Type(), element);
}

/// The input of a reduction to the largest elements, as pools are: rounding keeps the order of numbers.
static Value maximumOf(Operation *op) {
  auto pool = dyn_cast<linalg::GenericOp>(op);
  if (!pool || !pool.getNumReductionLoops() || !pool.getNumDpsInputs())
    return {};
  std::optional<Combiner> combiner = matchCombiner(pool);
  bool isLargest = combiner && (combiner->kind == vector::CombiningKind::MAXIMUMF ||
                                combiner->kind == vector::CombiningKind::MAXNUMF);
  return isLargest ? pool.getDpsInputs()[0] : Value();
}

void Halves::prepare(Operation *maker) {
  if (Value wider = maximumOf(maker); wider && isa<FloatType>(getElementTypeOrSelf(wider)))
    keep(wider);
}
