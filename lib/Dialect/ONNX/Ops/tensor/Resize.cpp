//===- Resize.cpp - Resize and Upsample -----------------------------------===//
//
// Separable: per resized axis a table of taps and weights, applied one axis
// after the other. The result element o of an axis lies at the position x(o) of
// the input (coordinate_transformation_mode); with base = ceil(x) - 1 and
// r = x - base in (0, 1] tap t is the element base + t at the distance
// |t - r|, weighted by the kernel of the mode (linear: 1 - d, cubic: Keys).
//
//===----------------------------------------------------------------------===//

#include "../Compute.h"
#include "Conversion/RuntimeCalls.h"
#include "Dialect/VersionSteps.h"

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

// Which inputs are the scales and the sizes: by version.
static unsigned scalesInput(ShapeContext &c) { return c.version() >= 11 ? 2 : 1; }

static bool isPresent(Value value) {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  return value && !(type && type.hasStaticShape() && type.getNumElements() == 0);
}

static FailureOr<SmallVector<int64_t>> getAxes(ShapeContext &c, int64_t rank) {
  SmallVector<int64_t> axes;
  auto list = c.integerArray("axes");
  if (!list)
    return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  for (int64_t axis : *list) {
    FailureOr<int64_t> normal = c.normalizeAxis(axis, rank);
    if (failed(normal))
      return failure();
    if (llvm::is_contained(axes, *normal))
      return c.emitError() << "has axis " << *normal << " twice in its axes";
    axes.push_back(*normal);
  }
  return axes;
}

static LogicalResult inferResize(ShapeContext &c) {
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return success();
  FailureOr<SmallVector<int64_t>> axes = getAxes(c, shape->size());
  if (failed(axes))
    return failure();
  Shape result = *shape;
  for (int64_t axis : *axes)
    result[axis] = Dim();
  bool stretch = c.string("keep_aspect_ratio_policy", "stretch") == "stretch";
  std::optional<SmallVector<double>> scales;
  bool isUpsample = StringRef(c.getOperation()->getName().stripDialect()).starts_with("Upsample");
  if (isUpsample && c.version() < 9) {
    if (auto list = c.attr<DenseF32ArrayAttr>("scales"))
      scales.emplace(list.asArrayRef().begin(), list.asArrayRef().end());
    else if (auto height = c.attr<FloatAttr>("height_scale"))
      scales =
          SmallVector<double>{1, 1, height.getValueAsDouble(), c.attr<FloatAttr>("width_scale").getValueAsDouble()};
  } else if (isPresent(c.input(scalesInput(c)))) {
    scales = c.floats(scalesInput(c));
  }
  auto sizes = c.version() >= 11 && isPresent(c.input(3)) ? c.values(3) : std::nullopt;
  if (c.version() >= 13 && isPresent(c.input(2)) == isPresent(c.input(3)))
    return c.emitError() << "needs either scales or sizes";
  if (scales && scales->size() != axes->size())
    return c.emitError() << "has " << scales->size() << " scales for " << axes->size() << " axes";
  if (sizes && sizes->size() != axes->size())
    return c.emitError() << "has " << sizes->size() << " sizes for " << axes->size() << " axes";
  for (auto [k, axis] : llvm::enumerate(*axes)) {
    const Dim &dim = (*shape)[axis];
    if (sizes && stretch)
      result[axis] = (*sizes)[k];
    else if (scales && !sizes) {
      if ((*scales)[k] <= 0)
        return c.emitError() << "has the scale " << (*scales)[k];
      if ((*scales)[k] == 1)
        result[axis] = dim;
      else if (dim.isStatic())
        result[axis] = Dim(static_cast<int64_t>(std::floor(dim.size * (*scales)[k])));
    }
  }
  c.setShape(0, result);
  return success();
}

//===----------------------------------------------------------------------===//
// Versions
//===----------------------------------------------------------------------===//

