//===- Slice.cpp - Slice --------------------------------------------------===//
//
// Per axis: a negative start or end counts from the end; then they are clamped
// to [0, d] for a positive step, start to [0, d-1] and end to [-1, d-1] for a
// negative one; the result has max(0, ceil((end - start) / step)) elements.
//
//===----------------------------------------------------------------------===//

#include "../Slice.h"
#include "Dialect/LeastDims.h"
#include "Dialect/VersionSteps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

namespace {
/// One axis of a slice; elements that only the run tells are unknown.
struct AxisRange {
  Dim start, end, step = Dim(1);
};
} // namespace

static ValueAnalysis::Values getList(ShapeContext &c, StringRef name, unsigned formal) {
  if (c.version() >= 10) {
    // PyTorch writes -2^63 for "from the first on", which a Dim cannot hold; the next number means the same.
    if (std::optional<SmallVector<int64_t>> list = getIntegers(getConstant(c.input(formal))))
      return llvm::map_to_vector(*list, [](int64_t i) { return Dim(std::max(i, -INT64_MAX)); });
    return c.values(formal);
  }
  if (auto list = c.integerArray(name))
    return SmallVector<Dim>(list->begin(), list->end());
  return std::nullopt;
}

// How many elements from a dimension of known size.
static int64_t count(int64_t start, int64_t end, int64_t step, int64_t size, int64_t *first = nullptr) {
  step = std::clamp<int64_t>(step, -(int64_t(1) << 61), int64_t(1) << 61);
  start = std::clamp<int64_t>(start < 0 ? start + size : start, 0, step > 0 ? size : std::max<int64_t>(size - 1, 0));
  end = std::clamp<int64_t>(end < 0 ? end + size : end, step > 0 ? 0 : -1, step > 0 ? size : size - 1);
  if (first)
    *first = start;
  int64_t distance = step > 0 ? end - start : start - end;
  return distance <= 0 ? 0 : llvm::divideCeil(distance, step > 0 ? step : -step);
}

// The end of the dimension, whatever its size: what exporters write for "to the end".
static bool isOpenEnd(const Dim &end, int64_t size32 = INT32_MAX) { return end.isStatic() && end.size >= size32; }

static Dim getResultDim(const AxisRange &range, const Dim &dim) {
  if (!range.step.isStatic())
    return {};
  if (range.start.isStatic() && range.end.isStatic() && dim.isStatic())
    return Dim(count(range.start.size, range.end.size, range.step.size, dim.size));
  bool fromFirst = range.start.is(0) || range.start.is(-INT64_MAX);
  if (range.step.is(1) && fromFirst && (isOpenEnd(range.end, INT64_MAX) || range.end.sameAs(dim)))
    return dim;
  if (range.step.is(1) && fromFirst && range.end.is(0))
    return Dim(0);
  // A symbol among the elements is a size, not counted from the end.
  if (range.step.is(1) && fromFirst && dim.isStatic())
    return least(range.end, dim.size);
  if (range.step.is(1) && range.start.is(-1) && isOpenEnd(range.end, INT64_MAX))
    return Dim(); // 1, or 0 of an empty dimension.
  return {};
}

static LogicalResult inferSlice(ShapeContext &c) {
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return success();
  int64_t rank = shape->size();
  auto starts = getList(c, "starts", 1), ends = getList(c, "ends", 2), steps = getList(c, "steps", 4);
  bool hasAxes = c.version() >= 10 ? c.hasInput(3) : c.hasAttr("axes");
  std::optional<SmallVector<int64_t>> axes;
  std::optional<size_t> length;
  for (const auto &list : {starts, ends})
    if (list)
      length = list->size();
  if (hasAxes)
    axes = c.version() >= 10 ? c.integers(3) : c.integerArray("axes");
  else if (length)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, *length));
  if (!axes) {
    c.setShape(0, Shape(rank));
    return success();
  }
  for (const auto &[list, name] : {std::pair(starts, "starts"), std::pair(ends, "ends"), std::pair(steps, "steps")})
    if (list && list->size() != axes->size())
      return c.emitError() << "has " << axes->size() << " axes, but " << list->size() << " " << name;
  Shape result = *shape;
  bool hasSteps = c.version() >= 10 && c.hasInput(4);
  llvm::SmallBitVector cut(rank);
  for (auto [k, written] : llvm::enumerate(*axes)) {
    FailureOr<int64_t> axis = c.normalizeAxis(written, rank);
    if (failed(axis))
      return failure();
    if (cut.test(*axis))
      return c.emitError() << "has axis " << *axis << " twice in its axes";
    cut.set(*axis);
    AxisRange range;
    range.start = starts ? (*starts)[k] : Dim();
    range.end = ends ? (*ends)[k] : Dim();
    if (hasSteps)
      range.step = steps ? (*steps)[k] : Dim();
    if (range.step.is(0))
      return c.emitError() << "has the step 0 among its steps";
    result[*axis] = getResultDim(range, (*shape)[*axis]);
  }
  c.setShape(0, result);
  return success();
}

