//===- MelWeightMatrix.cpp - MelWeightMatrix ------------------------------===//
//
// Triangles over the bins of a spectrum: their corners are equally far apart on
// the mel scale. Computed in double precision.
//
//===----------------------------------------------------------------------===//

#include "../Compute.h"

static LogicalResult inferMel(ShapeContext &c) {
  auto get = [&](unsigned formal) -> Dim {
    auto values = c.values(formal);
    return values && values->size() == 1 ? values->front() : Dim();
  };
  Dim bins = get(0), length = get(1), rate = get(2);
  if (bins.isStatic() && bins.size < 0)
    return c.emitError() << "has " << bins.size << " mel bins";
  if (length.isStatic() && length.size < 0)
    return c.emitError() << "has a DFT length of " << length.size;
  if (rate.isStatic() && rate.size < 1)
    return c.emitError() << "has a sample rate of " << rate.size << ", less than 1";
  std::optional<ElementKind> kind = getElementKindOfDataType(c.integer("output_datatype", 1));
  if (!kind)
    return c.emitError() << "'output_datatype' is " << c.integer("output_datatype", 1) << ", which is no element type";
  c.setElementType(0, getElementType(c.getContext(), *kind));
  c.setShape(0, {length.isStatic() ? Dim(length.size / 2 + 1) : Dim(), bins});
  return success();
}

static FailureOr<SmallVector<Value>> lowerMel(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type f64 = b.getF64Type(), i64 = b.getI64Type(), element = getElementType(op->getResult(0));
  auto toIndex = [&](unsigned i) -> OpFoldResult {
    if (auto known = b.getIntegers(op->getOperand(i)); known && known->size() == 1)
      return b.getIndexAttr(known->front());
    return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), b.extractScalar(operands[i]));
  };
  OpFoldResult bins = toIndex(0), length = toIndex(1), rate = toIndex(2);
  using P = arith::CmpIPredicate;
  b.check(b.compare(P::sge, bins, b.getIndexAttr(0)), "the number of mel bins is negative");
  b.check(b.compare(P::sge, length, b.getIndexAttr(0)), "the DFT length is negative");
  b.check(b.compare(P::sge, rate, b.getIndexAttr(1)), "the sample rate is less than 1");
  auto toFloat = [&](ImplicitLocOpBuilder &n, Value index) -> Value {
    return n.create<arith::SIToFPOp>(f64, n.create<arith::IndexCastOp>(i64, index));
  };
  // 2595 * log10(1 + f / 700).
  auto toMel = [&](unsigned i) -> Value {
    Type onnx = getElementType(op->getOperand(i));
    Value hertz = scalar::decode(b, b.extractScalar(operands[i]), onnx);
    if (hertz.getType() != f64)
      hertz = b.create<arith::ExtFOp>(f64, hertz);
    Value part = b.create<math::Log1pOp>(b.create<arith::DivFOp>(hertz, b.scalar(f64, 700)));
    return b.create<arith::MulFOp>(part, b.scalar(f64, 2595 / M_LN10));
  };
  Value low = toMel(3), two = b.index(int64_t(2));
  OpFoldResult corners = b.add(bins, two);
  Value step = b.create<arith::DivFOp>(b.create<arith::SubFOp>(toMel(4), low), toFloat(b, b.index(corners)));
  Value perHertz =
      b.create<arith::DivFOp>(toFloat(b, b.index(b.add(length, b.getIndexAttr(1)))), toFloat(b, b.index(rate)));
  // The bin of the spectrum in which each corner is.
  Value cornerBins = b.generate({corners}, f64, [&](ImplicitLocOpBuilder &n, ValueRange i) -> Value {
    Value mel = n.create<arith::AddFOp>(n.create<arith::MulFOp>(toFloat(n, i[0]), step), low);
    Value power = n.create<math::ExpM1Op>(n.create<arith::MulFOp>(mel, constantFloat(n, f64, M_LN10 / 2595)));
    Value hertz = n.create<arith::MulFOp>(power, constantFloat(n, f64, 700));
    return n.create<math::FloorOp>(n.create<arith::MulFOp>(hertz, perHertz));
  });
  Sizes sizes{b.add(b.floorDiv(length, b.getIndexAttr(2)), b.getIndexAttr(1)), bins};
  return SmallVector<Value>{
      b.generate(sizes, getSeamElementType(element), [&](ImplicitLocOpBuilder &n, ValueRange i) -> Value {
        using F = arith::CmpFPredicate;
        auto corner = [&](int64_t k) -> Value {
          return n.create<tensor::ExtractOp>(
              cornerBins, ValueRange{n.create<arith::AddIOp>(i[1], n.create<arith::ConstantIndexOp>(k))});
        };
        auto between = [&](Value x, F atLeast, Value from, F below, Value to) -> Value {
          return n.create<arith::AndIOp>(n.create<arith::CmpFOp>(atLeast, x, from),
                                         n.create<arith::CmpFOp>(below, x, to));
        };
        auto ratio = [&](Value a, Value c, Value d, Value e) -> Value {
          return n.create<arith::DivFOp>(n.create<arith::SubFOp>(a, c), n.create<arith::SubFOp>(d, e));
        };
        Value x = toFloat(n, i[0]), left = corner(0), middle = corner(1), right = corner(2);
        Value zero = constantFloat(n, f64, 0), one = constantFloat(n, f64, 1);
        // Rises from the left corner to the middle one, falls to the right one, which it does not reach.
        Value rising =
            n.create<arith::SelectOp>(between(x, F::OGE, left, F::OLE, middle), ratio(x, left, middle, left), zero);
        Value falling = n.create<arith::SelectOp>(between(x, F::OGE, middle, F::OLT, right),
                                                  ratio(right, x, right, middle), rising);
        Value isMiddle = n.create<arith::CmpFOp>(F::OEQ, x, middle);
        return scalar::convert(n, n.create<arith::SelectOp>(isMiddle, one, falling), f64, element);
      })};
}

STRATA_SLICE(MelWeightMatrix) { ops.add("MelWeightMatrix", {.inferShapes = inferMel, .lower = lowerMel}); }
