//===- Reduce.cpp - the Reduce* family ------------------------------------===//
//
// Every reduction is: elements mapped (x, |x|, x*x, exp), combined (+, *, max,
// min) and the result finished (mean, sqrt, log). Without axes all dimensions
// are reduced, or none with noop_with_empty_axes; the maps are still applied.
//
//===----------------------------------------------------------------------===//

#include "../Compute.h"
#include "Dialect/VersionSteps.h"
#include <cmath>

//===----------------------------------------------------------------------===//
// Axes and shapes
//===----------------------------------------------------------------------===//

// The first version whose axes are an input.
static int64_t axesInputSince(Operation *op) {
  return cast<VersionedOpInterface>(op).getOperatorName() == "ReduceSum" ? 13 : 18;
}

static LogicalResult inferReduce(ShapeContext &c) {
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return success();
  int64_t rank = shape->size();
  bool keepDims = c.integer("keepdims", 1) != 0;
  bool isInput = c.version() >= axesInputSince(c.getOperation());
  bool given = isInput ? c.hasInput(1) : c.hasAttr("axes");
  std::optional<SmallVector<int64_t>> axes = isInput ? c.integers(1) : c.integerArray("axes");
  if (given && !axes) {
    // Known is at most how many there are.
    if (keepDims) {
      c.setShape(0, Shape(rank));
    } else if (auto list = c.shape(1);
               list && list->size() == 1 && (*list)[0].isStatic() && (*list)[0].size > 0 && (*list)[0].size <= rank) {
      c.setShape(0, Shape(rank - (*list)[0].size));
    }
    return success();
  }
  SmallVector<bool> reduced(rank, false);
  if (!given || axes->empty())
    reduced.assign(rank, c.integer("noop_with_empty_axes", 0) == 0);
  else
    for (int64_t axis : *axes) {
      FailureOr<int64_t> normal = c.normalizeAxis(axis, rank);
      if (failed(normal))
        return failure();
      reduced[*normal] = true;
    }
  Shape result;
  for (int64_t i = 0; i < rank; ++i)
    if (!reduced[i])
      result.push_back((*shape)[i]);
    else if (keepDims)
      result.push_back(Dim(1));
  c.setShape(0, result);
  return success();
}

// The reduced dimensions, sorted; none if only the run tells.
static std::optional<SmallVector<int64_t>> getReduced(Operation *op, LinalgBuilder &b, int64_t rank) {
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, rank)), result;
  auto noop = op->getAttrOfType<IntegerAttr>("noop_with_empty_axes");
  std::optional<SmallVector<int64_t>> list;
  if (op->getNumOperands() > 1) {
    list = b.getIntegers(op->getOperand(1));
    auto type = cast<RankedTensorType>(op->getOperand(1).getType());
    if (!list && type.hasStaticShape() && type.getNumElements() == 0)
      list.emplace();
    if (!list)
      return std::nullopt;
  }
  if (!list || list->empty())
    return noop && noop.getInt() ? SmallVector<int64_t>() : all;
  for (int64_t axis : *list)
    result.push_back(axis < 0 ? axis + rank : axis);
  llvm::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

namespace {
enum class Map { none, absolute, square };
enum class Combine { sum, product, maximum, minimum };
enum class Finish { none, mean, squareRoot, logarithm };
struct Kind {
  Map map;
  Combine combine;
  Finish finish;
};
} // namespace

static Value mapElement(ImplicitLocOpBuilder &b, Value x, Map map, bool isUnsigned) {
  bool isFloat = isa<FloatType>(x.getType());
  switch (map) {
  case Map::none:
    return x;
  case Map::absolute:
    return isFloat ? b.create<math::AbsFOp>(x) : isUnsigned ? x : b.create<math::AbsIOp>(x).getResult();
  case Map::square:
    return isFloat ? b.create<arith::MulFOp>(x, x) : b.create<arith::MulIOp>(x, x).getResult();
  }
  llvm_unreachable("all maps");
}

