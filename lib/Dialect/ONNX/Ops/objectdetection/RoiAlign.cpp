//===- RoiAlign.cpp - RoiAlign, MaxRoiPool --------------------------------===//
//
// Each result element pools over a part of a region, whose extent is data: a
// loop inside of the element's computation. RoiAlign with a known number of
// samples is a reduction over them; where they lie is computed once for all
// channels.
//
//===----------------------------------------------------------------------===//

#include "../Sampling.h"
#include "Dialect/VersionSteps.h"

using namespace strata::sampling;

static LogicalResult verifyRoiAlign(Operation *op) {
  if (auto mode = op->getAttrOfType<StringAttr>("mode"); mode && mode.getValue() != "avg" && mode.getValue() != "max")
    return op->emitOpError("'mode' is '") << mode.getValue() << "', not avg or max";
  if (auto mode = op->getAttrOfType<StringAttr>("coordinate_transformation_mode");
      mode && mode.getValue() != "half_pixel" && mode.getValue() != "output_half_pixel")
    return op->emitOpError("'coordinate_transformation_mode' is '")
           << mode.getValue() << "', not half_pixel or output_half_pixel";
  for (auto [name, least] :
       {std::pair("output_height", 1), std::pair("output_width", 1), std::pair("sampling_ratio", 0)})
    if (auto attr = op->getAttrOfType<IntegerAttr>(name); attr && attr.getInt() < least)
      return op->emitOpError("'") << name << "' is " << attr.getInt() << ", less than " << least;
  return success();
}

// The number of regions and of channels; errors if the operands do not fit.
static FailureOr<Shape> inferRegions(ShapeContext &c, int64_t columns) {
  std::optional<Shape> x = c.shape(0), rois = c.shape(1);
  if (x && x->size() != 4)
    return c.emitError() << "needs an input of rank 4, not " << x->size();
  if (rois && rois->size() != 2)
    return c.emitError() << "needs regions of rank 2, not " << rois->size();
  if (rois && (*rois)[1].isStatic() && (*rois)[1].size != columns)
    return c.emitError() << "has regions of " << (*rois)[1].size << " numbers, not " << columns;
  return Shape{rois ? rois->front() : Dim(), x ? (*x)[1] : Dim()};
}

static LogicalResult inferRoiAlign(ShapeContext &c) {
  FailureOr<Shape> result = inferRegions(c, 4);
  if (failed(result))
    return failure();
  if (auto indices = c.shape(2)) {
    if (indices->size() != 1)
      return c.emitError() << "needs batch indices of rank 1, not " << indices->size();
    if (!result->front().isStatic())
      result->front() = indices->front().isStatic() ? indices->front() : result->front();
    else if (indices->front().isStatic() && indices->front().size != result->front().size)
      return c.emitError() << "has " << result->front().size << " regions, but " << indices->front().size
                           << " batch indices";
  }
  result->append({Dim(c.integer("output_height", 1)), Dim(c.integer("output_width", 1))});
  c.setShape(0, *result);
  return success();
}

// Version 10 had no pixel shift.
static LogicalResult upgradeRoiAlign(Operation *op, PatternRewriter &rewriter) {
  SmallVector<NamedAttribute, 1> added;
  if (cast<VersionedOpInterface>(op).getSinceVersion() < 16)
    added.push_back(
        rewriter.getNamedAttr("coordinate_transformation_mode", rewriter.getStringAttr("output_half_pixel")));
  return changeAttributes(op, rewriter, {}, added);
}

static LogicalResult downgradeRoiAlign(Operation *op, PatternRewriter &rewriter) {
  if (getPreviousVersion(op) == 10 && !op->getAttr("coordinate_transformation_mode"))
    return refuseDowngrade(op) << "its coordinate_transformation_mode is output_half_pixel, not half_pixel";
  return downgradeStep(op, rewriter, {{"coordinate_transformation_mode", "output_half_pixel"}});
}

