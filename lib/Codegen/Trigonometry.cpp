//===- Trigonometry.cpp - sin, cos and tan of f32 without calls -----------===//
//
// x = n pi/2 + r, |r| <= 0.79, and a polynomial in r^2 for the quarter n mod 4. A
// rest is as small as 2^-30, so that f32 has not enough bits for it:
//
// - |x| < 2^16: n = round(x 2/pi) in f32, r = (x - n P) - n Q in f64, P the first 33
//   bits of pi/2, so that the first product and difference are exact, Q the next 53.
// - Beyond (Payne and Hanek): x is a whole number m < 2^24 times 2^e, and of 2/pi all
//   bits are left out that contribute multiples of 2 pi, or less than 2^-62: m times
//   the 96 others, modulo 2^96, in integers. One branch for all lanes skips it where
//   no lane needs it; each lane takes what its own x asks for. Behind the branch is a
//   call where the module has the function: one for all that need it, which LLVM need
//   not look at in each loop.
//
// What is added to r and to 1 is computed in f32 of r and r^2, each rounded once; r is
// added in f64, since half a unit of its own is one of the sine, which is smaller.
// Errors below one unit in the last place. tan is computed in f64 and rounded once, for
// its poles' sake: -1 / tan(r).
//
// Polynomials of minimal maximal relative error, fitted with 40 digits. sin and tan
// are computed of |x|: the sign of 0 stays.
//
//===----------------------------------------------------------------------===//
#include "ApproximateMath.h"
#include "FloatBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using strata::Floats;
using Compare = arith::CmpFPredicate;

/// 2 / pi after 32 zeros.
static constexpr uint32_t kTwoOverPi[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                          0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};

/// Of the function for large angles of this type.
static std::string largeAngleName(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return "strata_large_angle" + (vector ? "_" + std::to_string(vector.getNumElements()) : "");
}

namespace {
/// x = quarter * pi/2 + rest, the rest in f64; the last two bits of the quarter count.
struct Angle {
  Value quarter, rest;
};

struct Reduction : Floats {
  Reduction(Floats &b) : Floats(b) {}

  /// Of 0 <= x < 2^16. Beyond, any; NaN of NaN.
  Angle ofUsual(Value x) {
    Value shifter = number(0x1.8p23f);
    Value shifted = multiplyAdd(x, number(0x1.45f306p-1f), shifter);
    Value n = extend(subtract(shifted, shifter));
    Value rest = multiplyAdd(n, number64(-0x1.921fb544p+0), extend(x));
    return {bits(shifted), multiplyAdd(n, number64(-0x1.0b4611a626331p-34), rest)};
  }

  /// Of x >= 2^16. Infinity gives any number.
  Angle ofLarge(Value x) {
    Value all = bits(x);
    Value m = lengthen(either(both(all, integer(0x7fffff)), integer(0x800000)));
    // The first bit that counts has the weight 2^(1 - e), and the number `first`.
    Value first = create<arith::SubIOp>(create<arith::ShRUIOp>(all, integer(23)), integer(127 + 23 - 30));
    Value shift = both(first, integer(31)), rest = create<arith::XOrIOp>(shift, integer(31));
    Value words[4];
    loadWords(create<arith::ShRSIOp>(first, integer(5)), words);
    Value window[3];
    for (unsigned i = 0; i < 3; ++i) {
      Value next = create<arith::ShRUIOp>(words[i + 1], integer(1));
      window[i] =
          lengthen(either(create<arith::ShLIOp>(words[i], shift), create<arith::ShRUIOp>(next, rest).getResult()));
    }
    // The first 64 bits of the product modulo 2^96: two of the quarter, and what is left of it.
    Value word = integer64(32);
    Value high = create<arith::ShLIOp>(create<arith::MulIOp>(m, window[0]), word);
    Value low = create<arith::ShRUIOp>(create<arith::MulIOp>(m, window[2]), word);
    Value product = create<arith::AddIOp>(create<arith::AddIOp>(high, create<arith::MulIOp>(m, window[1])), low);
    // Rounded to the nearest quarter, by the bit behind it.
    Value quarter = create<arith::TruncIOp>(integers(), create<arith::ShRUIOp>(product, integer64(61)));
    quarter = create<arith::ShRUIOp>(create<arith::AddIOp>(quarter, integer(1)), integer(1));
    Value fraction = create<arith::SIToFPOp>(wide(), create<arith::ShLIOp>(product, integer64(2)));
    return {quarter, multiply(fraction, number64(0x1.921fb54442d18p-64))};
  }