static LogicalResult upgradeResize(Operation *op, PatternRewriter &rewriter) {
  auto versioned = cast<VersionedOpInterface>(op);
  SmallVector<NamedAttribute> attrs = attributesWithout(op);
  auto input = [&](unsigned formal) { return getFormalInput(op, formal); };
  auto string = [&](StringRef name, StringRef absent) {
    auto attr = op->getAttrOfType<StringAttr>(name);
    return attr ? attr.getValue() : absent;
  };
  if (versioned.getSinceVersion() == 10) {
    // Its coordinates were unwritten; runtimes divide by the scale, and round down to enlarge and up to shrink.
    bool shrinks = false, enlarges = false;
    if (auto scales = getFloats(getConstant(input(1))))
      for (double scale : *scales)
        (scale < 1 ? shrinks : enlarges) |= scale != 1;
    attrs.push_back(rewriter.getNamedAttr("coordinate_transformation_mode", rewriter.getStringAttr("asymmetric")));
    attrs.push_back(
        rewriter.getNamedAttr("nearest_mode", rewriter.getStringAttr(shrinks && !enlarges ? "ceil" : "floor")));
    auto none = DenseElementsAttr::get(RankedTensorType::get({0}, rewriter.getF32Type()), ArrayRef<float>());
    Value roi = rewriter.create<InitializerOp>(op->getLoc(), none);
    replaceByVersion(op, rewriter, getNextVersion(op), {input(0), roi, input(1)}, attrs);
    return success();
  }
  if (versioned.getSinceVersion() == 11 &&
      string("coordinate_transformation_mode", "half_pixel") == "tf_half_pixel_for_nn") {
    if (string("mode", "nearest") != "nearest" || string("nearest_mode", "round_prefer_floor") != "floor")
      return op->emitOpError("cannot be upgraded to version 13: tf_half_pixel_for_nn is no longer there, and only the "
                             "nearest element rounded down has another name");
    attrs = attributesWithout(op, {"coordinate_transformation_mode", "nearest_mode"});
    attrs.push_back(rewriter.getNamedAttr("nearest_mode", rewriter.getStringAttr("round_prefer_ceil")));
  }
  auto present = [&](unsigned formal) { return isPresent(input(formal)) ? input(formal) : Value(); };
  replaceByVersion(op, rewriter, getNextVersion(op), {input(0), present(1), present(2), present(3)}, attrs);
  return success();
}

static LogicalResult upgradeUpsample(Operation *op, PatternRewriter &rewriter) {
  int64_t version = cast<VersionedOpInterface>(op).getSinceVersion();
  Location loc = op->getLoc();
  if (version == 1) {
    auto mode = op->getAttrOfType<StringAttr>("mode");
    float height = op->getAttrOfType<FloatAttr>("height_scale").getValueAsDouble();
    float width = op->getAttrOfType<FloatAttr>("width_scale").getValueAsDouble();
    StringRef name = mode && mode.getValue() == "bilinear" ? "linear" : "nearest";
    replaceByNext(op, rewriter, op->getOperand(0), {"height_scale", "width_scale"},
                  {rewriter.getNamedAttr("mode", rewriter.getStringAttr(name)),
                   rewriter.getNamedAttr("scales", rewriter.getDenseF32ArrayAttr({1, 1, height, width}))});
    return success();
  }
  SmallVector<Value> inputs(op->getOperands());
  if (version == 7) {
    auto scales = op->getAttrOfType<DenseF32ArrayAttr>("scales");
    auto type = RankedTensorType::get({scales.size()}, rewriter.getF32Type());
    inputs.push_back(rewriter.create<InitializerOp>(loc, DenseElementsAttr::get(type, scales.asArrayRef())));
    replaceByNext(op, rewriter, inputs, {"scales"});
    return success();
  }
  // The deprecated operator was renamed.
  rewriter.replaceOp(op,
                     createVersion(rewriter, loc, "Resize", 10, inputs, attributesWithout(op), op->getResultTypes()));
  return success();
}

// To version 10, which divides coordinates by the scale, and rounds down to enlarge and up to shrink.
static LogicalResult downgradeToScales(Operation *op, PatternRewriter &rewriter) {
  auto string = [&](StringRef name, StringRef absent) {
    auto attr = op->getAttrOfType<StringAttr>(name);
    return attr ? attr.getValue() : absent;
  };
  StringRef mode = string("mode", "nearest");
  if (string("coordinate_transformation_mode", "half_pixel") != "asymmetric" || mode == "cubic")
    return refuseDowngrade(op) << "its only coordinates are those of the mode asymmetric, nearest or linear";
  if (auto exclude = op->getAttrOfType<IntegerAttr>("exclude_outside"); exclude && exclude.getInt() != 0)
    return refuseDowngrade(op) << "it has no attribute 'exclude_outside'";
  auto scales = getFloats(getConstant(getFormalInput(op, 2)));
  if (isPresent(getFormalInput(op, 3)) || !scales)
    return refuseDowngrade(op) << "it has only scales, and which way they round must be known";
  bool shrinks = llvm::any_of(*scales, [](double scale) { return scale < 1; });
  bool enlarges = llvm::any_of(*scales, [](double scale) { return scale > 1; });
  if (mode == "nearest" &&
      ((shrinks && enlarges) || string("nearest_mode", "round_prefer_floor") != (shrinks ? "ceil" : "floor")))
    return refuseDowngrade(op) << "its nearest element is the one below to enlarge, and the one above to shrink";
  return replaceByPrevious(
      op, rewriter, {op->getOperand(0), getFormalInput(op, 2)},
      {"coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside", "extrapolation_value", "nearest_mode"});
}

