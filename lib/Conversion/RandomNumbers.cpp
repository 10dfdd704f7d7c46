//===- RandomNumbers.cpp - random numbers as arithmetic -------------------===//

#include "Conversion/RandomNumbers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace strata::draw {

Value makeKey(LinalgBuilder &b, int64_t node, std::optional<uint64_t> seed) {
  Type i64 = b.getI64Type();
  SmallVector<Value> arguments{b.scalarInt(i64, node)};
  if (seed)
    arguments.push_back(b.scalarInt(i64, static_cast<int64_t>(*seed)));
  Operation *function = b.declareRuntimeFunction(seed ? "strata_rt_random_advance" : "strata_rt_random_seed",
                                                 b.getFunctionType(ValueRange(arguments).getTypes(), i64));
  function->removeAttr("llvm.emit_c_interface"); // Scalars need no wrapper.
  return b.create<func::CallOp>(cast<func::FuncOp>(function), arguments).getResult(0);
}

static Value constant(ImplicitLocOpBuilder &b, uint32_t value) {
  return b.create<arith::ConstantOp>(b.getI32IntegerAttr(static_cast<int32_t>(value)));
}

static Value constant(ImplicitLocOpBuilder &b, double value) {
  return b.create<arith::ConstantOp>(b.getF64FloatAttr(value));
}

// The low and the high half of an i64.
static std::pair<Value, Value> split(ImplicitLocOpBuilder &b, Value wide) {
  Type i32 = b.getI32Type();
  Value shift = b.create<arith::ConstantOp>(b.getI64IntegerAttr(32));
  return {b.createOrFold<arith::TruncIOp>(i32, wide),
          b.createOrFold<arith::TruncIOp>(i32, b.createOrFold<arith::ShRUIOp>(wide, shift))};
}

Words makeBlock(ImplicitLocOpBuilder &b, Value index, Value key) {
  constexpr uint32_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57;
  constexpr uint32_t step0 = 0x9E3779B9, step1 = 0xBB67AE85; // The golden ratio, sqrt(3) - 1.
  auto [c0, c1] = split(b, b.createOrFold<arith::IndexCastOp>(b.getI64Type(), index));
  auto [k0, k1] = split(b, key);
  Value c2 = constant(b, 0u), c3 = c2;
  Value m0 = constant(b, multiplier0), m1 = constant(b, multiplier1);
  auto mix = [&](Value x, Value y, Value z) {
    return b.createOrFold<arith::XOrIOp>(b.createOrFold<arith::XOrIOp>(x, y), z);
  };
  for (uint32_t round = 0; round < 10; ++round) {
    Value key0 = b.createOrFold<arith::AddIOp>(k0, constant(b, round * step0));
    Value key1 = b.createOrFold<arith::AddIOp>(k1, constant(b, round * step1));
    auto product0 = b.create<arith::MulUIExtendedOp>(c0, m0), product1 = b.create<arith::MulUIExtendedOp>(c2, m1);
    c0 = mix(product1.getHigh(), c1, key0);
    c1 = product1.getLow();
    c2 = mix(product0.getHigh(), c3, key1);
    c3 = product0.getLow();
  }
  return {c0, c1, c2, c3};
}

// word * scale; exact, as scale is a power of two.
static Value fraction(ImplicitLocOpBuilder &b, Value word, double scale) {
  return b.create<arith::MulFOp>(b.create<arith::UIToFPOp>(b.getF64Type(), word), constant(b, scale));
}

static Value shiftRight(ImplicitLocOpBuilder &b, Value word, uint32_t by) {
  return b.create<arith::ShRUIOp>(word, constant(b, by));
}

Value makeUniform(ImplicitLocOpBuilder &b, const Words &words, unsigned first) {
  // No conversion of 64-bit integers: few processors have one for vectors.
  return b.create<arith::AddFOp>(fraction(b, words[first], 0x1p-32),
                                 fraction(b, shiftRight(b, words[first + 1], 11), 0x1p-53));
}