  /// Of x >= 0; a rest of NaN if it is infinite or NaN.
  Angle of(Value x) {
    Angle usual = ofUsual(x);
    Value large = is(Compare::OGE, x, 0x1p16f), any = large;
    if (isa<VectorType>(type))
      any = create<vector::ReductionOp>(vector::CombiningKind::OR, large);
    auto branch = create<scf::IfOp>(TypeRange{integers(), wide()}, any, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(*this);
      setInsertionPointToStart(branch.thenBlock());
      Angle beyond;
      auto module = branch->getParentOfType<ModuleOp>();
      if (auto function = module ? module.lookupSymbol<func::FuncOp>(largeAngleName(type)) : nullptr) {
        auto call = create<func::CallOp>(function, x);
        beyond = {call.getResult(0), call.getResult(1)};
      } else {
        beyond = ofLarge(x);
      }
      Value rest = select(is(Compare::OLT, x, std::numeric_limits<float>::infinity()), beyond.rest,
                          number64(std::numeric_limits<double>::quiet_NaN()));
      create<scf::YieldOp>(ValueRange{select(large, beyond.quarter, usual.quarter), select(large, rest, usual.rest)});
      setInsertionPointToStart(branch.elseBlock());
      create<scf::YieldOp>(ValueRange{usual.quarter, usual.rest});
    }
    return {branch.getResult(0), branch.getResult(1)};
  }

private:
  Type integers64() {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? Type(vector.clone(getI64Type())) : getI64Type();
  }
  Value integer64(int64_t value) { return constant(integers64(), getI64IntegerAttr(value)); }
  Value lengthen(Value x) { return create<arith::ExtUIOp>(integers64(), x); }

  /// Words `at` to `at` + 3 of 2 / pi, 0 <= `at` <= 4.
  void loadWords(Value at, MutableArrayRef<Value> words) {
    for (auto [i, word] : llvm::enumerate(words))
      word = integer(kTwoOverPi[i]);
    for (unsigned k = 1; k <= 4; ++k) {
      Value here = create<arith::CmpIOp>(arith::CmpIPredicate::sge, at, integer(k));
      for (auto [i, word] : llvm::enumerate(words))
        word = select(here, integer(kTwoOverPi[k + i]), word);
    }
  }
};
} // namespace

/// sin(x) of x >= 0, some quarters later.
static Value sine(Floats &b, Value x, int32_t quarters) {
  Angle angle = Reduction(b).of(x);
  Value quarter = angle.quarter, r = b.truncate(angle.rest);
  Value z = b.truncate(b.multiply(angle.rest, angle.rest));
  if (quarters)
    quarter = b.create<arith::AddIOp>(quarter, b.integer(quarters));
  Value sin = b.multiplyAdds(z, {-0x1.991bfp-13f, 0x1.1106c6p-7f, -0x1.555544p-3f});
  sin = b.truncate(b.add(angle.rest, b.extend(b.multiply(b.multiply(r, z), sin))));
  Value cos = b.multiplyAdds(z, {0x1.99e24p-16f, -0x1.6c0c1cp-10f, 0x1.55554ap-5f, -0.5f, 1});
  Value odd = b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, b.both(quarter, b.integer(1)), b.integer(0));
  return b.flip(b.select(odd, cos, sin), b.fromBits(b.create<arith::ShLIOp>(quarter, b.integer(30))));
}

static Value expandSin(Floats &b, Value x) { return b.flip(sine(b, b.magnitude(x), 0), x); }

static Value expandCos(Floats &b, Value x) { return sine(b, b.magnitude(x), 1); }

static Value expandTan(Floats &b, Value x) {
  auto [quarter, r] = Reduction(b).of(b.magnitude(x));
  Value z = b.multiply(r, r);
  Value p = b.multiplyAdds64(z, {0x1.104034c8aca5p-9, -0x1.63c26d3d647cp-11, 0x1.4c3b83d6aa919p-8, 0x1.0fccf342df17ap-7,
                                 0x1.685a983581d9dp-6, 0x1.b9fc4655da8e9p-5, 0x1.1111845d439p-3, 0x1.5555543567d6dp-2});
  Value t = b.multiplyAdd(b.multiply(r, z), p, r);
  // One division; by 1 in an even quarter.
  Value odd = b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, b.both(quarter, b.integer(1)), b.integer(0));
  t = b.divide(b.select(odd, b.number64(-1), t), b.select(odd, t, b.number64(1)));
  return b.flip(b.truncate(t), x);
}

void strata::addLargeAngleFunctions(ModuleOp module) {
  SetVector<Type> types;
  for (auto function : module.getOps<func::FuncOp>())
    function.walk([&](Operation *op) {
      if (isa<math::SinOp, math::CosOp, math::TanOp>(op) && getElementTypeOrSelf(op->getResult(0)).isF32())
        types.insert(op->getResult(0).getType());
    });
  for (Type type : types) {
    OpBuilder top(module.getBodyRegion());
    Floats floats(module.getLoc(), top, type);
    auto function = floats.create<func::FuncOp>(largeAngleName(type),
                                                floats.getFunctionType({type}, {floats.integers(), floats.wide()}));
    function.setPrivate();
    function->setAttr("passthrough", floats.getStrArrayAttr({"cold", "noinline"}));
    floats.setInsertionPointToStart(function.addEntryBlock());
    Angle angle = Reduction(floats).ofLarge(function.getArgument(0));
    floats.create<func::ReturnOp>(ValueRange{angle.quarter, angle.rest});
  }
}

void strata::populateTrigonometryPatterns(RewritePatternSet &patterns, bool fused) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandFloats<math::SinOp>>(context, expandSin, fused);
  patterns.add<ExpandFloats<math::CosOp>>(context, expandCos, fused);
  patterns.add<ExpandFloats<math::TanOp>>(context, expandTan, fused);
}
