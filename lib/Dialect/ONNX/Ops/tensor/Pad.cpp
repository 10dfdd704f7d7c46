//===- Pad.cpp - Pad ------------------------------------------------------===//
//
// Negative amounts crop first. Mode reflect mirrors around the border element
// and wrap repeats, as often as needed.
//
//===----------------------------------------------------------------------===//

#include "../Slice.h"
#include "Dialect/VersionSteps.h"

static LogicalResult verifyPad(Operation *op) {
  auto mode = op->getAttrOfType<StringAttr>("mode");
  StringRef name = mode ? mode.getValue() : "constant";
  if (name == "constant" || name == "reflect" || name == "edge" ||
      (name == "wrap" && cast<VersionedOpInterface>(op).getSinceVersion() >= 18))
    return success();
  return op->emitOpError("has the unknown mode '") << name << "'";
}

static LogicalResult inferPad(ShapeContext &c) {
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return success();
  int64_t rank = shape->size();
  ValueAnalysis::Values pads;
  if (c.version() >= 11)
    pads = c.values(1);
  else if (auto list = c.integerArray(c.version() == 1 ? "paddings" : "pads"))
    pads.emplace(list->begin(), list->end());
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  bool known = true;
  if (c.version() >= 18 && c.hasInput(3)) {
    auto list = c.integers(3);
    known = list.has_value();
    axes.clear();
    for (int64_t axis : list ? *list : SmallVector<int64_t>()) {
      FailureOr<int64_t> normal = c.normalizeAxis(axis, rank);
      if (failed(normal))
        return failure();
      if (llvm::is_contained(axes, *normal))
        return c.emitError() << "has axis " << *normal << " twice in its axes";
      axes.push_back(*normal);
    }
  }
  if (!known) {
    c.setShape(0, Shape(rank));
    return success();
  }
  if (pads && pads->size() != 2 * axes.size())
    return c.emitError() << "has " << pads->size() << " pads for " << axes.size() << " axes";
  Shape result = *shape;
  for (auto [k, axis] : llvm::enumerate(axes)) {
    Dim amount = pads ? (*pads)[k] + (*pads)[k + axes.size()] : Dim();
    result[axis] = result[axis] + amount;
    if (result[axis].isStatic() && result[axis].size < 0)
      return c.emitError() << "crops dimension " << axis << " to size " << result[axis].size;
  }
  c.setShape(0, result);
  return success();
}

static LogicalResult upgradePad(Operation *op, PatternRewriter &rewriter) {
  int64_t version = cast<VersionedOpInterface>(op).getSinceVersion();
  SmallVector<Value> inputs(op->getOperands());
  if (version == 1) {
    replaceByNext(op, rewriter, inputs, {"paddings"}, rewriter.getNamedAttr("pads", op->getAttr("paddings")));
  } else if (version == 2) {
    auto value = op->getAttrOfType<FloatAttr>("value");
    Type element = getElementType(inputs[0]);
    inputs.push_back(makeIntegers(rewriter, op->getLoc(), op->getAttrOfType<DenseI64ArrayAttr>("pads")));
    inputs.push_back(makeScalar(rewriter, op->getLoc(), element, value ? value.getValueAsDouble() : 0.0));
    replaceByNext(op, rewriter, inputs, {"pads", "value"});
  } else {
    inputs.resize(4);
    replaceByNext(op, rewriter, inputs);
  }
  return success();
}

