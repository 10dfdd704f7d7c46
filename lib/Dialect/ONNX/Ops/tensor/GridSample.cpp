//===- GridSample.cpp - GridSample ----------------------------------------===//
//
// The grid holds coordinates in [-1, 1], last dimension first. Each result
// element interpolates the elements around its coordinates.
//
//===----------------------------------------------------------------------===//

#include "../Sampling.h"
#include "Dialect/VersionSteps.h"

using namespace strata::sampling;

static LogicalResult verifyGridSample(Operation *op) {
  bool old = cast<VersionedOpInterface>(op).getSinceVersion() < 20;
  auto mode = op->getAttrOfType<StringAttr>("mode"), padding = op->getAttrOfType<StringAttr>("padding_mode");
  if (mode && mode.getValue() != (old ? "bilinear" : "linear") && mode.getValue() != (old ? "bicubic" : "cubic") &&
      mode.getValue() != "nearest")
    return op->emitOpError("'mode' is '")
           << mode.getValue() << "', not " << (old ? "bilinear, nearest or bicubic" : "linear, nearest or cubic");
  if (padding && padding.getValue() != "zeros" && padding.getValue() != "border" && padding.getValue() != "reflection")
    return op->emitOpError("'padding_mode' is '") << padding.getValue() << "', not zeros, border or reflection";
  return success();
}

static LogicalResult inferGridSample(ShapeContext &c) {
  std::optional<Shape> x = c.shape(0), grid = c.shape(1);
  if ((x && x->size() < 3) || (grid && grid->size() < 3))
    return c.emitError() << "needs operands of rank at least 3";
  if (x && grid && x->size() != grid->size())
    return c.emitError() << "has an input of rank " << x->size() << ", but a grid of rank " << grid->size();
  if (x && c.version() < 20 && x->size() != 4)
    return c.emitError() << "needs an input of rank 4, not " << x->size();
  if (!x || !grid)
    return success();
  int64_t spatial = x->size() - 2;
  if (grid->back().isStatic() && grid->back().size != spatial)
    return c.emitError() << "has a grid of " << grid->back().size << " coordinates for " << spatial
                         << " spatial dimensions";
  if ((*x)[0].isStatic() && (*grid)[0].isStatic() && (*x)[0].size != (*grid)[0].size)
    return c.emitError() << "has " << (*x)[0].size << " inputs, but " << (*grid)[0].size << " grids";
  // The batch: a number from either, else the input's name for it.
  Dim batch = (*grid)[0].isStatic() && !(*x)[0].isStatic() ? (*grid)[0] : (*x)[0];
  Shape result{batch, (*x)[1]};
  result.append(grid->begin() + 1, grid->end() - 1);
  c.setShape(0, result);
  return success();
}

// Up to version 16 the modes were named for two dimensions.
static LogicalResult upgradeGridSample(Operation *op, PatternRewriter &rewriter) {
  SmallVector<NamedAttribute, 1> added;
  if (auto mode = op->getAttrOfType<StringAttr>("mode")) {
    StringRef name = mode.getValue();
    name.consume_front("bi");
    added.push_back(rewriter.getNamedAttr("mode", rewriter.getStringAttr(name)));
  }
  return changeAttributes(op, rewriter, {}, added);
}

// Version 16 samples images, and calls the modes bilinear and bicubic.
static LogicalResult downgradeGridSample(Operation *op, PatternRewriter &rewriter) {
  if (getPreviousVersion(op) != 16)
    return downgradeStep(op, rewriter);
  std::optional<Shape> shape = getShape(op->getOperand(0).getType());
  if (!shape || shape->size() != 4)
    return refuseDowngrade(op) << "its input is of rank 4, not " << op->getOperand(0).getType();
  SmallVector<NamedAttribute, 1> added;
  if (auto mode = op->getAttrOfType<StringAttr>("mode"); mode && mode != "nearest")
    added.push_back(rewriter.getNamedAttr("mode", rewriter.getStringAttr("bi" + mode.getValue())));
  return replaceByPrevious(op, rewriter, SmallVector<Value>(op->getOperands()), {}, added);
}

namespace {
/// One element read at one dimension: its index, whether there is such an element (null: always), its weight.
struct Tap {
  Value index, inside, weight;
};

struct GridSampler {
  ImplicitLocOpBuilder &n;
  GridSampleOp op;
  Type type; // of the coordinates
  bool align;
  StringRef padding;

  Value number(double value) { return constantFloat(n, type, value); }
  Value add(Value a, Value b) { return n.create<arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) { return n.create<arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return n.create<arith::MulFOp>(a, b); }
  Value less(Value a, Value b) { return n.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, a, b); }
  Value select(Value c, Value a, Value b) { return n.create<arith::SelectOp>(c, a, b); }