static ValueAnalysis::Values sliceValues(ShapeContext &c) {
  auto data = c.elements(0);
  auto starts = getList(c, "starts", 1), ends = getList(c, "ends", 2), steps = getList(c, "steps", 4);
  bool hasSteps = c.version() >= 10 && c.hasInput(4), hasAxes = c.version() >= 10 ? c.hasInput(3) : c.hasAttr("axes");
  auto type = dyn_cast<RankedTensorType>(c.input(0).getType());
  if (!data || !type || !type.hasStaticShape() || !starts || !ends || (hasSteps && !steps))
    return std::nullopt;
  auto axes = c.version() >= 10 ? c.integers(3) : c.integerArray("axes");
  if (!hasAxes)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, starts->size()));
  if (!axes)
    return std::nullopt;
  // Where each axis begins among the elements, and how far its next one is.
  int64_t origin = 0;
  SmallVector<int64_t> strides = computeStrides(type.getShape()), sizes(type.getShape());
  for (auto [k, written] : llvm::enumerate(*axes)) {
    Dim start = (*starts)[k], end = (*ends)[k], step = hasSteps ? (*steps)[k] : Dim(1);
    if (!start.isStatic() || !end.isStatic() || !step.isStatic() || step.is(0))
      return std::nullopt;
    int64_t axis = written < 0 ? written + type.getRank() : written, first;
    sizes[axis] = count(start.size, end.size, step.size, sizes[axis], &first);
    origin += first * strides[axis];
    strides[axis] *= step.size;
  }
  SmallVector<Dim> result;
  for (int64_t i = 0, n = computeProduct(sizes); i < n; ++i)
    result.push_back((*data)[origin + linearize(delinearize(i, computeStrides(sizes)), strides)]);
  return result;
}

static LogicalResult upgradeSlice(Operation *op, PatternRewriter &rewriter) {
  auto toInput = [&](StringRef name) -> Value {
    auto list = op->getAttrOfType<DenseI64ArrayAttr>(name);
    return list ? makeIntegers(rewriter, op->getLoc(), list) : Value();
  };
  replaceByNext(op, rewriter, {op->getOperand(0), toInput("starts"), toInput("ends"), toInput("axes")},
                {"starts", "ends", "axes"});
  return success();
}