// Before version 18 all axes are padded; before 11 the amounts are attributes.
static LogicalResult downgradePad(Operation *op, PatternRewriter &rewriter) {
  int64_t previous = getPreviousVersion(op);
  auto mode = op->getAttrOfType<StringAttr>("mode");
  if (previous < 19 && mode && mode == "wrap")
    return refuseDowngrade(op) << "it has no mode 'wrap'";
  if (previous == 13 && getFormalInput(op, 3)) {
    auto pads = requireIntegers(op, 1), axes = requireIntegers(op, 3);
    std::optional<Shape> shape = getShape(op->getOperand(0).getType());
    if (failed(pads) || failed(axes))
      return failure();
    if (!shape || pads->size() != 2 * axes->size())
      return refuseDowngrade(op) << "it needs the rank of its input";
    SmallVector<int64_t> all(2 * shape->size(), 0);
    for (auto [i, axis] : llvm::enumerate(*axes)) {
      int64_t at = axis < 0 ? axis + shape->size() : axis;
      all[at] = (*pads)[i];
      all[at + shape->size()] = (*pads)[i + axes->size()];
    }
    return replaceByPrevious(op, rewriter,
                             {op->getOperand(0), makeIntegers(rewriter, op->getLoc(), all), getFormalInput(op, 2)});
  }
  if (previous == 2) {
    auto pads = requireIntegers(op, 1);
    if (failed(pads))
      return failure();
    SmallVector<NamedAttribute> attrs{rewriter.getNamedAttr("pads", rewriter.getDenseI64ArrayAttr(*pads))};
    if (Value value = getFormalInput(op, 2)) {
      auto number = getFloats(getConstant(value));
      if (!number || number->size() != 1)
        return refuseDowngrade(op)
               << "'constant_value' is a run-time input or no floating-point number, there an attribute";
      float rounded = number->front();
      if (rounded != number->front())
        return refuseDowngrade(op) << "'constant_value' is no float";
      attrs.push_back(rewriter.getNamedAttr("value", rewriter.getF32FloatAttr(rounded)));
    }
    return replaceByPrevious(op, rewriter, op->getOperand(0), {}, attrs);
  }
  if (previous == 1)
    return replaceByPrevious(op, rewriter, op->getOperand(0), {"pads"},
                             rewriter.getNamedAttr("paddings", op->getAttr("pads")));
  return downgradeStep(op, rewriter);
}

// value modulo size, not negative.
static Value wrapAround(ImplicitLocOpBuilder &b, Value value, Value size) {
  Value remainder = b.create<arith::RemSIOp>(value, size);
  Value zero = b.create<arith::ConstantIndexOp>(0);
  Value negative = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, remainder, zero);
  return b.create<arith::SelectOp>(negative, b.create<arith::AddIOp>(remainder, size), remainder);
}

// The position in a dimension of `size` elements that a padded position `i` (0: the first element) shows.
static Value getSource(ImplicitLocOpBuilder &b, StringRef mode, Value i, Value size) {
  Value zero = b.create<arith::ConstantIndexOp>(0), one = b.create<arith::ConstantIndexOp>(1);
  Value last = b.create<arith::SubIOp>(size, one);
  if (mode == "edge")
    return b.create<arith::MaxSIOp>(b.create<arith::MinSIOp>(i, last), zero);
  if (mode == "wrap")
    return wrapAround(b, i, size);
  // 0 1 2 3 2 1 | 0 1 ...: the period is 2 (size - 1), and 1 for a single element.
  Value period = b.create<arith::MaxSIOp>(b.create<arith::AddIOp>(last, last), one);
  Value phase = wrapAround(b, i, period);
  return b.create<arith::MinSIOp>(phase, b.create<arith::SubIOp>(period, phase));
}