static LogicalResult downgradeResize(Operation *op, PatternRewriter &rewriter) {
  int64_t previous = getPreviousVersion(op);
  auto coordinates = op->getAttrOfType<StringAttr>("coordinate_transformation_mode");
  if (previous < 19 && coordinates && coordinates == "half_pixel_symmetric")
    return refuseDowngrade(op) << "it has no coordinate_transformation_mode 'half_pixel_symmetric'";
  if (previous == 10)
    return downgradeToScales(op, rewriter);
  if (previous != 11)
    return downgradeStep(op, rewriter, {{"antialias", 0}, {"keep_aspect_ratio_policy", "stretch"}});
  // What is absent is an empty tensor there.
  auto empty = DenseElementsAttr::get(RankedTensorType::get({0}, rewriter.getF32Type()), ArrayRef<float>());
  SmallVector<Value> inputs;
  for (unsigned i = 0; i < 4; ++i)
    inputs.push_back(getFormalInput(op, i));
  for (Value &input : MutableArrayRef(inputs).slice(1, 2))
    if (!input)
      input = rewriter.create<InitializerOp>(op->getLoc(), empty);
  return replaceByPrevious(op, rewriter, inputs);
}

static LogicalResult downgradeUpsample(Operation *op, PatternRewriter &rewriter) {
  int64_t previous = getPreviousVersion(op);
  if (previous == 7) {
    auto scales = getFloats(getConstant(op->getOperand(1)));
    if (!scales)
      return refuseDowngrade(op) << "'scales' is a run-time input, there an attribute";
    SmallVector<float> list(scales->begin(), scales->end());
    return replaceByPrevious(op, rewriter, op->getOperand(0), {},
                             rewriter.getNamedAttr("scales", rewriter.getDenseF32ArrayAttr(list)));
  }
  if (previous != 1)
    return downgradeStep(op, rewriter);
  auto scales = op->getAttrOfType<DenseF32ArrayAttr>("scales");
  if (scales.size() != 4 || scales[0] != 1 || scales[1] != 1)
    return refuseDowngrade(op) << "it enlarges the last two of four dimensions only";
  auto mode = op->getAttrOfType<StringAttr>("mode");
  SmallVector<NamedAttribute> attrs{rewriter.getNamedAttr("height_scale", rewriter.getF32FloatAttr(scales[2])),
                                    rewriter.getNamedAttr("width_scale", rewriter.getF32FloatAttr(scales[3]))};
  if (mode && mode == "linear")
    attrs.push_back(rewriter.getNamedAttr("mode", rewriter.getStringAttr("bilinear")));
  return replaceByPrevious(op, rewriter, op->getOperand(0), {"scales"}, attrs);
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

namespace {
/// One resized axis.
struct Axis {
  int64_t dim;
  OpFoldResult from, to;
  /// The scale is the sizes' ratio: 1 where they turn out to be equal.
  bool fits = false;
  /// f64, and f64 positions of the region in [0, 1] (tf_crop_and_resize).
  Value scale, start, end;
};

struct Settings {
  StringRef coordinates, mode, nearest;
  bool antialias, excludeOutside;
  double cubic;
};
} // namespace

static Value f64Constant(ImplicitLocOpBuilder &b, double value) {
  return b.create<arith::ConstantOp>(b.getF64FloatAttr(value));
}

static Value toF64(ImplicitLocOpBuilder &b, Value index) {
  Value integer = b.createOrFold<arith::IndexCastOp>(b.getI64Type(), index);
  return b.createOrFold<arith::SIToFPOp>(b.getF64Type(), integer);
}

static Value toIndex(ImplicitLocOpBuilder &b, Value value) {
  return b.create<arith::IndexCastOp>(b.getIndexType(), b.create<arith::FPToSIOp>(b.getI64Type(), value));
}

// The position of result element `o` (f64) in the input.
static Value getPosition(ImplicitLocOpBuilder &b, const Settings &settings, const Axis &axis, Value o, Value from,
                         Value to) {
  Value half = f64Constant(b, 0.5), one = f64Constant(b, 1), zero = f64Constant(b, 0);
  auto add = [&](Value x, Value y) -> Value { return b.create<arith::AddFOp>(x, y); };
  auto sub = [&](Value x, Value y) -> Value { return b.create<arith::SubFOp>(x, y); };
  auto mul = [&](Value x, Value y) -> Value { return b.create<arith::MulFOp>(x, y); };
  auto div = [&](Value x, Value y) -> Value { return b.create<arith::DivFOp>(x, y); };
  auto halfPixel = [&] { return sub(div(add(o, half), axis.scale), half); };
  StringRef mode = settings.coordinates;
  if (mode == "asymmetric")
    return div(o, axis.scale);
  if (mode == "half_pixel")
    return halfPixel();
  // The exact, not the rounded length of the result.
  Value length = mul(axis.scale, from);
  Value single = b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, length, one);
  if (mode == "pytorch_half_pixel") {
    Value isOne = b.create<arith::CmpFOp>(arith::CmpFPredicate::OLE, to, one);
    return b.create<arith::SelectOp>(isOne, zero, halfPixel());
  }
  if (mode == "half_pixel_symmetric") {
    Value offset = mul(div(from, f64Constant(b, 2)), sub(one, div(to, length)));
    return add(offset, halfPixel());
  }
  Value last = sub(from, one);
  if (mode == "align_corners")
    return b.create<arith::SelectOp>(single, zero, div(mul(o, last), sub(length, one)));
  // tf_crop_and_resize
  Value extent = sub(axis.end, axis.start);
  Value several = add(mul(axis.start, last), div(mul(mul(o, extent), last), sub(length, one)));
  Value centre = mul(mul(half, add(axis.start, axis.end)), last);
  return b.create<arith::SelectOp>(single, centre, several);
}

