//===- Quantize.cpp - QuantizeLinear, DequantizeLinear --------------------===//
//
//   y = saturate(round(x / scale) + zero_point)    y = (x - zero_point) * scale
//
// The scale is one number, one per index of an axis, or one per block of
// block_size indices of an axis.
//
//===----------------------------------------------------------------------===//

#include "../Elementwise.h"
#include "Dialect/VersionSteps.h"

//===----------------------------------------------------------------------===//
// Rules and types
//===----------------------------------------------------------------------===//

static FailureOr<Type> getNamedType(ShapeContext &c, StringRef attribute, Type absent) {
  int64_t number = c.integer(attribute, 0);
  if (number == 0)
    return absent;
  if (std::optional<ElementKind> kind = getElementKindOfDataType(number))
    return getElementType(c.getContext(), *kind);
  return c.emitError() << attribute << " " << number << " is no element type";
}

// The axis, which a scale of one number and an operand of rank 1 do not need.
static int64_t getAxis(Operation *op, int64_t rank) {
  auto attr = op->getAttrOfType<IntegerAttr>("axis");
  int64_t axis = attr ? attr.getInt() : 1;
  return rank <= 1 ? 0 : axis < 0 ? axis + rank : axis;
}

static int64_t getBlockSize(Operation *op) {
  auto attr = op->getAttrOfType<IntegerAttr>("block_size");
  return attr ? attr.getInt() : 0;
}

static LogicalResult checkScale(ShapeContext &c) {
  std::optional<Shape> x = c.shape(0), scale = c.shape(1), zero = c.shape(2);
  if (c.hasInput(2) && zero && scale && zero->size() != scale->size() && !(zero->size() + scale->size() == 1))
    return c.emitError() << "the zero point's rank is " << zero->size() << ", the scale's is " << scale->size();
  int64_t blockSize = c.integer("block_size", 0);
  if (blockSize < 0)
    return c.emitError() << "block_size " << blockSize << " is negative";
  if (!x || !scale || scale->empty() || (scale->size() == 1 && (*scale)[0].is(1)))
    return success();
  int64_t rank = x->size();
  if (rank > 1)
    if (failed(c.normalizeAxis(c.integer("axis", 1), rank)))
      return failure();
  if (rank == 0)
    return c.emitError() << "a scalar cannot be quantized along an axis";
  int64_t axis = getAxis(c.getOperation(), rank);
  if (blockSize == 0) {
    if (scale->size() != 1)
      return c.emitError() << "the scale must be a scalar or of rank 1, but is of rank " << scale->size();
    if ((*scale)[0].isStatic() && (*x)[axis].isStatic() && (*scale)[0].size != (*x)[axis].size)
      return c.emitError() << "there are " << (*scale)[0].size << " scales for size " << (*x)[axis].size << " of axis "
                           << axis;
    return success();
  }
  if (static_cast<int64_t>(scale->size()) != rank)
    return c.emitError() << "a blocked scale must be of rank " << rank << ", but is of rank " << scale->size();
  for (int64_t i = 0; i < rank; ++i) {
    const Dim &own = (*scale)[i], &size = (*x)[i];
    int64_t blocks = i == axis && size.isStatic() ? llvm::divideCeil(size.size, blockSize) : size.size;
    if (own.isStatic() && size.isStatic() && own.size != blocks)
      return c.emitError() << "size " << own.size << " of dimension " << i << " of the scale should be " << blocks;
  }
  return success();
}

static LogicalResult inferQuantize(ShapeContext &c) {
  Type absent = c.hasInput(2) ? c.elementType(2) : IntegerType::get(c.getContext(), 8, IntegerType::Unsigned);
  FailureOr<Type> element = getNamedType(c, "output_dtype", absent);
  if (failed(element) || failed(checkScale(c)))
    return failure();
  if (c.hasInput(2) && *element != c.elementType(2))
    return c.emitError() << "output_dtype is " << getElementName(*getElementKind(*element))
                         << ", but the zero point's type is " << getElementName(*getElementKind(c.elementType(2)));
  c.setElementType(0, *element);
  c.copyShape(0);
  return success();
}