static FailureOr<SmallVector<Value>> lowerPad(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value data = operands[0];
  auto type = cast<RankedTensorType>(data.getType());
  int64_t rank = type.getRank();
  StringRef mode = cast<PadOp>(op).getMode();
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  Sizes low(rank, zero), high(rank, zero);
  Value onnxAxes = b.onnxOperand(3), onnxPads = b.onnxOperand(1);
  int64_t count = rank;
  if (onnxAxes) {
    auto axesType = cast<RankedTensorType>(onnxAxes.getType());
    if (!axesType.hasStaticShape())
      return op->emitOpError("cannot be compiled: the number of its axes is not known at compile time");
    count = axesType.getNumElements();
  }
  b.checkEqual(b.dim(b.operand(1), 0), b.getIndexAttr(2 * count), "there are not two pads per axis");
  ValueAnalysis::Values known = b.getAnalysis().get(onnxPads);
  auto getPad = [&](int64_t i) -> OpFoldResult {
    auto size = known ? b.knownSize((*known)[i]) : std::nullopt;
    return size ? *size : b.element(b.operand(1), i);
  };
  if (!onnxAxes) {
    for (int64_t i = 0; i < rank; ++i)
      low[i] = getPad(i), high[i] = getPad(i + rank);
  } else {
    for (auto [k, axis] : llvm::enumerate(b.integerElements(onnxAxes))) {
      OpFoldResult wrapped =
          b.select(b.compare(arith::CmpIPredicate::slt, axis, zero), b.add(axis, b.getIndexAttr(rank)), axis);
      for (int64_t i = 0; i < rank; ++i) {
        Value here = b.compare(arith::CmpIPredicate::eq, wrapped, b.getIndexAttr(i));
        low[i] = b.select(here, getPad(k), low[i]);
        high[i] = b.select(here, getPad(k + count), high[i]);
      }
    }
  }

  // Crop.
  Sizes sizes = b.sizes(data), result;
  SmallVector<OpFoldResult> offsets;
  bool crops = false;
  for (int64_t i = 0; i < rank; ++i) {
    auto split = [&](OpFoldResult &amount) -> OpFoldResult {
      OpFoldResult cropped = b.maximum(b.sub(zero, amount), zero);
      amount = b.maximum(amount, zero);
      return cropped;
    };
    OpFoldResult before = split(low[i]), after = split(high[i]);
    crops |= !isConstantIntValue(before, 0) || !isConstantIntValue(after, 0);
    sizes[i] = b.sub(sizes[i], b.add(before, after));
    if (!getConstantIntValue(sizes[i]))
      b.check(b.compare(arith::CmpIPredicate::sge, sizes[i], zero),
              "more is cropped than there is in dimension " + Twine(i));
    else if (*getConstantIntValue(sizes[i]) < 0)
      return op->emitOpError("cannot be compiled: it crops more than there is in dimension ") << i;
    offsets.push_back(before);
    result.push_back(b.add(b.add(low[i], sizes[i]), high[i]));
  }
  if (crops)
    data = b.slice(data, offsets, sizes);

  Type element = type.getElementType();
  if (mode == "constant") {
    Value given = b.operand(2), value = given ? b.extractScalar(given) : b.scalarInt(element, 0);
    return SmallVector<Value>{b.pad(data, low, high, value)};
  }
  for (int64_t i = 0; i < rank; ++i)
    if (isConstantIntValue(sizes[i], 0) && !isConstantIntValue(result[i], 0))
      return op->emitOpError("cannot be compiled: it repeats elements of dimension ") << i << ", which has none";
    else if (!getConstantIntValue(sizes[i]))
      b.check(b.createOrFold<arith::OrIOp>(b.compare(arith::CmpIPredicate::sgt, sizes[i], zero),
                                           b.compare(arith::CmpIPredicate::eq, result[i], zero)),
              "there is no element to repeat in dimension " + Twine(i));
  // The data as they are, which need no index, then what is in front of and behind them in each dimension: inside of
  // the data in the later ones, so that the last one is copied in all but its own borders.
  Value padded = b.create<tensor::InsertSliceOp>(data, b.empty(result, element), low, sizes, Sizes(rank, one));
  for (int64_t d = 0; d < rank; ++d)
    for (auto [from, count] : {std::pair(zero, low[d]), std::pair(b.add(low[d], sizes[d]), high[d])}) {
      if (isConstantIntValue(count, 0))
        continue;
      Sizes offsets(rank, zero), extents(sizes);
      for (int64_t i = 0; i < rank; ++i)
        if (i < d)
          extents[i] = result[i];
        else
          offsets[i] = i == d ? from : low[i];
      extents[d] = count;
      SmallVector<Value> shifts, ends; // outside of the body, where they would be computed again and again
      for (int64_t i = 0; i <= d; ++i) {
        shifts.push_back(b.index(b.sub(offsets[i], low[i])));
        ends.push_back(b.index(sizes[i]));
      }
      Value border = b.generate(extents, element, [&](ImplicitLocOpBuilder &body, ValueRange at) -> Value {
        SmallVector<Value> source(at);
        for (int64_t i = 0; i <= d; ++i)
          if (!isConstantIntValue(low[i], 0) || !isConstantIntValue(high[i], 0))
            source[i] = getSource(body, mode, body.create<arith::AddIOp>(at[i], shifts[i]), ends[i]);
        return body.create<tensor::ExtractOp>(data, source);
      });
      padded = b.create<tensor::InsertSliceOp>(border, padded, offsets, extents, Sizes(rank, one));
    }
  return SmallVector<Value>{padded};
}

STRATA_SLICE(Pad) {
  ops.add("Pad", {.verify = verifyPad,
                  .inferShapes = inferPad,
                  .upgrade = upgradePad,
                  .downgrade = downgradePad,
                  .lower = lowerPad,
                  .handles = true});
}