  /// `x` reflected at the borders until it is inside. With only one position inside, it is that one.
  Value reflect(Value x, Value low, Value high) {
    Value range = sub(high, low), below = less(x, low);
    Value distance = select(below, sub(low, x), sub(x, high));
    Value times = n.create<math::FloorOp>(n.create<arith::DivFOp>(distance, range));
    Value rest = sub(distance, mul(times, range));
    Value half = mul(times, number(0.5));
    Value even = n.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, n.create<math::FloorOp>(half), half);
    Value fromLow = n.create<arith::CmpIOp>(arith::CmpIPredicate::eq, below, even);
    Value moved = select(fromLow, add(low, rest), sub(high, rest));
    moved = select(less(low, high), moved, low);
    return select(n.create<arith::OrIOp>(below, less(high, x)), moved, x);
  }

  SmallVector<Tap> getTaps(Value coordinate, Value size) {
    Value length = fromIndex(n, type, size), one = number(1), half = number(0.5);
    Value low = number(align ? 0 : -0.5), high = sub(length, align ? one : half), x;
    if (align)
      x = mul(mul(add(coordinate, one), half), sub(length, one));
    else
      x = mul(sub(mul(add(coordinate, one), length), one), half);
    x = bounded(n, x);
    if (op.getMode() == "nearest")
      x = n.create<math::RoundEvenOp>(x);
    if (padding == "border") {
      Value last = sub(length, one), zero = number(0);
      Value outside = n.create<arith::OrIOp>(less(x, low), less(high, x));
      x = select(outside, n.create<arith::MinNumFOp>(n.create<arith::MaxNumFOp>(x, zero), last), x);
    } else if (padding == "reflection") {
      x = reflect(x, low, high);
    }
    if (op.getMode() == "nearest")
      return {getTap(x, size, low, high, Value())};
    Value first = n.create<math::FloorOp>(x), t = sub(x, first);
    if (op.getMode() == "linear")
      return {getTap(first, size, low, high, sub(one, t)), getTap(add(first, one), size, low, high, t)};
    // Keys' cubic convolution with a = -0.75.
    constexpr double a = -0.75;
    auto near = [&](Value d) { // |d| <= 1
      return add(mul(mul(sub(mul(number(a + 2), d), number(a + 3)), d), d), one);
    };
    auto far = [&](Value d) { // 1 < |d| < 2
      return sub(mul(add(mul(sub(mul(number(a), d), number(5 * a)), d), number(8 * a)), d), number(4 * a));
    };
    return {getTap(sub(first, one), size, low, high, far(add(t, one))), getTap(first, size, low, high, near(t)),
            getTap(add(first, one), size, low, high, near(sub(one, t))),
            getTap(add(first, number(2)), size, low, high, far(sub(number(2), t)))};
  }

  Tap getTap(Value x, Value size, Value low, Value high, Value weight) {
    Tap tap{{}, {}, weight};
    if (padding == "reflection")
      x = bounded(n, reflect(x, low, high));
    Value index = toIndex(n, x);
    if (padding == "zeros")
      tap.inside = isInside(n, index, size);
    tap.index = clampIndex(n, index, size);
    return tap;
  }
};
} // namespace

// Whether channels lie side by side while they are sampled, at places computed once for all of them: where they fill a
// vector, and the samples are not so few that they cost less than to move the data.
static bool areChannelsLast(LinalgBuilder &b, Type onnx, ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> points) {
  constexpr int64_t fewChannels = 8;
  std::optional<int64_t> channels = getConstantIntValue(sizes[1]);
  if (!isa<FloatType>(onnx) || !channels || *channels < fewChannels)
    return false;
  std::optional<int64_t> samples = getConstantIntValue(b.product(points)),
                         elements = getConstantIntValue(b.product(sizes.drop_front(2)));
  return !samples || !elements || *samples >= *elements / 4;
}

