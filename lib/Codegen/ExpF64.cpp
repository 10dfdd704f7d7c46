//===- ExpF64.cpp - exp, expm1 and tanh of f64 without calls --------------===//
//
// With n = round(x / ln 2) and r = x - n ln 2, |r| <= ln(2) / 2, in two steps, of which
// the first is exact:
//
// - expm1(r) = r + r^2 p(r), p of degree 10: the error is below 2^-60 |r|.
// - exp(x) = 2^n * (1 + expm1(r)). The power is applied in two halves, so that one
//   rounding, the last, gives subnormal and infinite results.
// - expm1(x) = 2^n * (1 - 2^-n + expm1(r)).
// - tanh(x) = t / (t + 2), t = expm1(2 |x|), with x's sign, for |x| < 22, where tanh(x)
//   rounds to 1.
//
// Errors in units of the last place: exp 1, expm1 1.2, tanh 2.4. The polynomial is one of minimal
// maximal error, fitted with 60 digits. NaN stays NaN.
//
//===----------------------------------------------------------------------===//
#include "ApproximateMath.h"
#include "FloatBuilder.h"

using namespace mlir;
using strata::Floats;

namespace {
/// x = n ln 2 + r, and expm1(r) = r + rest; the last bits of `shifted` are n + `bias`.
struct Reduced {
  Value shifted, r, rest;

  Reduced(Floats &b, Value x, int64_t bias) {
    // The first part has 42 bits: its products with n are exact.
    constexpr double log2e = 0x1.71547652b82fep+0, ln2 = 0x1.62e42fefa38p-1, ln2Low = 0x1.ef35793c7673p-45;
    Value shifter = b.number(0x1.8p52 + bias);
    shifted = b.multiplyAdd(x, b.number(log2e), shifter);
    Value n = b.subtract(shifted, shifter);
    r = b.multiplyAdd(n, b.number(-ln2Low), b.multiplyAdd(n, b.number(-ln2), x));
    Value p =
        b.multiplyAdds64(r, {0x1.1f954f019afcap-29, 0x1.af5ebf367fdbap-26, 0x1.27e4c5adbf209p-22, 0x1.71ddf8537ee9fp-19,
                             0x1.a01a01b0b1260p-16, 0x1.a01a01afe5357p-13, 0x1.6c16c16c14463p-10, 0x1.111111110f6aep-7,
                             0x1.555555555555ap-5, 0x1.5555555555559p-3, 0.5});
    rest = b.multiply(b.multiply(r, r), p);
  }
};
} // namespace

static Value expandExp(Floats &b, Value x) {
  // Beyond, 0 and infinity.
  Reduced reduced(b, b.clamp(x, -746, 710), 2 * 1023);
  Value p = b.add(b.number(1), b.add(reduced.r, reduced.rest));
  // Of the two halves that the last bits fall into, each is an exponent.
  Value position = b.integer(52), all = b.bits(reduced.shifted);
  Value half = b.create<arith::ShRUIOp>(all, b.integer(1));
  Value first = b.fromBits(b.create<arith::ShLIOp>(half, position));
  Value second = b.fromBits(b.create<arith::ShLIOp>(b.create<arith::SubIOp>(all, half), position));
  return b.multiply(b.multiply(p, first), second);
}

static Value expandExpM1(Floats &b, Value x) {
  // Beyond, -1 and infinity. The last bits are n - 1 as an exponent; 2^-n is none of the largest n, for which 0 will
  // do.
  Reduced reduced(b, b.clamp(x, -38, 710), 1022);
  Value position = b.integer(52), bits = b.bits(reduced.shifted);
  Value low = b.create<arith::SubIOp>(b.integer(llvm::bit_cast<int64_t>(0x1.8p52) + 2045), bits);
  low = b.create<arith::MaxSIOp>(low, b.integer(0));
  Value power = b.fromBits(b.create<arith::ShLIOp>(bits, position));
  Value inverse = b.fromBits(b.create<arith::ShLIOp>(low, position));
  Value sum = b.add(b.add(b.subtract(b.number(1), inverse), reduced.r), reduced.rest);
  Value result = b.multiply(b.add(sum, sum), power);
  // Of -0.
  return b.fromBits(b.either(b.bits(result), b.signBit(x)));
}

static Value expandTanh(Floats &b, Value x) {
  Value magnitude = b.bound(b.magnitude(x), arith::CmpFPredicate::OGT, 22);
  Value t = expandExpM1(b, b.add(magnitude, magnitude));
  return b.flip(b.divide(t, b.add(t, b.number(2))), x);
}

void strata::populateExpF64Patterns(RewritePatternSet &patterns, bool fused) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandFloats<math::ExpOp>>(context, expandExp, fused, 64);
  patterns.add<ExpandFloats<math::ExpM1Op>>(context, expandExpM1, fused, 64);
  patterns.add<ExpandFloats<math::TanhOp>>(context, expandTanh, fused, 64);
}