static LogicalResult inferDequantize(ShapeContext &c) {
  FailureOr<Type> element = getNamedType(c, "output_dtype", c.elementType(1));
  if (failed(element) || failed(checkScale(c)))
    return failure();
  if (!isa<FloatType>(*element) || (*element).getIntOrFloatBitWidth() < 16)
    return c.emitError() << "a scale of type " << getElementName(*getElementKind(*element)) << " needs output_dtype";
  c.setElementType(0, *element);
  c.copyShape(0);
  return success();
}

// Version 19 allows no float scale for int32 elements.
static LogicalResult upgradeQuantize(Operation *op, PatternRewriter &rewriter) {
  SmallVector<Value> operands(op->getOperands());
  if (cast<VersionedOpInterface>(op).getNextVersion() == 19 &&
      !isa<FloatType>(getElementTypeOrSelf(operands[0].getType()))) {
    OperationState state(op->getLoc(), CastOp::getOperationName(), operands[0],
                         cast<TensorType>(operands[0].getType()).clone(rewriter.getF32Type()),
                         rewriter.getNamedAttr("to", rewriter.getI64IntegerAttr(getDataType(ElementKind::float32))));
    operands[0] = rewriter.create(state)->getResult(0);
  }
  replaceByNext(op, rewriter, operands);
  return success();
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

// A scale or zero point such that it broadcasts to the elements.
static Value spread(Operation *op, LinalgBuilder &b, Value value, Value x) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rank = getRank(x), axis = getAxis(op, rank);
  if (type.getRank() == 0)
    return value;
  if (type.getRank() == 1 && (type.getDimSize(0) == 1 || rank == 0))
    return b.fromScalar(b.extractScalar(value));
  int64_t blockSize = getBlockSize(op);
  if (blockSize == 0) {
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(1, rank - axis));
    return b.unsqueeze(value, axes);
  }
  OpFoldResult blocks = b.ceilDiv(b.dim(x, axis), b.getIndexAttr(blockSize));
  b.checkEqual(b.dim(value, axis), blocks, "the number of blocks is not the size of the axis by block_size");
  Sizes sizes = b.sizes(value);
  sizes[axis] = b.dim(x, axis);
  return b.generate(sizes, type.getElementType(), [&](ImplicitLocOpBuilder &n, ValueRange indices) -> Value {
    SmallVector<Value> at(indices);
    at[axis] = n.create<arith::DivUIOp>(at[axis], n.create<arith::ConstantIndexOp>(blockSize));
    return n.create<tensor::ExtractOp>(value, at);
  });
}

// The type that the division is done in: `precision`, or the scale's type; integers divide as f64.
static Type getPrecision(QuantizeLinearOp op) {
  Type scale = getElementType(op.getYScale());
  if (op.getPrecision() != 0)
    if (std::optional<ElementKind> kind = getElementKindOfDataType(op.getPrecision()))
      return getElementType(op.getContext(), *kind);
  if (isa<IntegerType>(scale))
    return Float64Type::get(op.getContext());
  return isa<FloatType>(scale) ? scale : Float32Type::get(op.getContext());
}

// 1 / scale in f64. The quotient of two f32 is at least 2^-49 of itself away from what lies halfway between two f32, so
// a product with this, rounded to f32, is the rounded quotient.
static Value getReciprocal(LinalgBuilder &b, Value onnxScale, Value scale) {
  auto known = onnxScale.getDefiningOp<InitializerOp>();
  if (auto values = known ? dyn_cast<DenseElementsAttr>(known.getValue()) : DenseElementsAttr()) {
    auto reciprocals = llvm::map_to_vector(values.getValues<float>(), [](float value) { return 1.0 / value; });
    return b.constant(DenseElementsAttr::get(cast<ShapedType>(values.getType().clone(b.getF64Type())),
                                             ArrayRef<double>(reciprocals)));
  }
  return b.elementwise(scale, b.getF64Type(), [](ImplicitLocOpBuilder &n, ValueRange x) -> Value {
    Value one = n.create<arith::ConstantOp>(n.getF64FloatAttr(1));
    return n.create<arith::DivFOp>(one, n.create<arith::ExtFOp>(n.getF64Type(), x[0]));
  });
}