static void checkNotEmpty(LinalgBuilder &b, Value x) {
  for (int64_t i : {2, 3})
    b.check(b.compare(arith::CmpIPredicate::sgt, b.dim(x, i), b.getIndexAttr(0)), "a spatial dimension is empty");
}

// A loop in an element's computation: index in [low, high), one carried scalar.
static Value accumulate(ImplicitLocOpBuilder &n, Value low, Value high, Value start,
                        llvm::function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> body) {
  Value one = n.create<arith::ConstantIndexOp>(1);
  return n
      .create<scf::ForOp>(low, high, one, start,
                          [&](OpBuilder &nested, Location loc, Value index, ValueRange carried) {
                            ImplicitLocOpBuilder inner(loc, nested);
                            inner.create<scf::YieldOp>(body(inner, index, carried[0]));
                          })
      .getResult(0);
}

namespace {
// A sampling point along one dimension: the elements on both sides, their weights, and whether the point counts.
struct Side {
  Value low, high, lowWeight, highWeight, counts;
};
} // namespace

static Side getSide(ImplicitLocOpBuilder &n, Value place, Value size) {
  using P = arith::CmpFPredicate;
  Type type = place.getType();
  Value length = fromIndex(n, type, size), zero = constantFloat(n, type, 0), one = constantFloat(n, type, 1);
  Value counts = n.create<arith::AndIOp>(n.create<arith::CmpFOp>(P::OGE, place, constantFloat(n, type, -1)),
                                         n.create<arith::CmpFOp>(P::OLE, place, length));
  // In front of the first element it is the first, behind the last the last.
  Value last = n.create<arith::SubFOp>(length, one);
  Value inside = n.create<arith::MinNumFOp>(n.create<arith::MaxNumFOp>(place, zero), last);
  Value floor = n.create<math::FloorOp>(inside), t = n.create<arith::SubFOp>(inside, floor);
  Value index = clampIndex(n, toIndex(n, floor), size);
  Value next = clampIndex(n, n.create<arith::AddIOp>(index, n.create<arith::ConstantIndexOp>(1)), size);
  return {index, next, n.create<arith::SubFOp>(one, t), t, counts};
}

namespace {
// One dimension of one bin of a region.
struct Axis {
  Value start, bin, samples, samplesFloat, size;
};

// RoiAlign's operands and attributes.
struct Regions {
  Value x, rois, batches;
  Type onnx, compute;
  bool shift, average;
  int64_t height, width, ratio;
  double scale;

  Regions(RoiAlignOp align, ValueRange operands)
      : x(operands[0]), rois(operands[1]), batches(operands[2]), onnx(getElementType(align->getOperand(0))),
        compute(scalar::getComputeType(onnx)), shift(align.getCoordinateTransformationMode() == "half_pixel"),
        average(align.getMode() == "avg"), height(align.getOutputHeight()), width(align.getOutputWidth()),
        ratio(align.getSamplingRatio()), scale(align.getSpatialScale().convertToDouble()) {}

  // `column` 1 is the vertical dimension, 0 the horizontal one.
  Axis getAxis(ImplicitLocOpBuilder &n, int64_t column, Value size, Value region, Value which) const {
    auto number = [&](double value) { return constantFloat(n, compute, value); };
    auto edge = [&](int64_t i) -> Value {
      Value at = n.create<tensor::ExtractOp>(rois, ValueRange{region, n.create<arith::ConstantIndexOp>(i)});
      Value scaled = n.create<arith::MulFOp>(scalar::decode(n, at, onnx), number(scale));
      return shift ? n.create<arith::SubFOp>(scaled, number(0.5)).getResult() : scaled;
    };
    Value first = edge(column), extent = n.create<arith::SubFOp>(edge(column + 2), first);
    if (!shift) // Degenerate regions are one element large.
      extent = n.create<arith::MaxNumFOp>(extent, number(1));
    Axis axis;
    axis.bin = n.create<arith::DivFOp>(extent, number(static_cast<double>(column ? height : width)));
    axis.start = n.create<arith::AddFOp>(first, n.create<arith::MulFOp>(axis.bin, fromIndex(n, compute, which)));
    axis.samples = ratio > 0 ? n.create<arith::ConstantIndexOp>(ratio).getResult()
                             : toIndex(n, bounded(n, n.create<math::CeilOp>(axis.bin)));
    axis.samplesFloat = fromIndex(n, compute, axis.samples);
    axis.size = size;
    return axis;
  }

