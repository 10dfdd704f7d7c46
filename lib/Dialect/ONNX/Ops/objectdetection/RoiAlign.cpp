//===- RoiAlign.cpp - RoiAlign, MaxRoiPool --------------------------------===//
//
// The channels lie side by side. RoiAlign is a reduction over samples, where
// these lie is computed once for all channels: for all regions together where
// their number is known, region by region where it depends on the region.
// MaxRoiPool reduces one part of a region after the other.
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

namespace {
// Regions that have the same number of samples in each bin.
struct Batch {
  OpFoldResult first, count, rows, columns;
};
} // namespace

// The sides of all points along one dimension, [region, bin, sample] each: they are the same for every channel.
static SmallVector<Value> makeSides(LinalgBuilder &b, const Regions &r, const Batch &batch, int64_t column) {
  Value size = b.index(b.dim(r.x, column ? 2 : 3)), first = b.index(batch.first);
  Sizes sizes{batch.count, b.getIndexAttr(column ? r.height : r.width), column ? batch.rows : batch.columns};
  auto table = [&](Type element, llvm::function_ref<Value(ImplicitLocOpBuilder &, const Side &)> part) {
    return b.generate(sizes, element, [&](ImplicitLocOpBuilder &n, ValueRange at) -> Value {
      Value region = n.create<arith::AddIOp>(first, at[0]);
      return part(n, r.getPoint(n, r.getAxis(n, column, size, region, at[1]), at[2]));
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

// The sums of the samples, or the largest ones, [region, row, column, channel] like `image`.
static Value poolSamples(LinalgBuilder &b, const Regions &r, Value image, const Batch &batch) {
  SmallVector<Value> inputs{b.slice(r.batches, {batch.first}, {batch.count})};
  llvm::append_range(inputs, makeSides(b, r, batch, 1));
  llvm::append_range(inputs, makeSides(b, r, batch, 0));
  // Loops: the region, the bin's row and column, the channel; the sample's row and column.
  auto map = [&](ArrayRef<unsigned> dims) { return AffineMap::getMultiDimMapWithTargets(6, dims, b.getContext()); };
  SmallVector<AffineMap> maps{map(0)};
  maps.append(5, map({0, 1, 4}));
  maps.append(5, map({0, 2, 5}));
  maps.push_back(map({0, 1, 2, 3}));
  SmallVector<utils::IteratorType> iterators(4, utils::IteratorType::parallel);
  iterators.append(2, utils::IteratorType::reduction);
  Sizes sizes{batch.count, b.getIndexAttr(r.height), b.getIndexAttr(r.width), b.dim(r.x, 1)};
  Value init = b.fill(sizes, b.scalar(r.compute, r.start()));
  auto body = [&](OpBuilder &nested, Location loc, ValueRange args) {
    ImplicitLocOpBuilder n(loc, nested);
    auto asIndex = [&](Value integer) -> Value { return n.create<arith::IndexCastOp>(n.getIndexType(), integer); };
    auto side = [&](ValueRange v) { return Side{asIndex(v[0]), asIndex(v[1]), v[2], v[3], v[4]}; };
    Value which = asIndex(args[0]), channel = n.create<linalg::IndexOp>(3);
    Value sample =
        r.getSample(n, side(args.slice(1, 5)), side(args.slice(6, 5)), [&](Value row, Value column) -> Value {
          return n.create<tensor::ExtractOp>(image, ValueRange{which, row, column, channel});
        });
    n.create<linalg::YieldOp>(r.pool(n, args.back(), sample));
  };
  return b.create<linalg::GenericOp>(init.getType(), inputs, init, maps, iterators, body).getResult(0);
}

// As many samples as the region is large. Without samples the result is 0.
static Value poolAdaptively(LinalgBuilder &b, const Regions &r, Value image) {
  Sizes sizes{b.dim(r.rois, 0), b.getIndexAttr(r.height), b.getIndexAttr(r.width), b.dim(r.x, 1)};
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  return b.loopNest(
      {sizes[0]}, b.empty(sizes, r.compute), [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
        auto getSamples = [&](int64_t column) {
          return r.getAxis(b, column, b.index(b.dim(r.x, column ? 2 : 3)), at[0], b.index(zero)).samples;
        };
        Value rows = getSamples(1), columns = getSamples(0);
        Value pooled = poolSamples(b, r, image, {at[0], one, rows, columns});
        Value count = fromIndex(b, r.compute, b.create<arith::MulIOp>(rows, columns));
        Value none = b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, count, constantFloat(b, r.compute, 1));
        pooled = b.elementwise(pooled, r.compute, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
          Value value = r.average ? n.create<arith::DivFOp>(v[0], count).getResult() : v[0];
          return n.create<arith::SelectOp>(none, constantFloat(n, r.compute, 0), value);
        });
        return {b.create<tensor::InsertSliceOp>(pooled, carried[0], Sizes{at[0], zero, zero, zero},
                                                Sizes{one, sizes[1], sizes[2], sizes[3]}, Sizes(4, one))};
      })[0];
}

// [region, row, column, channel] as the result of the op; `finish` makes elements of the values.
static Value channelsFirst(LinalgBuilder &b, Value pooled, Type element,
                           llvm::function_ref<Value(ImplicitLocOpBuilder &, Value)> finish) {
  AffineMap channelsLast = AffineMap::getMultiDimMapWithTargets(4, {0, 2, 3, 1}, b.getContext());
  Sizes sizes = b.sizes(pooled);
  return mapElements(b, pooled, channelsLast, {sizes[0], sizes[3], sizes[1], sizes[2]}, element,
                     [&](ImplicitLocOpBuilder &n, ValueRange v) { return finish(n, v[0]); });
}

static Value align(LinalgBuilder &b, const Regions &r) {
  Value image = b.transpose(r.x, {0, 2, 3, 1}), pooled;
  if (r.ratio > 0) {
    OpFoldResult samples = b.getIndexAttr(r.ratio);
    pooled = poolSamples(b, r, image, {b.getIndexAttr(0), b.dim(r.rois, 0), samples, samples});
  } else {
    pooled = poolAdaptively(b, r, image);
  }
  double divisor = r.average && r.ratio > 0 ? static_cast<double>(r.ratio * r.ratio) : 1;
  return channelsFirst(b, pooled, getElementType(r.x), [&](ImplicitLocOpBuilder &n, Value value) -> Value {
    if (divisor != 1)
      value = n.create<arith::DivFOp>(value, constantFloat(n, r.compute, divisor));
    return scalar::encode(n, value, r.onnx);
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
  return SmallVector<Value>{align(b, r)};
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
  // [region, row, column, channel], bin by bin.
  OpFoldResult one = b.getIndexAttr(1), channels = b.dim(x, 1);
  Sizes sizes{b.dim(rois, 0), b.getIndexAttr(height), b.getIndexAttr(width), channels};
  Value image = b.transpose(x, {0, 2, 3, 1});
  Sizes bins(ArrayRef(sizes).drop_back());
  Value pooled =
      b.loopNest(bins, b.empty(sizes, compute), [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
        auto read = [&](int64_t i) {
          return scalar::decode(b, b.create<tensor::ExtractOp>(rois, ValueRange{at[0], b.index(i)}), onnx);
        };
        Value batch = toIndex(b, bounded(b, read(0)));
        // The first element of the part of bin `which`, and how many there are, within the tensor.
        auto getRange = [&](int64_t column, int64_t bins, Value size, Value which) -> std::pair<Value, Value> {
          auto edge = [&](int64_t i) {
            Value scaled = b.create<arith::MulFOp>(read(i), constantFloat(b, compute, scale));
            return bounded(b, b.create<math::RoundOp>(scaled));
          };
          Value first = edge(column), unit = constantFloat(b, compute, 1);
          Value extent = b.create<arith::AddFOp>(b.create<arith::SubFOp>(edge(column + 2), first), unit);
          extent = b.create<arith::MaxNumFOp>(extent, unit);
          Value bin = b.create<arith::DivFOp>(extent, constantFloat(b, compute, static_cast<double>(bins)));
          Value index = fromIndex(b, compute, which);
          Value low = b.create<math::FloorOp>(b.create<arith::MulFOp>(bin, index));
          Value high = b.create<math::CeilOp>(b.create<arith::MulFOp>(bin, b.create<arith::AddFOp>(index, unit)));
          auto within = [&](Value place) -> Value {
            Value position = toIndex(b, bounded(b, b.create<arith::AddFOp>(first, place)));
            position = b.create<arith::MaxSIOp>(position, b.index(int64_t(0)));
            return b.create<arith::MinSIOp>(position, size);
          };
          Value start = within(low), length = b.create<arith::SubIOp>(within(high), start);
          return {start, b.create<arith::MaxSIOp>(length, b.index(int64_t(0)))};
        };
        auto [top, tall] = getRange(2, height, rows, at[1]);
        auto [left, wide] = getRange(1, width, columns, at[2]);
        Value part = b.slice(image, {batch, top, left, zeroAttr}, {one, tall, wide, channels});
        Value lowest = constantFloat(b, compute, -std::numeric_limits<double>::infinity());
        Value best = b.reduce(part, {0, 1, 2}, false, lowest, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
          return n.create<arith::MaximumFOp>(v[1], scalar::decode(n, v[0], onnx));
        });
        Value none =
            b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, b.create<arith::MulIOp>(tall, wide), b.index(int64_t(0)));
        best = b.elementwise(best, compute, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
          return n.create<arith::SelectOp>(none, constantFloat(n, compute, 0), v[0]);
        });
        return {b.create<tensor::InsertSliceOp>(best, carried[0], Sizes{at[0], at[1], at[2], zeroAttr},
                                                Sizes{one, one, one, channels}, Sizes(4, one))};
      })[0];
  return SmallVector<Value>{channelsFirst(b, pooled, getElementType(x), [&](ImplicitLocOpBuilder &n, Value value) {
    return scalar::encode(n, value, onnx);
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