static FailureOr<SmallVector<Value>> lowerQuantize(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto quantize = cast<QuantizeLinearOp>(op);
  Type from = getElementType(quantize.getX()), scaleType = getElementType(quantize.getYScale());
  Type to = getElementType(quantize.getY()), precision = getPrecision(quantize);
  if (!isa<FloatType>(precision) || precision.getIntOrFloatBitWidth() < 16)
    return op->emitOpError("cannot be compiled: precision ") << quantize.getPrecision();
  Type compute = scalar::getComputeType(precision);
  // What only the run knows is divided by: in vectors it takes no longer than the conversions to f64 and back.
  bool byProduct = scaleType.isF32() && precision.isF32() && quantize.getYScale().getDefiningOp<InitializerOp>();
  Value scale = byProduct ? getReciprocal(b, quantize.getYScale(), operands[1]) : operands[1];
  SmallVector<Value> inputs{operands[0], spread(op, b, scale, operands[0])};
  bool isInteger = isa<IntegerType>(to);
  std::optional<SmallVector<int64_t>> zero;
  if (operands.size() > 2 && isInteger)
    zero = b.getIntegers(quantize.getYZeroPoint());
  if (operands.size() > 2 && !(zero && llvm::all_of(*zero, [](int64_t z) { return z == 0; })))
    inputs.push_back(spread(op, b, operands[2], operands[0]));
  bool saturate = quantize.getSaturate() != 0;

  auto body = [&](ImplicitLocOpBuilder &n, ValueRange x) -> Value {
    auto constant = [&](double v) -> Value { return n.create<arith::ConstantOp>(n.getFloatAttr(compute, v)); };
    auto toPrecision = [&](Value v, Type type) {
      return scalar::decode(n, scalar::convert(n, v, type, precision), precision);
    };
    Value dividend = toPrecision(x[0], from), quotient;
    if (byProduct) {
      Value wide = n.create<arith::ExtFOp>(n.getF64Type(), dividend);
      quotient = n.create<arith::TruncFOp>(compute, n.create<arith::MulFOp>(wide, x[1]));
    } else {
      quotient = n.create<arith::DivFOp>(dividend, toPrecision(x[1], scaleType));
    }
    quotient = toPrecision(quotient, compute);
    if (!isInteger) {
      // The zero point of float8 is 0; it would only make -0 to 0.
      if (x.size() > 2 && getSeamElementType(to).isInteger(8) &&
          !isa<Float8E4M3FNType, Float8E4M3FNUZType, Float8E5M2Type, Float8E5M2FNUZType>(to))
        quotient = n.create<arith::AddFOp>(quotient, scalar::convert(n, x[2], to, compute));
      return scalar::convert(n, quotient, compute, to, saturate);
    }
    Value rounded = n.create<math::RoundEvenOp>(quotient);
    if (x.size() > 2)
      rounded = n.create<arith::AddFOp>(rounded, scalar::convert(n, x[2], to, compute));
    auto bound = [&](TypedAttr attr) {
      APInt value = cast<IntegerAttr>(attr).getValue();
      return constant(scalar::isUnsigned(to) ? static_cast<double>(value.getZExtValue())
                                             : static_cast<double>(value.getSExtValue()));
    };
    Value low = bound(scalar::getLowest(to)), high = bound(scalar::getHighest(to));
    Value clamped = n.create<arith::MinNumFOp>(n.create<arith::MaxNumFOp>(rounded, low), high);
    // It is a number of the type's, which a plain conversion keeps.
    if (Type seam = getSeamElementType(to); cast<IntegerType>(to).getWidth() <= 16 && compute.isF32())
      return n.create<arith::TruncIOp>(seam, n.create<arith::FPToSIOp>(n.getI32Type(), clamped));
    return scalar::convert(n, clamped, compute, to);
  };
  return SmallVector<Value>{b.elementwise(inputs, getSeamElementType(to), body)};
}