  Side getPoint(ImplicitLocOpBuilder &n, const Axis &axis, Value i) const {
    Value middle = n.create<arith::AddFOp>(fromIndex(n, compute, i), constantFloat(n, compute, 0.5));
    Value step = n.create<arith::DivFOp>(n.create<arith::MulFOp>(middle, axis.bin), axis.samplesFloat);
    return getSide(n, n.create<arith::AddFOp>(axis.start, step), axis.size);
  }

  // The value at one point, of its four neighbours that `read` gives.
  Value getSample(ImplicitLocOpBuilder &n, const Side &y, const Side &x,
                  llvm::function_ref<Value(Value, Value)> read) const {
    Value sample;
    for (auto [row, rowWeight] : {std::pair(y.low, y.lowWeight), std::pair(y.high, y.highWeight)})
      for (auto [column, columnWeight] : {std::pair(x.low, x.lowWeight), std::pair(x.high, x.highWeight)}) {
        Value element = read(row, column);
        Value weight = n.create<arith::MulFOp>(rowWeight, columnWeight);
        Value term = n.create<arith::MulFOp>(scalar::decode(n, element, onnx), weight);
        sample = sample ? pool(n, sample, term) : term;
      }
    Value counts = n.create<arith::AndIOp>(y.counts, x.counts);
    return n.create<arith::SelectOp>(counts, sample, constantFloat(n, compute, 0));
  }

  Value pool(ImplicitLocOpBuilder &n, Value sum, Value sample) const {
    return average ? n.create<arith::AddFOp>(sum, sample).getResult()
                   : n.create<arith::MaximumFOp>(sum, sample).getResult();
  }
  // The maximum starts with the first sample.
  double start() const { return average ? 0 : -std::numeric_limits<double>::infinity(); }
};
} // namespace

// As many samples as the region is large: loops in the element's computation.
static Value alignAdaptively(LinalgBuilder &b, const Regions &r) {
  Value rows = b.index(b.dim(r.x, 2)), columns = b.index(b.dim(r.x, 3));
  Sizes sizes{b.dim(r.rois, 0), b.dim(r.x, 1), b.getIndexAttr(r.height), b.getIndexAttr(r.width)};
  return b.generate(sizes, getElementType(r.x), [&](ImplicitLocOpBuilder &n, ValueRange at) -> Value {
    Value batch = n.create<arith::IndexCastOp>(n.getIndexType(), n.create<tensor::ExtractOp>(r.batches, at[0]));
    Axis y = r.getAxis(n, 1, rows, at[0], at[2]), x = r.getAxis(n, 0, columns, at[0], at[3]);
    Value zero = n.create<arith::ConstantIndexOp>(0), start = constantFloat(n, r.compute, r.start());
    Value pooled = accumulate(n, zero, y.samples, start, [&](ImplicitLocOpBuilder &m, Value iy, Value outer) {
      Side sideY = r.getPoint(m, y, iy);
      return accumulate(m, zero, x.samples, outer, [&](ImplicitLocOpBuilder &k, Value ix, Value sum) -> Value {
        auto read = [&](Value row, Value column) -> Value {
          return k.create<tensor::ExtractOp>(r.x, ValueRange{batch, at[1], row, column});
        };
        return r.pool(k, sum, r.getSample(k, sideY, r.getPoint(k, x, ix), read));
      });
    });
    // Without samples the result is 0.
    if (r.average) {
      Value samples = n.create<arith::MulFOp>(y.samplesFloat, x.samplesFloat);
      pooled = n.create<arith::DivFOp>(pooled, n.create<arith::MaximumFOp>(samples, constantFloat(n, r.compute, 1)));
    } else {
      Value some = n.create<arith::AndIOp>(n.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, y.samples, zero),
                                           n.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, x.samples, zero));
      pooled = n.create<arith::SelectOp>(some, pooled, constantFloat(n, r.compute, 0));
    }
    return scalar::encode(n, pooled, r.onnx);
  });
}