// Before version 11 axes count from the front; version 1 has constants only, and no steps.
static LogicalResult downgradeSlice(Operation *op, PatternRewriter &rewriter) {
  int64_t previous = getPreviousVersion(op);
  if (previous >= 11)
    return downgradeStep(op, rewriter);
  SmallVector<int64_t> axes;
  Value axesInput = getFormalInput(op, 3);
  std::optional<Shape> shape = getShape(op->getOperand(0).getType());
  if (axesInput) {
    FailureOr<SmallVector<int64_t>> list = requireIntegers(op, 3);
    if (failed(list))
      return failure();
    axes = *list;
    for (int64_t &axis : axes) {
      if (axis < 0 && !shape)
        return refuseDowngrade(op) << "its axes count from the end of a tensor of unknown rank";
      axis += axis < 0 ? shape->size() : 0;
    }
  }
  if (previous == 10) {
    Value positive = axesInput;
    if (axesInput && getElementTypeOrSelf(axesInput.getType()).isInteger(64))
      positive = makeIntegers(rewriter, op->getLoc(), axes);
    return replaceByPrevious(
        op, rewriter,
        {op->getOperand(0), getFormalInput(op, 1), getFormalInput(op, 2), positive, getFormalInput(op, 4)});
  }
  auto starts = requireIntegers(op, 1), ends = requireIntegers(op, 2);
  if (failed(starts) || failed(ends))
    return failure();
  if (getFormalInput(op, 4)) {
    auto steps = requireIntegers(op, 4);
    if (failed(steps))
      return failure();
    if (llvm::any_of(*steps, [](int64_t step) { return step != 1; }))
      return refuseDowngrade(op) << "it has no steps";
  }
  auto list = [&](StringRef name, ArrayRef<int64_t> values) {
    return rewriter.getNamedAttr(name, rewriter.getDenseI64ArrayAttr(values));
  };
  SmallVector<NamedAttribute> attrs{list("starts", *starts), list("ends", *ends)};
  if (axesInput)
    attrs.push_back(list("axes", axes));
  return replaceByPrevious(op, rewriter, op->getOperand(0), {}, attrs);
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

// value < 0 ? value + size : value
static OpFoldResult wrap(LinalgBuilder &b, OpFoldResult value, OpFoldResult size) {
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return *known < 0 ? b.add(size, value) : value;
  return b.select(b.compare(arith::CmpIPredicate::slt, value, b.getIndexAttr(0)), b.add(value, size), value);
}

namespace {
struct AxisPart {
  OpFoldResult first, count, step;
};
} // namespace

static AxisPart lowerRange(LinalgBuilder &b, OpFoldResult start, OpFoldResult end, OpFoldResult step,
                           OpFoldResult size) {
  std::optional<int64_t> s = getConstantIntValue(start), e = getConstantIntValue(end), t = getConstantIntValue(step),
                         d = getConstantIntValue(size);
  if (s && e && t && d) {
    int64_t first, n = count(*s, *e, *t, *d, &first);
    return {b.getIndexAttr(first), b.getIndexAttr(n), step};
  }
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1), last = b.sub(size, one);
  auto clamp = [&](OpFoldResult value, OpFoldResult low, OpFoldResult high) {
    return b.maximum(b.minimum(value, high), low);
  };
  auto forward = [&]() -> AxisPart {
    std::optional<int64_t> known = getConstantIntValue(start);
    OpFoldResult from = known == 0 ? zero : clamp(wrap(b, start, size), zero, size);
    OpFoldResult to = e && *e == INT64_MAX                   ? size
                      : isEqualConstantIntOrValue(end, size) ? size
                                                             : clamp(wrap(b, end, size), zero, size);
    if (known == 0 && t == 1)
      return {from, to, step};
    return {from, b.maximum(b.ceilDiv(b.sub(to, from), step), zero), step};
  };
  auto backward = [&](OpFoldResult magnitude) -> AxisPart {
    OpFoldResult from = clamp(wrap(b, start, size), zero, b.maximum(last, zero));
    // INT64_MIN and the like stay below any dimension: -1 after clamping.
    OpFoldResult to =
        e && *e < -INT32_MAX ? OpFoldResult(b.getIndexAttr(-1)) : clamp(wrap(b, end, size), b.getIndexAttr(-1), last);
    return {from, b.maximum(b.ceilDiv(b.sub(from, to), magnitude), zero), step};
  };
  if (t && *t > 0)
    return forward();
  if (t)
    return backward(b.getIndexAttr(*t == INT64_MIN ? INT64_MAX : -*t));
  // The sign of the step is known at run time only.
  b.check(b.compare(arith::CmpIPredicate::ne, step, zero), "the step is 0");
  Value positive = b.compare(arith::CmpIPredicate::sgt, step, zero);
  OpFoldResult original = step;
  step = b.select(positive, step, one);
  AxisPart up = forward();
  AxisPart down = backward(b.select(positive, one, b.sub(zero, original)));
  return {b.select(positive, up.first, down.first), b.select(positive, up.count, down.count), original};
}

