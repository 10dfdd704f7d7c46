//===- Logarithm.cpp - log and log1p of f32 without divisions -------------===//
//
// Upstream's log1p divides, to make good for what 1 + x lost of x. Here that sum only
// says which power of two is left out:
//
// - log(x) = n ln 2 + log(1 + f), x = 2^n (1 + f), 1 + f in [sqrt(1/2), sqrt(2)), and a
//   polynomial of degree 10 for log(1 + f). A subnormal x is scaled by 2^24 first.
// - log1p(x) = n ln 2 + log(1 + f) with f = x 2^-n - (1 - 2^-n): of products and
//   differences only the last is rounded, and where n is 0, f is x.
//
// Errors in units of the last place: log 0.9, log1p 1.5. Polynomials of minimal maximal
// relative error, fitted with 40 digits.
//
//===----------------------------------------------------------------------===//
#include "Logarithm.h"
#include "ApproximateMath.h"

using namespace mlir;
using strata::Floats;
using strata::Logarithm;
using Compare = arith::CmpFPredicate;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The logarithm of a number from 0, which it is for an x of `zero`, to infinity: at these and beyond, not `log`.
static Value finish(Floats &b, Value log, Value x, float zero) {
  // Infinity and NaN stay.
  log = b.select(b.is(Compare::OLT, x, kInfinity), log, x);
  log = b.select(b.is(Compare::OLT, x, zero), b.number(std::numeric_limits<float>::quiet_NaN()), log);
  return b.select(b.is(Compare::OEQ, x, zero), b.number(-kInfinity), log);
}

static Value expandLog(Floats &b, Value x) {
  Value small = b.is(Compare::OLT, x, 0x1p-126f);
  Logarithm log(b, b.select(small, b.multiply(x, b.number(0x1p24f)), x));
  Value n = b.subtract(log.n, b.select(small, b.number(24), b.number(0)));
  Value rest = b.multiplyAdd(n, b.number(Floats::ln2Low), log.rest);
  return finish(b, b.multiplyAdd(n, b.number(Floats::ln2), b.add(log.f, rest)), x, 0);
}

static Value expandLog1p(Floats &b, Value x) {
  Value e = Logarithm::exponent(b, b.add(x, b.number(1)));
  // 2^-e is none of the largest e; 0 will do.
  Value low = b.create<arith::MaxSIOp>(b.create<arith::SubIOp>(b.integer(127), e), b.integer(0));
  Value power = b.fromBits(b.create<arith::ShLIOp>(low, b.integer(23)));
  Value f = b.subtract(Logarithm::scaled(b, x, e), b.subtract(b.number(1), power));
  // With the factors' signs turned, -0 stays.
  Value n = b.create<arith::SIToFPOp>(b.type, b.create<arith::SubIOp>(b.integer(0), e));
  Value rest = b.multiplyAdd(n, b.number(-Floats::ln2Low), Logarithm::restOf(b, f));
  return finish(b, b.multiplyAdd(n, b.number(-Floats::ln2), b.add(f, rest)), x, -1);
}

void strata::populateLogarithmPatterns(RewritePatternSet &patterns, bool fused) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandFloats<math::LogOp>>(context, expandLog, fused);
  patterns.add<ExpandFloats<math::Log1pOp>>(context, expandLog1p, fused);
}