// The sides of all points along one dimension, [region, bin, sample] each: they are the same for every channel.
static SmallVector<Value> makeSides(LinalgBuilder &b, const Regions &r, int64_t column) {
  Value size = b.index(b.dim(r.x, column ? 2 : 3));
  Sizes sizes{b.dim(r.rois, 0), b.getIndexAttr(column ? r.height : r.width), b.getIndexAttr(r.ratio)};
  auto table = [&](Type element, llvm::function_ref<Value(ImplicitLocOpBuilder &, const Side &)> part) {
    return b.generate(sizes, element, [&](ImplicitLocOpBuilder &n, ValueRange at) -> Value {
      return part(n, r.getPoint(n, r.getAxis(n, column, size, at[0], at[1]), at[2]));
    });
  };
  auto asInteger = [](ImplicitLocOpBuilder &n, Value index) -> Value {
    return n.create<arith::IndexCastOp>(n.getI64Type(), index);
  };
  return {table(b.getI64Type(), [&](auto &n, const Side &side) { return asInteger(n, side.low); }),
          table(b.getI64Type(), [&](auto &n, const Side &side) { return asInteger(n, side.high); }),
          table(r.compute, [](auto &, const Side &side) { return side.lowWeight; }),
          table(r.compute, [](auto &, const Side &side) { return side.highWeight; }),
          table(b.getI1Type(), [](auto &, const Side &side) { return side.counts; })};
}

// A known number of samples: a reduction over them, with the channels last, which lie side by side at each point.
static Value alignRegularly(LinalgBuilder &b, const Regions &r) {
  Value image = b.transpose(r.x, {0, 2, 3, 1});
  SmallVector<Value> inputs{r.batches};
  llvm::append_range(inputs, makeSides(b, r, 1));
  llvm::append_range(inputs, makeSides(b, r, 0));
  // Loops: the region, the bin's row and column, the channel; the sample's row and column.
  auto map = [&](ArrayRef<unsigned> dims) { return AffineMap::getMultiDimMapWithTargets(6, dims, b.getContext()); };
  SmallVector<AffineMap> maps{map(0)};
  maps.append(5, map({0, 1, 4}));
  maps.append(5, map({0, 2, 5}));
  maps.push_back(map({0, 1, 2, 3}));
  SmallVector<utils::IteratorType> iterators(4, utils::IteratorType::parallel);
  iterators.append(2, utils::IteratorType::reduction);
  Sizes sizes{b.dim(r.rois, 0), b.getIndexAttr(r.height), b.getIndexAttr(r.width), b.dim(r.x, 1)};
  Value init = b.fill(sizes, b.scalar(r.compute, r.start()));
  auto body = [&](OpBuilder &nested, Location loc, ValueRange args) {
    ImplicitLocOpBuilder n(loc, nested);
    auto asIndex = [&](Value integer) -> Value { return n.create<arith::IndexCastOp>(n.getIndexType(), integer); };
    auto side = [&](ValueRange v) { return Side{asIndex(v[0]), asIndex(v[1]), v[2], v[3], v[4]}; };
    Value batch = asIndex(args[0]), channel = n.create<linalg::IndexOp>(3);
    Value sample =
        r.getSample(n, side(args.slice(1, 5)), side(args.slice(6, 5)), [&](Value row, Value column) -> Value {
          return n.create<tensor::ExtractOp>(image, ValueRange{batch, row, column, channel});
        });
    n.create<linalg::YieldOp>(r.pool(n, args.back(), sample));
  };
  Value pooled = b.create<linalg::GenericOp>(init.getType(), inputs, init, maps, iterators, body).getResult(0);
  AffineMap channelsLast = AffineMap::getMultiDimMapWithTargets(4, {0, 2, 3, 1}, b.getContext());
  Sizes results{sizes[0], sizes[3], sizes[1], sizes[2]};
  return mapElements(b, pooled, channelsLast, results, getElementType(r.x),
                     [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
                       Value samples = constantFloat(n, r.compute, static_cast<double>(r.ratio * r.ratio));
                       return scalar::encode(n, r.average ? n.create<arith::DivFOp>(v[0], samples) : v[0], r.onnx);
                     });
}

