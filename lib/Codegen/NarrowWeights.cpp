//===- NarrowWeights.cpp - weights that few rows read, rounded to f16 -----===//
//
// Where few rows are multiplied with a matrix of weights, to read it is what takes time, and half of the bytes takes
// half of it. Vectors convert f16 as they load it, so that the data, the products and the sums stay f32's.
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"
#include "Codegen/Target.h"
#include "ConstantExpressions.h"
#include "Conversions.h"
#include "ProductSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace strata {
#define GEN_PASS_DEF_NARROWWEIGHTS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

namespace {
struct NarrowWeightsPass : strata::WithTarget<strata::impl::NarrowWeightsBase<NarrowWeightsPass>> {
  using WithTarget::WithTarget;

  void runOnOperation() override {
    strata::ConstantExpressions constants(getOperation());
    SmallVector<OpOperand *> found;
    getOperation().walk([&](linalg::GenericOp op) {
      for (unsigned weights : {0u, 1u})
        if (isWorthNarrowing(op, weights, constants))
          found.push_back(op.getDpsInputOperand(weights));
    });
    for (OpOperand *weights : found)
      narrow(*weights);
  }

private:
  DenseMap<Value, Value> known; ///< what has been narrowed

  /// The largest f32 that is rounded to a finite f16, as bits: the one before 65520.
  static constexpr uint32_t largest = 0x477fefff;

  bool isWorthNarrowing(linalg::GenericOp op, unsigned weights, const strata::ConstantExpressions &constants) const {
    std::optional<strata::ProductSum> sum = strata::matchProductSum(op);
    if (!sum || !op.hasPureTensorSemantics() || !sum->sum.isF32() || !sum->elements[weights].isF32())
      return false;
    OpOperand *w = op.getDpsInputOperand(weights), *data = op.getDpsInputOperand(1 - weights);
    // What the nearest cache holds costs less to read than to convert.
    auto type = cast<RankedTensorType>(w->get().getType());
    if (constants.isConstant(data->get()) || !type.hasStaticShape() || 4 * type.getNumElements() <= nearCacheBytes ||
        strata::getUses(op, w) >= strata::kManyRows || !strata::isPlain(op.getMatchingIndexingMap(w)) ||
        !strata::isPlain(op.getMatchingIndexingMap(data)))
      return false;
    auto [bytes, stored] = strata::elementsBehind(w->get());
    return !bytes.empty() && stored.isF32() && strata::areAtMost<uint32_t>(bytes, largest);
  }

  void narrow(OpOperand &weights) {
    auto op = cast<linalg::GenericOp>(weights.getOwner());
    OpBuilder b(op);
    Type f16 = b.getF16Type(), f32 = b.getF32Type();
    Value &narrowed = known[weights.get()];
    if (!narrowed) {
      b.setInsertionPointAfterValue(weights.get());
      narrowed = strata::mapElements(b, op.getLoc(), weights.get(), f16, [&](OpBuilder &b, Value x) -> Value {
                   return b.create<arith::TruncFOp>(op.getLoc(), f16, x);
                 }).getResult(0);
    }
    weights.set(narrowed);
    BlockArgument argument = op.getMatchingBlockArgument(&weights);
    argument.setType(f16);
    b.setInsertionPointToStart(op.getBody());
    auto extended = b.create<arith::ExtFOp>(op.getLoc(), f32, argument);
    argument.replaceAllUsesExcept(extended, extended);
  }
};
} // namespace