static Value clampIndex(ImplicitLocOpBuilder &b, Value index, Value size) {
  Value zero = b.create<arith::ConstantIndexOp>(0), one = b.create<arith::ConstantIndexOp>(1);
  return b.create<arith::MaxSIOp>(b.create<arith::MinSIOp>(index, b.create<arith::SubIOp>(size, one)), zero);
}

static Value getNearest(ImplicitLocOpBuilder &b, StringRef mode, Value x) {
  Value half = f64Constant(b, 0.5);
  Value rounded;
  if (mode == "floor")
    rounded = b.create<math::FloorOp>(x);
  else if (mode == "ceil")
    rounded = b.create<math::CeilOp>(x);
  else if (mode == "round_prefer_ceil")
    rounded = b.create<math::FloorOp>(b.create<arith::AddFOp>(x, half));
  else
    rounded = b.create<math::CeilOp>(b.create<arith::SubFOp>(x, half));
  return toIndex(b, rounded);
}

/// The whole number of times that each element along `axis` is repeated, the first one first, where that is all that
/// the nearest elements are; else 1.
static int64_t getRepetitions(const Settings &settings, const Axis &axis) {
  FloatAttr scale;
  if (!matchPattern(axis.scale, m_Constant(&scale)))
    return 1;
  double factor = scale.getValueAsDouble();
  int64_t count = factor >= 2 && factor <= 64 ? static_cast<int64_t>(factor) : 1;
  std::optional<int64_t> from = getConstantIntValue(axis.from), to = getConstantIntValue(axis.to);
  bool isWhole = from && to && count == factor && *to == *from * count;
  bool centred = settings.coordinates == "half_pixel" || settings.coordinates == "pytorch_half_pixel" ||
                 settings.coordinates == "half_pixel_symmetric";
  if (!isWhole || (!centred && settings.coordinates != "asymmetric"))
    return 1;
  for (int64_t i = 0; i < count; ++i) {
    double x = centred ? (i + 0.5) / factor - 0.5 : i / factor;
    double nearest = settings.nearest == "floor"               ? std::floor(x)
                     : settings.nearest == "ceil"              ? std::ceil(x)
                     : settings.nearest == "round_prefer_ceil" ? std::floor(x + 0.5)
                                                               : std::ceil(x - 0.5);
    if (nearest != 0)
      return 1;
  }
  return count;
}