static FailureOr<SmallVector<Value>> lowerRoiAlign(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Regions r(cast<RoiAlignOp>(op), operands);
  checkNotEmpty(b, r.x);
  b.checkEqual(b.dim(r.rois, 1), b.getIndexAttr(4), "a region does not have 4 numbers");
  b.checkEqual(b.dim(r.rois, 0), b.dim(r.batches, 0), "there are not as many batch indices as regions");
  Value count = b.createOrFold<arith::IndexCastOp>(b.getI64Type(), b.index(b.dim(r.x, 0)));
  Value ok = b.reduce(r.batches, {0}, false, b.scalarInt(b.getI1Type(), 1),
                      [&](ImplicitLocOpBuilder &n, ValueRange args) -> Value {
                        Value fits = n.create<arith::CmpIOp>(arith::CmpIPredicate::ult, args[0], count);
                        return n.create<arith::AndIOp>(args[1], fits);
                      });
  b.check(b.extractScalar(ok), "a batch index is out of range");
  return SmallVector<Value>{r.ratio > 0 ? alignRegularly(b, r) : alignAdaptively(b, r)};
}

//===----------------------------------------------------------------------===//
// MaxRoiPool: regions in whole elements
//===----------------------------------------------------------------------===//

static LogicalResult inferMaxRoiPool(ShapeContext &c) {
  FailureOr<Shape> result = inferRegions(c, 5);
  if (failed(result))
    return failure();
  SmallVector<int64_t> pooled = c.integerArray("pooled_shape").value_or(SmallVector<int64_t>());
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1)
    return c.emitError() << "'pooled_shape' is not two positive numbers";
  result->append({Dim(pooled[0]), Dim(pooled[1])});
  c.setShape(0, *result);
  return success();
}