static FailureOr<SmallVector<Value>> lowerSlice(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value data = operands[0];
  Sizes sizes = b.sizes(data);
  int64_t rank = sizes.size();
  auto listOf = [&](unsigned formal) -> std::optional<Sizes> {
    Value value = b.onnxOperand(formal);
    if (!value || !cast<RankedTensorType>(value.getType()).hasStaticShape())
      return std::nullopt;
    return b.integerElements(value);
  };
  std::optional<Sizes> starts = listOf(1), ends = listOf(2), axes = listOf(3), steps = listOf(4);
  if (!starts || !ends || (b.onnxOperand(3) && !axes) || (b.onnxOperand(4) && !steps))
    return op->emitOpError("cannot be compiled: the number of its axes is not known at compile time");
  if (!axes) {
    axes.emplace();
    for (size_t i = 0; i < starts->size(); ++i)
      axes->push_back(b.getIndexAttr(i));
  }
  if (!steps)
    steps = Sizes(starts->size(), b.getIndexAttr(1));
  if (starts->size() != axes->size() || ends->size() != axes->size() || steps->size() != axes->size())
    return op->emitOpError("its lists have different lengths");

  std::optional<Shape> result = getShape(op->getResult(0).getType());
  SmallVector<AxisPart> ranges;
  bool plain = true;
  for (int64_t i = 0; i < rank; ++i) {
    OpFoldResult start = b.getIndexAttr(0), end = b.getIndexAttr(INT64_MAX), step = b.getIndexAttr(1);
    for (auto [k, axis] : llvm::enumerate(*axes)) {
      OpFoldResult wrapped = wrap(b, axis, b.getIndexAttr(rank));
      if (std::optional<int64_t> known = getConstantIntValue(wrapped)) {
        if (*known == i)
          start = (*starts)[k], end = (*ends)[k], step = (*steps)[k];
        continue;
      }
      Value here = b.compare(arith::CmpIPredicate::eq, wrapped, b.getIndexAttr(i));
      start = b.select(here, (*starts)[k], start);
      end = b.select(here, (*ends)[k], end);
      step = b.select(here, (*steps)[k], step);
    }
    ranges.push_back(lowerRange(b, start, end, step, sizes[i]));
    if (std::optional<OpFoldResult> known = b.knownSize((*result)[i]))
      ranges.back().count = *known;
    std::optional<int64_t> constant = getConstantIntValue(ranges.back().step);
    plain &= constant && *constant > 0;
  }
  for (OpFoldResult axis : *axes)
    if (!getConstantIntValue(axis)) {
      OpFoldResult wrapped = wrap(b, axis, b.getIndexAttr(rank));
      b.check(b.createOrFold<arith::AndIOp>(b.compare(arith::CmpIPredicate::sge, wrapped, b.getIndexAttr(0)),
                                            b.compare(arith::CmpIPredicate::slt, wrapped, b.getIndexAttr(rank))),
              "an axis is out of range");
    }

  SmallVector<OpFoldResult> firsts, counts, strides;
  for (const AxisPart &range : ranges) {
    firsts.push_back(range.first);
    counts.push_back(range.count);
    strides.push_back(range.step);
  }
  if (plain)
    return SmallVector<Value>{b.slice(data, firsts, counts, strides)};
  SmallVector<Value> first, step;
  for (const AxisPart &range : ranges) {
    first.push_back(b.index(range.first));
    step.push_back(b.index(range.step));
  }
  Type element = getElementType(data);
  return SmallVector<Value>{b.generate(counts, element, [&](ImplicitLocOpBuilder &nested, ValueRange indices) -> Value {
    SmallVector<Value> source;
    for (int64_t i = 0; i < rank; ++i)
      source.push_back(
          nested.createOrFold<arith::AddIOp>(first[i], nested.createOrFold<arith::MulIOp>(indices[i], step[i])));
    return nested.create<tensor::ExtractOp>(data, source);
  })};
}

STRATA_SLICE(Slice) {
  ops.add("Slice", {.inferShapes = inferSlice,
                    .inferValues = sliceValues,
                    .upgrade = upgradeSlice,
                    .downgrade = downgradeSlice,
                    .lower = lowerSlice,
                    .handles = true});
}