// The kernel at a distance (f64, not negative).
static Value getWeight(ImplicitLocOpBuilder &b, const Settings &settings, Value d) {
  Value one = f64Constant(b, 1), zero = f64Constant(b, 0);
  auto add = [&](Value x, Value y) -> Value { return b.create<arith::AddFOp>(x, y); };
  auto mul = [&](Value x, Value y) -> Value { return b.create<arith::MulFOp>(x, y); };
  if (settings.mode == "linear")
    return b.create<arith::MaximumFOp>(b.create<arith::SubFOp>(one, d), zero);
  double a = settings.cubic;
  // Keys: (a + 2) d^3 - (a + 3) d^2 + 1 up to 1, a d^3 - 5a d^2 + 8a d - 4a up to 2.
  Value inner = add(mul(mul(add(mul(f64Constant(b, a + 2), d), f64Constant(b, -(a + 3))), d), d), one);
  Value outer = add(mul(add(mul(add(mul(f64Constant(b, a), d), f64Constant(b, -5 * a)), d), f64Constant(b, 8 * a)), d),
                    f64Constant(b, -4 * a));
  Value isInner = b.create<arith::CmpFOp>(arith::CmpFPredicate::OLE, d, one);
  Value isOuter = b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, d, f64Constant(b, 2));
  return b.create<arith::SelectOp>(isInner, inner, b.create<arith::SelectOp>(isOuter, outer, zero));
}

// Resizes one axis of a tensor of a floating-point type by weighted taps.
static Value interpolate(LinalgBuilder &b, const Settings &settings, const Axis &axis, Value data,
                         Value extrapolation) {
  auto type = cast<RankedTensorType>(data.getType());
  int64_t rank = type.getRank();
  Type element = type.getElementType(), f64 = b.getF64Type();
  Value size = b.index(axis.from), from = toF64(b, size), to = toF64(b, b.index(axis.to));
  double support = settings.mode == "linear" ? 1 : 2;
  // Shrinking with antialias widens the kernel: support / scale elements to each side.
  Value squeeze = f64Constant(b, 1);
  OpFoldResult first = b.getIndexAttr(settings.mode == "linear" ? 0 : -1);
  if (settings.antialias) {
    squeeze = b.createOrFold<arith::MinimumFOp>(axis.scale, squeeze);
    Value reach = b.createOrFold<arith::DivFOp>(f64Constant(b, -support), squeeze);
    Value start = b.createOrFold<arith::AddFOp>(b.createOrFold<math::FloorOp>(reach), f64Constant(b, 1));
    first = toIndex(b, start);
  }
  OpFoldResult taps = b.sub(b.getIndexAttr(2), b.mul(b.getIndexAttr(2), first));
  Value firstTap = b.index(first);
  auto positionOf = [&](ImplicitLocOpBuilder &body, Value o) {
    return getPosition(body, settings, axis, toF64(body, o), from, to);
  };
  auto baseOf = [&](ImplicitLocOpBuilder &body, Value x) -> Value {
    return body.create<arith::SubFOp>(body.create<math::CeilOp>(x), f64Constant(body, 1));
  };
  Value weights = b.generate({axis.to, taps}, f64, [&](ImplicitLocOpBuilder &body, ValueRange at) -> Value {
    Value x = positionOf(body, at[0]), base = baseOf(body, x), ratio = body.create<arith::SubFOp>(x, base);
    Value tap = body.create<arith::AddIOp>(at[1], firstTap);
    Value distance = body.create<math::AbsFOp>(body.create<arith::SubFOp>(toF64(body, tap), ratio));
    Value weight = getWeight(body, settings, body.create<arith::MulFOp>(distance, squeeze));
    if (settings.excludeOutside) {
      Value source = body.create<arith::AddIOp>(toIndex(body, base), tap);
      Value inside = body.create<arith::CmpIOp>(arith::CmpIPredicate::ult, source, size);
      weight = body.create<arith::SelectOp>(inside, weight, f64Constant(body, 0));
    }
    return weight;
  });
  if (settings.antialias || settings.excludeOutside) {
    Value sums =
        b.reduce(weights, {1}, true, f64Constant(b, 0), [](ImplicitLocOpBuilder &body, ValueRange args) -> Value {
          return body.create<arith::AddFOp>(args[0], args[1]);
        });
    weights = b.elementwise({weights, sums}, f64, [](ImplicitLocOpBuilder &body, ValueRange args) -> Value {
      return body.create<arith::DivFOp>(args[0], args[1]);
    });
  }
  Value sources =
      b.generate({axis.to, taps}, b.getIndexType(), [&](ImplicitLocOpBuilder &body, ValueRange at) -> Value {
        Value base = toIndex(body, baseOf(body, positionOf(body, at[0])));
        Value source = body.create<arith::AddIOp>(base, body.create<arith::AddIOp>(at[1], firstTap));
        return clampIndex(body, source, size);
      });

  Sizes sizes = b.sizes(data);
  sizes[axis.dim] = axis.to;
  Value init = b.fill(sizes, b.scalar(element, 0));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  AffineMap table =
      AffineMap::get(rank + 1, 0, {b.getAffineDimExpr(axis.dim), b.getAffineDimExpr(rank)}, b.getContext());
  AffineMap result = b.getMultiDimIdentityMap(rank + 1).dropResult(rank);
  auto sum = b.create<linalg::GenericOp>(
      init.getType(), ValueRange{weights, sources}, init, ArrayRef<AffineMap>{table, table, result}, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        ImplicitLocOpBuilder body(loc, nested);
        SmallVector<Value> at;
        for (int64_t i = 0; i < rank; ++i)
          at.push_back(i == axis.dim ? args[1] : body.create<linalg::IndexOp>(i).getResult());
        Value weight = args[0];
        if (element != f64)
          weight = body.create<arith::TruncFOp>(element, weight);
        Value product = body.create<arith::MulFOp>(weight, body.create<tensor::ExtractOp>(data, at));
        body.create<linalg::YieldOp>(body.create<arith::AddFOp>(args[2], product).getResult());
      });
  if (settings.coordinates != "tf_crop_and_resize") {
    if (axis.fits)
      sum->setDiscardableAttr(kResamples, b.getUnitAttr());
    return sum.getResult(0);
  }
  return b.elementwise(sum.getResult(0), element, [&](ImplicitLocOpBuilder &body, ValueRange args) -> Value {
    Value x = positionOf(body, body.create<linalg::IndexOp>(axis.dim));
    Value last = body.create<arith::SubFOp>(from, f64Constant(body, 1));
    Value inside =
        body.create<arith::AndIOp>(body.create<arith::CmpFOp>(arith::CmpFPredicate::OGE, x, f64Constant(body, 0)),
                                   body.create<arith::CmpFOp>(arith::CmpFPredicate::OLE, x, last));
    return body.create<arith::SelectOp>(inside, args[0], extrapolation);
  });
}