static FailureOr<SmallVector<Value>> lowerMaxRoiPool(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto pool = cast<MaxRoiPoolOp>(op);
  Value x = operands[0], rois = operands[1];
  Type onnx = getElementType(op->getOperand(0)), compute = scalar::getComputeType(onnx);
  double scale = pool.getSpatialScale().convertToDouble();
  int64_t height = pool.getPooledShape()[0], width = pool.getPooledShape()[1];
  checkNotEmpty(b, x);
  b.checkEqual(b.dim(rois, 1), b.getIndexAttr(5), "a region does not have 5 numbers");
  Value count = fromIndex(b, compute, b.index(b.dim(x, 0)));
  OpFoldResult zeroAttr = b.getIndexAttr(0);
  Value batches = b.squeeze(b.slice(rois, {zeroAttr, zeroAttr}, {b.dim(rois, 0), b.getIndexAttr(1)}), {1});
  Value ok = b.reduce(
      batches, {0}, false, b.scalarInt(b.getI1Type(), 1), [&](ImplicitLocOpBuilder &n, ValueRange args) -> Value {
        using P = arith::CmpFPredicate;
        Value batch = scalar::decode(n, args[0], onnx);
        Value fits = n.create<arith::AndIOp>(n.create<arith::CmpFOp>(P::OGE, batch, constantFloat(n, compute, 0)),
                                             n.create<arith::CmpFOp>(P::OLT, batch, count));
        return n.create<arith::AndIOp>(args[1], fits);
      });
  b.check(b.extractScalar(ok), "a batch index is out of range");
  Value rows = b.index(b.dim(x, 2)), columns = b.index(b.dim(x, 3));

  Sizes sizes{b.dim(rois, 0), b.dim(x, 1), b.getIndexAttr(height), b.getIndexAttr(width)};
  return SmallVector<Value>{b.generate(sizes, getElementType(x), [&](ImplicitLocOpBuilder &n, ValueRange at) -> Value {
    auto read = [&](int64_t i) {
      Value element = n.create<tensor::ExtractOp>(rois, ValueRange{at[0], n.create<arith::ConstantIndexOp>(i)});
      return scalar::decode(n, element, onnx);
    };
    Value batch = toIndex(n, bounded(n, read(0)));
    // The first and the last element of the part of bin `which`, within the tensor.
    auto getRange = [&](int64_t column, int64_t bins, Value size, Value which) -> std::pair<Value, Value> {
      auto edge = [&](int64_t i) {
        Value scaled = n.create<arith::MulFOp>(read(i), constantFloat(n, compute, scale));
        return bounded(n, n.create<math::RoundOp>(scaled));
      };
      Value first = edge(column), unit = constantFloat(n, compute, 1);
      Value extent = n.create<arith::AddFOp>(n.create<arith::SubFOp>(edge(column + 2), first), unit);
      extent = n.create<arith::MaxNumFOp>(extent, unit);
      Value bin = n.create<arith::DivFOp>(extent, constantFloat(n, compute, static_cast<double>(bins)));
      Value index = fromIndex(n, compute, which);
      Value low = n.create<math::FloorOp>(n.create<arith::MulFOp>(bin, index));
      Value high = n.create<math::CeilOp>(n.create<arith::MulFOp>(bin, n.create<arith::AddFOp>(index, unit)));
      auto within = [&](Value place) -> Value {
        Value position = toIndex(n, bounded(n, n.create<arith::AddFOp>(first, place)));
        position = n.create<arith::MaxSIOp>(position, n.create<arith::ConstantIndexOp>(0));
        return n.create<arith::MinSIOp>(position, size);
      };
      return {within(low), within(high)};
    };
    auto [top, bottom] = getRange(2, height, rows, at[2]);
    auto [left, right] = getRange(1, width, columns, at[3]);
    Value start = constantFloat(n, compute, -std::numeric_limits<double>::infinity());
    Value best = accumulate(
        n, top, bottom, start, [&, left = left, right = right](ImplicitLocOpBuilder &m, Value row, Value outer) {
          return accumulate(m, left, right, outer, [&](ImplicitLocOpBuilder &k, Value column, Value so) -> Value {
            Value element = k.create<tensor::ExtractOp>(x, ValueRange{batch, at[1], row, column});
            return k.create<arith::MaximumFOp>(so, scalar::decode(k, element, onnx));
          });
        });
    Value empty = n.create<arith::OrIOp>(n.create<arith::CmpIOp>(arith::CmpIPredicate::sge, top, bottom),
                                         n.create<arith::CmpIOp>(arith::CmpIPredicate::sge, left, right));
    best = n.create<arith::SelectOp>(empty, constantFloat(n, compute, 0), best);
    return scalar::encode(n, best, onnx);
  })};
}

STRATA_SLICE(RoiAlign) {
  ops.add("RoiAlign", {.verify = verifyRoiAlign,
                       .inferShapes = inferRoiAlign,
                       .upgrade = upgradeRoiAlign,
                       .downgrade = downgradeRoiAlign,
                       .lower = lowerRoiAlign});
  ops.add("MaxRoiPool", {.inferShapes = inferMaxRoiPool, .lower = lowerMaxRoiPool});
}
