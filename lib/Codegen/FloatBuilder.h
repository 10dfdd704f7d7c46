//===- FloatBuilder.h - operations on floats and vectors of them ----------===//
#ifndef STRATA_CODEGEN_FLOATBUILDER_H
#define STRATA_CODEGEN_FLOATBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace strata {
/// Operations on f32 or f64, or on vectors of it.
struct Floats : mlir::ImplicitLocOpBuilder {
  Floats(mlir::Location loc, mlir::OpBuilder &b, mlir::Type type) : mlir::ImplicitLocOpBuilder(loc, b), type(type) {}
  mlir::Type type;
  /// Whether multiplyAdd is an instruction of the target: where it is none, a fused one is a call.
  bool fused = false;

  unsigned width() { return mlir::getElementTypeOrSelf(type).getIntOrFloatBitWidth(); }
  /// As wide, and with as many lanes.
  mlir::Type integers() {
    auto vector = llvm::dyn_cast<mlir::VectorType>(type);
    mlir::Type element = getIntegerType(width());
    return vector ? mlir::Type(vector.clone(element)) : element;
  }
  mlir::Value constant(mlir::Type type, mlir::TypedAttr value) {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(type))
      return create<mlir::arith::ConstantOp>(mlir::DenseElementsAttr::get(vector, mlir::Attribute(value)));
    return create<mlir::arith::ConstantOp>(value);
  }
  /// f64, with as many lanes.
  mlir::Type wide() {
    auto vector = llvm::dyn_cast<mlir::VectorType>(type);
    return vector ? mlir::Type(vector.clone(getF64Type())) : getF64Type();
  }
  mlir::Value extend(mlir::Value x) { return create<mlir::arith::ExtFOp>(wide(), x); }
  mlir::Value truncate(mlir::Value x) { return create<mlir::arith::TruncFOp>(type, x); }
  mlir::Value number64(double value) { return constant(wide(), getF64FloatAttr(value)); }
  mlir::Value number(double value) { return constant(type, getFloatAttr(mlir::getElementTypeOrSelf(type), value)); }
  mlir::Value integer(int64_t value) { return constant(integers(), getIntegerAttr(getIntegerType(width()), value)); }
  mlir::Value add(mlir::Value x, mlir::Value y) { return create<mlir::arith::AddFOp>(x, y); }
  mlir::Value subtract(mlir::Value x, mlir::Value y) { return create<mlir::arith::SubFOp>(x, y); }
  mlir::Value multiply(mlir::Value x, mlir::Value y) { return create<mlir::arith::MulFOp>(x, y); }
  mlir::Value divide(mlir::Value x, mlir::Value y) { return create<mlir::arith::DivFOp>(x, y); }
  /// x y + z. Not left to LLVM, which fuses products in loops, but not those that it computes itself, of constants.
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value z) {
    if (fused)
      return create<mlir::math::FmaOp>(x, y, z);
    return add(multiply(x, y), z);
  }
  mlir::Value is(mlir::arith::CmpFPredicate how, mlir::Value x, mlir::Value y) {
    return create<mlir::arith::CmpFOp>(how, x, y);
  }
  mlir::Value is(mlir::arith::CmpFPredicate how, mlir::Value x, double y) { return is(how, x, number(y)); }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return create<mlir::arith::SelectOp>(condition, x, y);
  }
  mlir::Value either(mlir::Value x, mlir::Value y) { return create<mlir::arith::OrIOp>(x, y); }
  mlir::Value both(mlir::Value x, mlir::Value y) { return create<mlir::arith::AndIOp>(x, y); }
  mlir::Value magnitude(mlir::Value x) { return create<mlir::math::AbsFOp>(x); }
  mlir::Value signBit(mlir::Value x) { return both(bits(x), integer(llvm::minIntN(width()))); }
  /// x with the sign of y, times its own.
  mlir::Value flip(mlir::Value x, mlir::Value y) { return fromBits(create<mlir::arith::XOrIOp>(bits(x), signBit(y))); }
  mlir::Value bits(mlir::Value x) { return create<mlir::arith::BitcastOp>(integers(), x); }
  mlir::Value fromBits(mlir::Value x) { return create<mlir::arith::BitcastOp>(type, x); }
  /// NaN is in no range and stays.
  mlir::Value bound(mlir::Value x, mlir::arith::CmpFPredicate beyond, double limit) {
    mlir::Value is = create<mlir::arith::CmpFOp>(beyond, x, number(limit));
    return create<mlir::arith::SelectOp>(is, number(limit), x);
  }
  mlir::Value clamp(mlir::Value x, double low, double high) {
    return bound(bound(x, mlir::arith::CmpFPredicate::OLT, low), mlir::arith::CmpFPredicate::OGT, high);
  }
  /// The polynomial of these coefficients, the constant one last.
  mlir::Value multiplyAdds(mlir::Value x, llvm::ArrayRef<float> coefficients) {
    mlir::Value sum = number(coefficients.front());
    for (float c : coefficients.drop_front())
      sum = multiplyAdd(sum, x, number(c));
    return sum;
  }
  /// The same in f64.
  mlir::Value multiplyAdds64(mlir::Value x, llvm::ArrayRef<double> coefficients) {
    mlir::Value sum = number64(coefficients.front());
    for (double c : coefficients.drop_front())
      sum = multiplyAdd(sum, x, number64(c));
    return sum;
  }
  /// multiplyAdds of 2^k coefficients: those of the high powers beside the others, since each step waits for the one
  /// before. The last step is one multiplyAdd.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<float> coefficients) {
    size_t half = coefficients.size() / 2;
    mlir::Value power = x;
    for (size_t exponent = 1; exponent < half; exponent *= 2)
      power = create<mlir::arith::MulFOp>(power, power);
    mlir::Value low = multiplyAdds(x, coefficients.drop_front(half - 1).drop_back());
    mlir::Value sum = multiplyAdd(multiplyAdds(x, coefficients.take_front(half - 1)), power, low);
    return multiplyAdd(sum, x, number(coefficients.back()));
  }
  /// ln 2 in two parts: the product of the first with an exponent is exact, and so is its difference from what it is
  /// nearest to.
  static constexpr float ln2 = 0x1.62e4p-1f, ln2Low = 0x1.7f7d1cp-20f;
  /// log2 e, rounded, and what is left of it.
  static constexpr float log2e = 0x1.715476p0f, log2eLow = 0x1.4ae0cp-26f;
  /// What is left of x besides n ln 2, n near x / ln 2.
  mlir::Value besidesPower(mlir::Value x, mlir::Value n) {
    return multiplyAdd(n, number(-ln2Low), multiplyAdd(n, number(-ln2), x));
  }
  /// A number that, added to a whole n, leaves n + 254 in the last bits of the sum.
  static constexpr float exponentShifter = 0x1.8p23f + 254;
  /// p * 2^n, rounded once, for a p near 1 and a whole n of [-252, 252]; `shifted` is n + exponentShifter.
  mlir::Value timesPowerOfTwo(mlir::Value p, mlir::Value n, mlir::Value shifted, bool powerScaling) {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(type); powerScaling && vector && vector.getNumElements() == 16) {
      // One instruction: with every lane, rounded as usual.
      mlir::Value lanes = create<mlir::arith::ConstantOp>(getI16IntegerAttr(-1));
      mlir::Value rounding = create<mlir::arith::ConstantOp>(getI32IntegerAttr(4));
      return create<mlir::LLVM::CallIntrinsicOp>(type, getStringAttr("llvm.x86.avx512.mask.scalef.ps.512"),
                                                 mlir::ValueRange{p, n, p, lanes, rounding})
          .getResult(0);
    }
    // Of the two halves that the last bits fall into, each is an exponent.
    mlir::Value mantissaBits = integer(23), all = bits(shifted);
    mlir::Value half = create<mlir::arith::ShRUIOp>(all, integer(1));
    mlir::Value rest = create<mlir::arith::SubIOp>(all, half);
    mlir::Value first = fromBits(create<mlir::arith::ShLIOp>(half, mantissaBits));
    mlir::Value second = fromBits(create<mlir::arith::ShLIOp>(rest, mantissaBits));
    return create<mlir::arith::MulFOp>(create<mlir::arith::MulFOp>(p, first), second);
  }
};

/// A function of one f32 or f64, or of vectors of it, in place of the operation.
template <typename Operation> struct ExpandFloats : mlir::OpRewritePattern<Operation> {
  using Expansion = mlir::Value (*)(Floats &, mlir::Value);
  ExpandFloats(mlir::MLIRContext *context, Expansion expand, bool fused, unsigned width = 32)
      : mlir::OpRewritePattern<Operation>(context), expand(expand), fused(fused), width(width) {}

  mlir::LogicalResult matchAndRewrite(Operation op, mlir::PatternRewriter &rewriter) const override {
    auto vector = llvm::dyn_cast<mlir::VectorType>(op.getType());
    if (mlir::getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth() != width || (vector && vector.getRank() != 1))
      return mlir::failure();
    Floats b(op.getLoc(), rewriter, op.getType());
    b.fused = fused;
    rewriter.replaceOp(op, expand(b, op.getOperand()));
    return mlir::success();
  }

private:
  Expansion expand;
  bool fused;
  unsigned width;
};

} // namespace strata

#endif // STRATA_CODEGEN_FLOATBUILDER_H