/// Along the last axis elements are gathered, along the others whole vectors are added: it comes when there is least of
/// the others, after those that shrink and before those that grow, as what is resized to another tensor's size mostly
/// does.
static void sortAxes(SmallVectorImpl<Axis> &axes, int64_t rank) {
  auto place = [rank](const Axis &axis) {
    FloatAttr scale;
    bool shrinks = matchPattern(axis.scale, m_Constant(&scale)) && scale.getValueAsDouble() <= 1;
    return axis.dim == rank - 1 ? 1 : shrinks ? 0 : 2;
  };
  llvm::stable_sort(axes, [&](const Axis &x, const Axis &y) { return place(x) < place(y); });
}

static FailureOr<SmallVector<Value>> lowerResize(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto resize = cast<ResizeOp>(op);
  Value data = operands[0];
  auto type = cast<RankedTensorType>(data.getType());
  int64_t rank = type.getRank();
  Settings settings{resize.getCoordinateTransformationMode(),
                    resize.getMode(),
                    resize.getNearestMode(),
                    resize.getAntialias() != 0,
                    resize.getExcludeOutside() != 0,
                    resize.getCubicCoeffA().convertToDouble()};
  if (settings.mode != "nearest" && settings.mode != "linear" && settings.mode != "cubic")
    return op->emitOpError("has the unknown mode '") << settings.mode << "'";
  Type onnx = getElementType(op->getOperand(0));
  if (settings.mode != "nearest" && isa<StringType>(onnx))
    return op->emitOpError("cannot be compiled: it interpolates strings");
  Type f64 = b.getF64Type();
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (auto list = op->getAttrOfType<DenseI64ArrayAttr>("axes")) {
    axes.clear();
    for (int64_t axis : list.asArrayRef())
      axes.push_back(axis < 0 ? axis + rank : axis);
  }
  Value scales = isPresent(b.onnxOperand(2)) ? b.operand(2) : Value();
  Value sizes = isPresent(b.onnxOperand(3)) ? b.operand(3) : Value();
  if (!scales == !sizes)
    return op->emitOpError("needs either scales or sizes");
  b.checkEqual(b.dim(scales ? scales : sizes, 0), b.getIndexAttr(axes.size()),
               "there is not one scale (size) per axis");
  std::optional<Shape> shape = getShape(op->getResult(0).getType());
  auto floatElement = [&](Value tensor, int64_t i) -> Value {
    Value element = b.createOrFold<tensor::ExtractOp>(tensor, ValueRange{b.index(i)});
    return element.getType() == f64 ? element : b.createOrFold<arith::ExtFOp>(f64, element);
  };
  SmallVector<Axis> list;
  StringRef policy = resize.getKeepAspectRatioPolicy();
  std::optional<SmallVector<double>> known = scales ? getFloats(getConstant(b.onnxOperand(2))) : std::nullopt;
  Value common;
  for (auto [k, dim] : llvm::enumerate(axes)) {
    Axis axis;
    axis.dim = dim;
    axis.from = b.dim(data, dim);
    Value from = toF64(b, b.index(axis.from));
    if (scales) {
      axis.scale = known ? f64Constant(b, (*known)[k]) : floatElement(scales, k);
      std::optional<OpFoldResult> size = b.knownSize((*shape)[dim]);
      axis.to =
          size ? *size : OpFoldResult(toIndex(b, b.create<math::FloorOp>(b.create<arith::MulFOp>(axis.scale, from))));
      if (!known)
        b.check(b.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, axis.scale, f64Constant(b, 0)),
                "a scale is not positive");
    } else {
      ValueAnalysis::Values values = b.getAnalysis().get(b.onnxOperand(3));
      std::optional<OpFoldResult> size = values ? b.knownSize((*values)[k]) : std::nullopt;
      axis.to = size ? *size : b.element(sizes, k);
      if (!getConstantIntValue(axis.to))
        b.check(b.compare(arith::CmpIPredicate::sge, axis.to, b.getIndexAttr(0)), "a size is negative");
      axis.scale = b.createOrFold<arith::DivFOp>(toF64(b, b.index(axis.to)), from);
      if (common && policy != "stretch")
        common = policy == "not_larger" ? b.createOrFold<arith::MinimumFOp>(common, axis.scale)
                                        : b.createOrFold<arith::MaximumFOp>(common, axis.scale);
      else
        common = axis.scale;
      axis.fits = policy == "stretch";
    }
    list.push_back(axis);
  }
  if (sizes && policy != "stretch")
    for (Axis &axis : list) {
      axis.scale = common;
      Value exact = b.create<arith::MulFOp>(common, toF64(b, b.index(axis.from)));
      axis.to = toIndex(b, b.create<math::FloorOp>(b.create<arith::AddFOp>(exact, f64Constant(b, 0.5))));
    }
  bool crops = settings.coordinates == "tf_crop_and_resize";
  if (crops) {
    if (!isPresent(b.onnxOperand(1)))
      return op->emitOpError("needs a region of interest for tf_crop_and_resize");
    b.checkEqual(b.dim(b.operand(1), 0), b.getIndexAttr(2 * axes.size()),
                 "the region does not have two elements per axis");
    for (auto [k, axis] : llvm::enumerate(list)) {
      axis.start = floatElement(b.operand(1), k);
      axis.end = floatElement(b.operand(1), k + axes.size());
    }
  }
  // Axes that stay as they are, of whatever size.
  llvm::erase_if(list, [&](const Axis &axis) {
    FloatAttr one;
    bool keepsSize = axis.fits && axis.to == axis.from;
    return !crops && (keepsSize || (matchPattern(axis.scale, m_Constant(&one)) && one.getValueAsDouble() == 1.0));
  });
  for (const Axis &axis : list)
    b.check(b.compare(arith::CmpIPredicate::sgt, axis.from, b.getIndexAttr(0)),
            "there is nothing to resize in dimension " + Twine(axis.dim));
  double outside = resize.getExtrapolationValue().convertToDouble();

  // Elements that are repeated need no table.
  auto isRepeated = [&](const Axis &axis) { return getRepetitions(settings, axis) > 1; };
  if (settings.mode == "nearest" && llvm::all_of(list, isRepeated)) {
    Sizes single, repeated, result = b.sizes(data);
    for (int64_t dim = 0; dim < rank; ++dim) {
      single.push_back(result[dim]);
      repeated.push_back(result[dim]);
      for (const Axis &axis : list)
        if (axis.dim == dim) {
          single.push_back(b.getIndexAttr(1));
          repeated.push_back(b.getIndexAttr(getRepetitions(settings, axis)));
          result[dim] = axis.to;
        }
    }
    return SmallVector<Value>{b.reshape(b.broadcast(b.reshape(data, single), repeated), result)};
  }

  if (settings.mode == "nearest") {
    Sizes result = b.sizes(data);
    SmallVector<Value> tables, insides;
    for (const Axis &axis : list) {
      result[axis.dim] = axis.to;
      Value size = b.index(axis.from), from = toF64(b, size), to = toF64(b, b.index(axis.to));
      tables.push_back(b.generate({axis.to}, b.getIndexType(), [&](ImplicitLocOpBuilder &body, ValueRange at) -> Value {
        Value x = getPosition(body, settings, axis, toF64(body, at[0]), from, to);
        Value source = clampIndex(body, getNearest(body, settings.nearest, x), size);
        if (!crops)
          return source;
        // -1 marks what lies outside.
        Value last = body.create<arith::SubFOp>(from, f64Constant(body, 1));
        Value inside =
            body.create<arith::AndIOp>(body.create<arith::CmpFOp>(arith::CmpFPredicate::OGE, x, f64Constant(body, 0)),
                                       body.create<arith::CmpFOp>(arith::CmpFPredicate::OLE, x, last));
        return body.create<arith::SelectOp>(inside, source, body.create<arith::ConstantIndexOp>(-1));
      }));
    }
    Type element = type.getElementType();
    Value text; // the extrapolation value as Cast writes it
    if (crops && isa<StringType>(onnx))
      text = callRuntime(b, "strata_rt_string_from_float", {f64Constant(b, outside), dtypeOf(b, b.getF32Type())},
                         b.getI64Type());
    Value resized = b.generate(result, element, [&](ImplicitLocOpBuilder &body, ValueRange at) -> Value {
      SmallVector<Value> source(at);
      Value inside;
      Value zero = body.create<arith::ConstantIndexOp>(0);
      for (auto [axis, table] : llvm::zip_equal(list, tables)) {
        Value position = body.create<tensor::ExtractOp>(table, at[axis.dim]);
        source[axis.dim] = position;
        if (crops) {
          Value is = body.create<arith::CmpIOp>(arith::CmpIPredicate::sge, position, zero);
          inside = inside ? body.create<arith::AndIOp>(inside, is).getResult() : is;
          source[axis.dim] = body.create<arith::MaxSIOp>(position, zero);
        }
      }
      Value value = body.create<tensor::ExtractOp>(data, source);
      if (!crops)
        return value;
      Value other = text;
      if (auto complexType = dyn_cast<ComplexType>(element)) {
        Type part = complexType.getElementType();
        other = body.create<complex::CreateOp>(complexType, constantFloat(body, part, outside),
                                               constantFloat(body, part, 0));
      } else if (!other) {
        other = scalar::convert(body, f64Constant(body, outside), body.getF64Type(), onnx);
      }
      return body.create<arith::SelectOp>(inside, value, other);
    });
    if (!crops && llvm::all_of(list, [](const Axis &axis) { return axis.fits; }))
      resized.getDefiningOp()->setDiscardableAttr(kResamples, b.getUnitAttr());
    return SmallVector<Value>{resized};
  }

  // The parts of complex numbers one by one.
  if (auto complexType = dyn_cast<ComplexType>(onnx)) {
    Type part = complexType.getElementType();
    SmallVector<Value> parts;
    for (bool real : {true, false}) {
      Value current = b.elementwise(data, part, [&](ImplicitLocOpBuilder &body, ValueRange args) -> Value {
        return real ? body.create<complex::ReOp>(args[0]).getResult() : body.create<complex::ImOp>(args[0]).getResult();
      });
      for (const Axis &axis : list)
        current = interpolate(b, settings, axis, current, b.scalar(part, real ? outside : 0));
      parts.push_back(current);
    }
    return SmallVector<Value>{b.elementwise(parts, onnx, [&](ImplicitLocOpBuilder &body, ValueRange args) -> Value {
      return body.create<complex::CreateOp>(complexType, args[0], args[1]);
    })};
  }

  // Integers are interpolated in double precision and rounded towards zero; a bool is true where the result is not
  // zero.
  Type compute = isa<FloatType>(onnx) && !onnx.isF64() ? b.getF32Type() : Type(f64);
  Value current = data;
  if (type.getElementType() != compute)
    current = b.elementwise(data, compute, [&](ImplicitLocOpBuilder &body, ValueRange args) {
      return scalar::convert(body, args[0], onnx, compute);
    });
  if (compute.isF32())
    sortAxes(list, rank);
  for (const Axis &axis : list)
    current = interpolate(b, settings, axis, current, b.scalar(compute, outside));
  if (type.getElementType() != compute)
    current = b.elementwise(current, type.getElementType(), [&](ImplicitLocOpBuilder &body, ValueRange args) {
      return scalar::convert(body, args[0], compute, onnx);
    });
  return SmallVector<Value>{current};
}

STRATA_SLICE(Resize) {
  ops.add("Resize", {.inferShapes = inferResize,
                     .upgrade = upgradeResize,
                     .downgrade = downgradeResize,
                     .lower = lowerResize,
                     .handles = true});
  ops.add("Upsample", {.inferShapes = inferResize, .upgrade = upgradeUpsample, .downgrade = downgradeUpsample});
}