// c[0] + x (c[1] + x (c[2] + ...)).
static Value polynomial(ImplicitLocOpBuilder &b, Value x, ArrayRef<double> coefficients) {
  Value sum = constant(b, coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = b.create<arith::AddFOp>(b.create<arith::MulFOp>(sum, x), constant(b, coefficient));
  return sum;
}

// The natural logarithm of a positive normal number: x = m 2^e with m in [sqrt(1/2), sqrt(2)), and
// ln m = 2 artanh((m - 1) / (m + 1)).
static Value makeLog(ImplicitLocOpBuilder &b, Value x) {
  auto i64 = [&](int64_t value) -> Value { return b.create<arith::ConstantOp>(b.getI64IntegerAttr(value)); };
  constexpr int64_t sqrtHalf = 0x3FE6A09E667F3BCD;
  Value bits = b.create<arith::BitcastOp>(b.getI64Type(), x);
  Value exponent = b.create<arith::ShRSIOp>(b.create<arith::SubIOp>(bits, i64(sqrtHalf)), i64(52));
  Value mantissa = b.create<arith::BitcastOp>(
      b.getF64Type(), b.create<arith::SubIOp>(bits, b.create<arith::ShLIOp>(exponent, i64(52))));
  Value one = constant(b, 1.0);
  Value s = b.create<arith::DivFOp>(b.create<arith::SubFOp>(mantissa, one), b.create<arith::AddFOp>(mantissa, one));
  Value z = b.create<arith::MulFOp>(s, s);
  SmallVector<double> series;
  for (int k = 0; k < 12; ++k)
    series.push_back(2.0 / (2 * k + 1));
  Value log = b.create<arith::MulFOp>(s, polynomial(b, z, series));
  // By way of i32, which vectors convert.
  Value e = b.create<arith::SIToFPOp>(b.getF64Type(), b.create<arith::TruncIOp>(b.getI32Type(), exponent));
  return b.create<arith::AddFOp>(b.create<arith::MulFOp>(e, constant(b, 0.693147180559945309417)), log);
}

// cos(2 pi v) for v = (high 2^21 + low) 2^-53, by the quarter of the circle that is nearest: what is left is exact.
static Value makeCosine(ImplicitLocOpBuilder &b, Value high, Value low) {
  Value moved = b.create<arith::AddIOp>(high, constant(b, uint32_t(0x20000000)));
  Value quarter = shiftRight(b, moved, 30);
  Value within = b.create<arith::AndIOp>(moved, constant(b, uint32_t(0x3FFFFFFF)));
  Value r = b.create<arith::AddFOp>(fraction(b, within, 0x1p-30), fraction(b, low, 0x1p-51));
  Value a = b.create<arith::MulFOp>(b.create<arith::SubFOp>(r, constant(b, 0.5)), constant(b, 1.57079632679489661923));
  Value z = b.create<arith::MulFOp>(a, a);
  SmallVector<double> cosines, sines;
  double factorial = 1;
  for (int k = 0; k < 9; ++k) { // 1 / (2k)! and 1 / (2k + 1)! with alternating signs.
    cosines.push_back((k % 2 ? -1 : 1) / factorial);
    factorial *= 2 * k + 1;
    sines.push_back((k % 2 ? -1 : 1) / factorial);
    factorial *= 2 * k + 2;
  }
  Value cosine = polynomial(b, z, cosines), sine = b.create<arith::MulFOp>(a, polynomial(b, z, sines));
  // cos a, -sin a, -cos a, sin a.
  auto isSet = [&](Value word, uint32_t bit) -> Value {
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, b.create<arith::AndIOp>(word, constant(b, bit)),
                                   constant(b, 0u));
  };
  Value value = b.create<arith::SelectOp>(isSet(quarter, 1), sine, cosine);
  Value negative = isSet(b.create<arith::AddIOp>(quarter, constant(b, 1u)), 2);
  return b.create<arith::SelectOp>(negative, b.create<arith::NegFOp>(value), value);
}

Value makeNormal(ImplicitLocOpBuilder &b, const Words &words) {
  // In (0, 1]: there is no logarithm of zero.
  Value u = b.create<arith::AddFOp>(makeUniform(b, words, 0), constant(b, 0x1p-53));
  Value radius = b.create<math::SqrtOp>(b.create<arith::MulFOp>(makeLog(b, u), constant(b, -2.0)));
  return b.create<arith::MulFOp>(radius, makeCosine(b, words[2], shiftRight(b, words[3], 11)));
}

SmallVector<Value> makeElements(
    LinalgBuilder &b, ArrayRef<OpFoldResult> sizes, Value key, ValueRange operands, ArrayRef<Type> elements,
    llvm::function_ref<SmallVector<Value>(ImplicitLocOpBuilder &b, const Words &words, ValueRange scalars)> body) {
  // One loop, whose number is the element's index.
  OpFoldResult count = b.product(sizes);
  SmallVector<Value> inputs, inits;
  SmallVector<Type> types;
  for (Value operand : operands)
    inputs.push_back(b.reshape(operand, {count}));
  for (Type element : elements) {
    inits.push_back(b.empty({count}, element));
    types.push_back(inits.back().getType());
  }
  SmallVector<AffineMap> maps(inputs.size() + inits.size(), b.getMultiDimIdentityMap(1));
  auto generic = b.create<linalg::GenericOp>(types, inputs, inits, maps, utils::IteratorType::parallel,
                                             [&](OpBuilder &nested, Location loc, ValueRange arguments) {
                                               ImplicitLocOpBuilder inner(loc, nested);
                                               Words words = makeBlock(inner, inner.create<linalg::IndexOp>(0), key);
                                               inner.create<linalg::YieldOp>(
                                                   body(inner, words, arguments.take_front(inputs.size())));
                                             });
  return llvm::map_to_vector(generic.getResults(), [&](Value result) { return b.reshape(result, sizes); });
}

} // namespace strata::draw