static FailureOr<SmallVector<Value>> lowerDequantize(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto dequantize = cast<DequantizeLinearOp>(op);
  Type from = getElementType(dequantize.getX()), scaleType = getElementType(dequantize.getXScale());
  Type to = getElementType(dequantize.getY()), f32 = b.getF32Type();
  SmallVector<Value> inputs{operands[0], spread(op, b, operands[1], operands[0])};
  if (operands.size() > 2)
    inputs.push_back(spread(op, b, operands[2], operands[0]));
  auto body = [&](ImplicitLocOpBuilder &n, ValueRange x) {
    Value value;
    if (auto integer = dyn_cast<IntegerType>(from)) {
      // Exact differences: of the 32-bit elements only an int64 holds all.
      Type wide = integer.getWidth() < 32 ? n.getI32Type() : n.getI64Type();
      value = scalar::convert(n, x[0], from, wide);
      if (x.size() > 2)
        value = n.create<arith::SubIOp>(value, scalar::convert(n, x[2], from, wide));
      value = n.create<arith::SIToFPOp>(f32, value);
    } else {
      value = scalar::decode(n, x[0], from);
      if (x.size() > 2)
        value = n.create<arith::SubFOp>(value, scalar::decode(n, x[2], from));
    }
    value = n.create<arith::MulFOp>(value, scalar::convert(n, x[1], scaleType, f32));
    return scalar::encode(n, value, to);
  };
  return SmallVector<Value>{b.elementwise(inputs, getSeamElementType(to), body)};
}

// Its computation is ONNX's function body.
static LogicalResult inferDynamicQuantize(ShapeContext &c) {
  c.copyShape(0);
  c.setShape(1, {});
  c.setShape(2, {});
  return success();
}

// Before version 13 there is one scale; 23 lets the output's type differ from the scale's.
static LogicalResult downgradeQuantization(Operation *op, PatternRewriter &rewriter) {
  int64_t previous = getPreviousVersion(op);
  std::optional<Shape> scale = getShape(op->getOperand(1).getType());
  if (previous == 10 && (!scale || !scale->empty()))
    return refuseDowngrade(op) << "it has one scale, a scalar";
  // The axis of one scale, and the saturation of integers, say nothing.
  auto output = op->getAttrOfType<IntegerAttr>("output_dtype");
  int own = getDataType(*getElementKind(getElementTypeOrSelf(op->getOperand(1).getType())));
  bool isDequantize = cast<VersionedOpInterface>(op).getOperatorName() == "DequantizeLinear";
  SmallVector<Neutral> neutral{
      {"block_size", 0}, {"output_dtype", 0}, {"precision", 0}, {"saturate", 1}, {"saturate", 0}};
  if (auto axis = op->getAttrOfType<IntegerAttr>("axis"); axis && previous == 10)
    neutral.push_back({"axis", static_cast<int>(axis.getInt())});
  if (output && isDequantize)
    neutral.push_back({"output_dtype", own});
  return downgradeStep(op, rewriter, neutral);
}

STRATA_SLICE(Quantize) {
  ops.add("QuantizeLinear", {.inferShapes = inferQuantize,
                             .upgrade = upgradeQuantize,
                             .downgrade = downgradeQuantization,
                             .lower = lowerQuantize});
  ops.add("DequantizeLinear", {.inferShapes = inferDequantize,
                               .upgrade = keepAttributes,
                               .downgrade = downgradeQuantization,
                               .lower = lowerDequantize});
  ops.add("DynamicQuantizeLinear", {.inferShapes = inferDynamicQuantize});
}
