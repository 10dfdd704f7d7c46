//===- Norms.h - what p-norms share -----------------------------*- C++ -*-===//
//
// Powers and roots, and the attribute `p` of GlobalLpPool and LpPool: a float
// in version 1, later a positive integer.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_NORMS_H
#define STRATA_LIB_DIALECT_ONNX_OPS_NORMS_H

#include "Compute.h"
#include "Dialect/VersionSteps.h"

namespace strata {

/// |x|^p, and the p-th root of a sum of such.
inline Value powerOfAbs(ImplicitLocOpBuilder &b, Value x, int64_t p) {
  Value positive = b.create<math::AbsFOp>(x);
  if (p == 1)
    return positive;
  if (p == 2)
    return b.create<arith::MulFOp>(x, x);
  return b.create<math::PowFOp>(positive, constantFloat(b, x.getType(), static_cast<double>(p)));
}
inline Value rootOf(ImplicitLocOpBuilder &b, Value sum, int64_t p) {
  if (p == 1)
    return sum;
  if (p == 2)
    return b.create<math::SqrtOp>(sum);
  return b.create<math::PowFOp>(sum, constantFloat(b, sum.getType(), 1.0 / static_cast<double>(p)));
}

inline LogicalResult verifyNorm(Operation *op) {
  if (auto p = op->getAttrOfType<IntegerAttr>("p"); p && p.getInt() < 1)
    return op->emitOpError("'p' is ") << p.getInt() << ", less than 1";
  return success();
}

/// Adds `p` as an integer to `added` if it is a float here; an error if it is no positive integer.
inline LogicalResult upgradeNorm(Operation *op, PatternRewriter &rewriter, SmallVectorImpl<NamedAttribute> &added) {
  auto p = op->getAttrOfType<FloatAttr>("p");
  if (!p)
    return success();
  double value = p.getValueAsDouble();
  if (value != std::floor(value) || value < 1 || value > 1e6)
    return op->emitOpError("cannot be upgraded: its 'p' ") << value << " is not a positive integer";
  added.push_back(rewriter.getNamedAttr("p", rewriter.getI64IntegerAttr(static_cast<int64_t>(value))));
  return success();
}

/// The downgrade step, with `p` as a float for version 1.
inline LogicalResult downgradeNorm(Operation *op, PatternRewriter &rewriter, ArrayRef<Neutral> neutral = {}) {
  if (auto p = op->getAttrOfType<IntegerAttr>("p"); p && getPreviousVersion(op) == 1)
    return replaceByPrevious(op, rewriter, op->getOperand(0), {},
                             rewriter.getNamedAttr("p", rewriter.getF32FloatAttr(p.getInt())));
  return downgradeStep(op, rewriter, neutral);
}

} // namespace strata

#endif // STRATA_LIB_DIALECT_ONNX_OPS_NORMS_H