static Value combineElements(ImplicitLocOpBuilder &b, Value x, Value y, Combine combine, bool isUnsigned) {
  switch (combine) {
  case Combine::sum:
    return addScalars(b, x, y);
  case Combine::product:
    return mulScalars(b, x, y);
  case Combine::maximum:
    return maximumOf(b, x, y, isUnsigned);
  case Combine::minimum:
    return minimumOf(b, x, y, isUnsigned);
  }
  llvm_unreachable("all combinations");
}

static Value getInit(LinalgBuilder &b, Type onnxElement, Type compute, Combine combine) {
  switch (combine) {
  case Combine::sum:
    return b.scalarInt(compute, 0);
  case Combine::product:
    return b.scalarInt(compute, 1);
  case Combine::maximum:
    return b.create<arith::ConstantOp>(scalar::getLowest(onnxElement));
  case Combine::minimum:
    return b.create<arith::ConstantOp>(scalar::getHighest(onnxElement));
  }
  llvm_unreachable("all combinations");
}

static Value finishElement(ImplicitLocOpBuilder &b, Value x, Finish finish, Value count, bool isUnsigned) {
  bool isFloat = isa<FloatType>(x.getType());
  switch (finish) {
  case Finish::none:
    return x;
  case Finish::mean:
    return isFloat      ? b.create<arith::DivFOp>(x, count)
           : isUnsigned ? b.create<arith::DivUIOp>(x, count)
                        : b.create<arith::DivSIOp>(x, count).getResult();
  case Finish::squareRoot: {
    if (isFloat)
      return b.create<math::SqrtOp>(x);
    // Of an integer: rounded towards zero.
    Type f64 = b.getF64Type();
    Value wide = isUnsigned ? b.create<arith::UIToFPOp>(f64, x) : b.create<arith::SIToFPOp>(f64, x).getResult();
    // The sum of squares may have wrapped; a negative one has no root.
    Value positive = b.create<arith::MaximumFOp>(wide, b.create<arith::ConstantOp>(b.getF64FloatAttr(0)));
    Value root = b.create<math::SqrtOp>(positive);
    return isUnsigned ? b.create<arith::FPToUIOp>(x.getType(), root)
                      : b.create<arith::FPToSIOp>(x.getType(), root).getResult();
  }
  case Finish::logarithm:
    return b.create<math::LogOp>(x);
  }
  llvm_unreachable("all finishes");
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

// Which dimensions are reduced, where the run tells: one i1 per dimension.
static SmallVector<Value> getRuntimeMask(Operation *op, LinalgBuilder &b, Value axes, int64_t rank) {
  auto noop = op->getAttrOfType<IntegerAttr>("noop_with_empty_axes");
  OpFoldResult count = b.dim(axes, 0);
  bool all = !noop || noop.getInt() == 0;
  Value none = b.compare(arith::CmpIPredicate::eq, count, b.getIndexAttr(0));
  SmallVector<Value> mask;
  for (int64_t i = 0; i < rank; ++i) {
    Value start = all ? none : b.scalarInt(b.getI1Type(), 0);
    auto loop = b.loopNest({count}, start, [&](ValueRange at, ValueRange found) -> SmallVector<Value> {
      Value axis = b.create<arith::IndexCastOp>(b.getIndexType(), b.create<tensor::ExtractOp>(axes, at));
      Value is = b.createOrFold<arith::OrIOp>(b.compare(arith::CmpIPredicate::eq, axis, b.getIndexAttr(i)),
                                              b.compare(arith::CmpIPredicate::eq, axis, b.getIndexAttr(i - rank)));
      return {b.createOrFold<arith::OrIOp>(found[0], is)};
    });
    mask.push_back(loop[0]);
  }
  return mask;
}

namespace {
/// One reduction of one tensor: over axes known at compile time or masked at run time.
struct Reducer {
  LinalgBuilder &b;
  Value data;
  std::optional<SmallVector<int64_t>> axes;
  SmallVector<Value> mask;

  OpFoldResult count() {
    OpFoldResult result = b.getIndexAttr(1);
    for (int64_t i = 0, rank = getRank(data); i < rank; ++i)
      if (axes ? llvm::is_contained(*axes, i) : true)
        result = b.mul(result, axes ? b.dim(data, i) : b.select(mask[i], b.dim(data, i), b.getIndexAttr(1)));
    return result;
  }

  // The reduced dimensions stay with size 1.
  Value run(Value init, ScalarFn combine) {
    if (axes)
      return b.reduce(data, *axes, true, init, combine);
    Sizes sizes;
    for (auto [i, size] : llvm::enumerate(b.sizes(data)))
      sizes.push_back(b.select(mask[i], b.getIndexAttr(1), size));
    Value zero = b.index(int64_t(0));
    return b.loopNest(b.sizes(data), b.fill(sizes, init), [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
      SmallVector<Value> to;
      for (auto [i, index] : llvm::enumerate(at))
        to.push_back(b.create<arith::SelectOp>(mask[i], zero, index));
      Value next = combine(b, {b.create<tensor::ExtractOp>(data, at), b.create<tensor::ExtractOp>(carried[0], to)});
      return {b.create<tensor::InsertOp>(next, carried[0], to)};
    })[0];
  }

  // Without the reduced dimensions; `rank` many stay.
  Value drop(Value reduced, int64_t rank) {
    if (axes)
      return b.squeeze(reduced, *axes);
    Sizes sizes(rank, b.getIndexAttr(1));
    OpFoldResult position = b.getIndexAttr(0);
    for (auto [i, size] : llvm::enumerate(b.sizes(data))) {
      Value stays = b.createOrFold<arith::XOrIOp>(mask[i], b.scalarInt(b.getI1Type(), 1));
      for (int64_t k = 0; k < rank; ++k) {
        Value here = b.compare(arith::CmpIPredicate::eq, position, b.getIndexAttr(k));
        sizes[k] = b.select(b.createOrFold<arith::AndIOp>(here, stays), size, sizes[k]);
      }
      position = b.select(mask[i], position, b.add(position, b.getIndexAttr(1)));
    }
    b.checkEqual(position, b.getIndexAttr(rank), "the result does not have the declared rank");
    return b.reshape(reduced, sizes);
  }
};
} // namespace

static FailureOr<SmallVector<Value>> lowerKind(Operation *op, ValueRange operands, LinalgBuilder &b,
                                               function_ref<Value(Reducer &, Type onnx, Type compute)> build) {
  Value data = operands[0];
  auto type = cast<RankedTensorType>(data.getType());
  Type onnx = getElementType(op->getOperand(0)), compute = scalar::getComputeType(onnx);
  Reducer reducer{b, data, getReduced(op, b, type.getRank()), {}};
  if (!reducer.axes)
    reducer.mask = getRuntimeMask(op, b, operands[1], type.getRank());
  Value result = build(reducer, onnx, compute);
  auto keepDims = op->getAttrOfType<IntegerAttr>("keepdims");
  if (keepDims && keepDims.getInt() == 0)
    result = reducer.drop(result, getRank(op->getResult(0)));
  return SmallVector<Value>{result};
}

template <Map map, Combine combine, Finish finish>
static FailureOr<SmallVector<Value>> lowerReduce(Operation *op, ValueRange operands, LinalgBuilder &b) {
  return lowerKind(op, operands, b, [&](Reducer &reducer, Type onnx, Type compute) -> Value {
    bool isUnsigned = scalar::isUnsigned(onnx);
    Value sum = reducer.run(getInit(b, onnx, compute, combine), [&](ImplicitLocOpBuilder &nested, ValueRange args) {
      Value x = mapElement(nested, scalar::decode(nested, args[0], onnx), map, isUnsigned);
      return combineElements(nested, args[1], x, combine, isUnsigned);
    });
    Type element = getSeamElementType(onnx);
    if (finish == Finish::none && compute == element)
      return sum;
    Value count;
    if (finish == Finish::mean) {
      OpFoldResult number = reducer.count();
      if (isa<FloatType>(compute)) {
        Value integer = b.createOrFold<arith::IndexCastOp>(b.getI64Type(), b.index(number));
        count = b.createOrFold<arith::SIToFPOp>(compute, integer);
      } else {
        count = b.createOrFold<arith::IndexCastOp>(compute, b.index(b.maximum(number, b.getIndexAttr(1))));
      }
    }
    return b.elementwise(sum, element, [&](ImplicitLocOpBuilder &nested, ValueRange args) {
      return scalar::encode(nested, finishElement(nested, args[0], finish, count, isUnsigned), onnx);
    });
  });
}

// log(sum(exp(x - m))) + m with the maximum m, which is left out where it is infinite.
static FailureOr<SmallVector<Value>> lowerLogSumExp(Operation *op, ValueRange operands, LinalgBuilder &b) {
  return lowerKind(op, operands, b, [&](Reducer &reducer, Type onnx, Type compute) -> Value {
    Value highest =
        reducer.run(getInit(b, onnx, compute, Combine::maximum), [&](ImplicitLocOpBuilder &nested, ValueRange args) {
          Value x = scalar::decode(nested, args[0], onnx);
          return combineElements(nested, args[1], x, Combine::maximum, false);
        });
    Value shift = b.elementwise(highest, compute, [&](ImplicitLocOpBuilder &nested, ValueRange args) -> Value {
      Value infinity = nested.create<arith::ConstantOp>(
          nested.getFloatAttr(compute, APFloat::getInf(cast<FloatType>(compute).getFloatSemantics())));
      Value isFinite =
          nested.create<arith::CmpFOp>(arith::CmpFPredicate::ONE, nested.create<math::AbsFOp>(args[0]), infinity);
      Value zero = nested.create<arith::ConstantOp>(nested.getFloatAttr(compute, 0.0));
      return nested.create<arith::SelectOp>(isFinite, args[0], zero);
    });
    Value shifted =
        b.elementwise({reducer.data, shift}, compute, [&](ImplicitLocOpBuilder &nested, ValueRange args) -> Value {
          Value x = scalar::decode(nested, args[0], onnx);
          return nested.create<math::ExpOp>(nested.create<arith::SubFOp>(x, args[1]));
        });
    Reducer second{b, shifted, reducer.axes, reducer.mask};
    Value sum = second.run(b.scalar(compute, 0), [&](ImplicitLocOpBuilder &nested, ValueRange args) -> Value {
      return nested.create<arith::AddFOp>(args[1], args[0]);
    });
    return b.elementwise({sum, shift}, getSeamElementType(onnx), [&](ImplicitLocOpBuilder &nested, ValueRange args) {
      Value result = nested.create<arith::AddFOp>(nested.create<math::LogOp>(args[0]), args[1]);
      return scalar::encode(nested, result, onnx);
    });
  });
}

//===----------------------------------------------------------------------===//
// Elements of shape computations
//===----------------------------------------------------------------------===//

template <Combine combine> static ValueAnalysis::Values reduceValues(ShapeContext &c) {
  auto values = c.elements(0);
  std::optional<int64_t> rank = c.rank(0);
  bool isInput = c.version() >= axesInputSince(c.getOperation());
  bool given = isInput ? c.hasInput(1) : c.hasAttr("axes");
  auto axes = isInput ? c.integers(1) : c.integerArray("axes");
  if (!values || rank != 1 || (given && !axes) || c.integer("noop_with_empty_axes", 0))
    return std::nullopt;
  if (isa_and_nonnull<FloatType>(c.elementType(0))) {
    // Of one element, or of those that only one is taken of: no order of additions matters.
    bool selects = combine == Combine::maximum || combine == Combine::minimum;
    if (values->size() != 1 && (!selects || values->empty()))
      return std::nullopt;
    Dim best = values->front();
    for (const Dim &dim : *values) {
      if (!dim.isStatic() || std::isnan(dim.asFloat()))
        return std::nullopt;
      if (combine == Combine::maximum ? dim.asFloat() > best.asFloat() : dim.asFloat() < best.asFloat())
        best = dim;
    }
    return SmallVector<Dim>{best};
  }
  Dim result(combine == Combine::product ? 1 : 0);
  for (auto [i, dim] : llvm::enumerate(*values)) {
    if (combine == Combine::sum)
      result = result + dim;
    else if (combine == Combine::product)
      result = result * dim;
    else if (i == 0)
      result = dim;
    else if (dim.isStatic() && result.isStatic())
      result = Dim(combine == Combine::maximum ? std::max(dim.size, result.size) : std::min(dim.size, result.size));
    else if (!dim.sameAs(result))
      result = Dim();
  }
  if (values->empty() && (combine == Combine::maximum || combine == Combine::minimum))
    return std::nullopt;
  return SmallVector<Dim>{result};
}

//===----------------------------------------------------------------------===//
// Versions
//===----------------------------------------------------------------------===//

static LogicalResult upgradeReduce(Operation *op, PatternRewriter &rewriter) {
  auto versioned = cast<VersionedOpInterface>(op);
  if (versioned.getSinceVersion() < axesInputSince(op))
    return listToInput(op, rewriter, "axes");
  // ReduceLogSum and ReduceLogSumExp 18 to 28: integers are computed as double.
  auto type = cast<TensorType>(op->getOperand(0).getType());
  SmallVector<Value> inputs(op->getOperands());
  if (isa<FloatType>(type.getElementType())) {
    replaceByNext(op, rewriter, inputs);
    return success();
  }
  auto cast = [&](Value value, Type element) {
    auto to =
        rewriter.getNamedAttr("to", rewriter.getI64IntegerAttr(onnx::getDataType(*onnx::getElementKind(element))));
    Type result = mlir::cast<TensorType>(value.getType()).clone(element);
    return createVersion(rewriter, op->getLoc(), "Cast", 13, value, to, result)->getResult(0);
  };
  Type f64 = rewriter.getF64Type();
  inputs[0] = cast(inputs[0], f64);
  Operation *reduced =
      createVersion(rewriter, op->getLoc(), versioned.getOperatorName(), 28, inputs, attributesWithout(op),
                    mlir::cast<TensorType>(op->getResult(0).getType()).clone(f64));
  rewriter.replaceOp(op, cast(reduced->getResult(0), type.getElementType()));
  return success();
}

static LogicalResult downgradeReduce(Operation *op, PatternRewriter &rewriter) {
  int64_t since = axesInputSince(op);
  if (cast<VersionedOpInterface>(op).getSinceVersion() != since)
    return downgradeStep(op, rewriter);
  auto noop = op->getAttrOfType<IntegerAttr>("noop_with_empty_axes");
  bool hasAxes = false;
  if (getFormalInput(op, 1)) {
    FailureOr<SmallVector<int64_t>> axes = requireIntegers(op, 1);
    if (failed(axes))
      return failure();
    hasAxes = !axes->empty();
  }
  if (noop && noop.getInt() != 0 && !hasAxes)
    return refuseDowngrade(op) << "without axes it reduces all dimensions, here noop_with_empty_axes keeps them";
  return inputToList(op, rewriter, "axes", {"noop_with_empty_axes"});
}

STRATA_SLICE(Reduce) {
  auto add = [&](StringRef name, decltype(OpBehavior::lower) lower,
                 decltype(OpBehavior::inferValues) values = nullptr) {
    ops.add(name, {.inferShapes = inferReduce,
                   .inferValues = values,
                   .upgrade = upgradeReduce,
                   .downgrade = downgradeReduce,
                   .lower = lower});
  };
  add("ReduceSum", lowerReduce<Map::none, Combine::sum, Finish::none>, reduceValues<Combine::sum>);
  add("ReduceProd", lowerReduce<Map::none, Combine::product, Finish::none>, reduceValues<Combine::product>);
  add("ReduceMax", lowerReduce<Map::none, Combine::maximum, Finish::none>, reduceValues<Combine::maximum>);
  add("ReduceMin", lowerReduce<Map::none, Combine::minimum, Finish::none>, reduceValues<Combine::minimum>);
  add("ReduceMean", lowerReduce<Map::none, Combine::sum, Finish::mean>);
  add("ReduceL1", lowerReduce<Map::absolute, Combine::sum, Finish::none>);
  add("ReduceL2", lowerReduce<Map::square, Combine::sum, Finish::squareRoot>);
  add("ReduceSumSquare", lowerReduce<Map::square, Combine::sum, Finish::none>);
  add("ReduceLogSum", lowerReduce<Map::none, Combine::sum, Finish::logarithm>);
  add("ReduceLogSumExp", lowerLogSumExp);
}