static FailureOr<SmallVector<Value>> lowerGridSample(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto sample = cast<GridSampleOp>(op);
  Value data = operands[0], grid = operands[1];
  Type onnx = getElementType(op->getOperand(0)), seam = getElementType(data);
  Type gridElement = getElementType(op->getOperand(1)), compute = scalar::getComputeType(onnx);
  Sizes sizes = b.sizes(data), gridSizes = b.sizes(grid);
  int64_t rank = sizes.size() - 2;
  bool nearest = sample.getMode() == "nearest";
  if (!nearest && isa<StringType>(onnx))
    return op->emitOpError("cannot be compiled: mode ") << sample.getMode() << " on strings";
  // Integers are interpolated in double precision and rounded towards zero; a bool is true where the result is not
  // zero. The parts of complex numbers are interpolated one by one.
  auto complexType = dyn_cast<ComplexType>(seam);
  if (!isa<FloatType>(compute))
    compute = complexType ? complexType.getElementType() : Type(b.getF64Type());
  if (rank > (sample.getMode() == "cubic" ? 3 : 6))
    return op->emitOpError("cannot be compiled: mode ") << sample.getMode() << " in " << rank << " dimensions";
  b.checkEqual(sizes[0], gridSizes[0], "there are not as many grids as inputs");
  b.checkEqual(gridSizes.back(), b.getIndexAttr(rank),
               "the grid does not have as many coordinates as spatial dimensions");
  SmallVector<Value> lengths;
  for (OpFoldResult size : ArrayRef(sizes).drop_front(2)) {
    b.check(b.compare(arith::CmpIPredicate::sgt, size, b.getIndexAttr(0)), "a spatial dimension is empty");
    lengths.push_back(b.index(size));
  }
  Sizes points(gridSizes.begin() + 1, gridSizes.end() - 1), result{sizes[0]};
  bool last = areChannelsLast(b, onnx, sizes, points);
  SmallVector<int64_t> back{0, rank + 1}; // of the result, [N, C, ...] by dimensions of [N, ..., C]
  if (last) {
    SmallVector<int64_t> order{0};
    for (int64_t i = 0; i < rank; ++i) {
      order.push_back(2 + i);
      back.push_back(1 + i);
    }
    order.push_back(1);
    data = b.transpose(data, order);
  } else {
    result.push_back(sizes[1]);
  }
  result.append(points);
  if (last)
    result.push_back(sizes[1]);
  // By dimension of the data, the coordinates of all points, which all channels share.
  SmallVector<Value> coordinates;
  for (int64_t i = 0; i < rank; ++i) {
    Sizes first(rank + 2, b.getIndexAttr(0)), one(gridSizes);
    first.back() = b.getIndexAttr(rank - 1 - i);
    one.back() = b.getIndexAttr(1);
    Value all = b.slice(grid, first, one);
    coordinates.push_back(last ? all : b.unsqueeze(b.squeeze(all, {rank + 1}), {1}));
  }
  Value zero = b.scalarInt(seam, 0);
  auto interpolate = [&](ImplicitLocOpBuilder &n, ValueRange scalars) -> Value {
    ValueRange at = scalars.take_front(rank + 2);
    Value channel = last ? at.back() : at[1];
    GridSampler sampler{n, sample, scalar::getComputeType(gridElement), sample.getAlignCorners() != 0,
                        sample.getPaddingMode()};
    SmallVector<SmallVector<Tap>> taps;
    for (auto [coordinate, length] : llvm::zip_equal(scalars.drop_front(rank + 2), lengths))
      taps.push_back(sampler.getTaps(scalar::decode(n, coordinate, gridElement), length));
    // The weighted sum over the taps of dimension `i` and those after it.
    SmallVector<Value> position{at[0]};
    if (!last)
      position.push_back(channel);
    auto read = [&](auto &self, int64_t i, Value inside) -> Value {
      if (i == rank) {
        SmallVector<Value> place(position);
        if (last)
          place.push_back(channel);
        Value element = n.create<tensor::ExtractOp>(data, place);
        return inside ? n.create<arith::SelectOp>(inside, element, zero).getResult() : element;
      }
      Value sum;
      for (const Tap &tap : taps[i]) {
        position.push_back(tap.index);
        Value both = !tap.inside ? inside
                     : !inside   ? tap.inside
                                 : n.create<arith::AndIOp>(inside, tap.inside).getResult();
        Value value = self(self, i + 1, both);
        position.pop_back();
        if (nearest)
          return value;
        Value weight = convertFloat(n, tap.weight, compute);
        if (complexType) {
          auto scaled = [&](Value part) -> Value { return n.create<arith::MulFOp>(part, weight); };
          value = n.create<complex::CreateOp>(complexType, scaled(n.create<complex::ReOp>(value)),
                                              scaled(n.create<complex::ImOp>(value)));
          sum = sum ? n.create<complex::AddOp>(sum, value).getResult() : value;
          continue;
        }
        if (i + 1 == rank)
          value = isa<FloatType>(onnx) ? scalar::decode(n, value, onnx) : scalar::convert(n, value, onnx, compute);
        value = n.create<arith::MulFOp>(value, weight);
        sum = sum ? n.create<arith::AddFOp>(sum, value).getResult() : value;
      }
      return sum;
    };
    Value value = read(read, 0, Value());
    if (nearest || complexType)
      return value;
    return isa<FloatType>(onnx) ? scalar::encode(n, value, onnx) : scalar::convert(n, value, compute, onnx);
  };
  Value sampled = b.generate(result, seam, interpolate, coordinates);
  return SmallVector<Value>{last ? b.transpose(sampled, back) : sampled};
}

STRATA_SLICE(GridSample) {
  ops.add("GridSample", {.verify = verifyGridSample,
                         .inferShapes = inferGridSample,
                         .upgrade = upgradeGridSample,
                         .downgrade = downgradeGridSample,
                         .lower = lowerGridSample,
                         .handles = true});
}
