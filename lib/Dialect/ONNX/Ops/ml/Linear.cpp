//===- Linear.cpp - LinearRegressor, SVMRegressor, OneHotEncoder ---------===//
//
// The ai.onnx.ml operators that are products with constants or comparisons with
// them. Scores are computed in f32, those of double and integer inputs in f64.
//
//===----------------------------------------------------------------------===//

#include "../Compute.h"

// The input as the type that the scores are computed in.
static Type getScoreType(Value x) {
  Type element = getElementType(x);
  return element.isF32() ? element : Type(Float64Type::get(x.getContext()));
}
static Value widenInput(LinalgBuilder &b, Value x) {
  Type type = getScoreType(x), element = getElementType(x);
  if (element == type)
    return x;
  return b.elementwise(x, type, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    return n.create<arith::SIToFPOp>(type, v[0]);
  });
}
static Value toResult(ImplicitLocOpBuilder &n, Value x) {
  return x.getType().isF32() ? x : n.create<arith::TruncFOp>(n.getF32Type(), x).getResult();
}

static Value constantFloats(LinalgBuilder &b, ArrayRef<float> values, ArrayRef<int64_t> shape, Type element) {
  SmallVector<Attribute> attrs;
  for (float value : values)
    attrs.push_back(b.getFloatAttr(element, value));
  return b.constant(DenseElementsAttr::get(RankedTensorType::get(shape, element), attrs));
}

// The number of features of a [N, F] or [F] input, checked against what the coefficients imply; the number of rows.
static FailureOr<Dim> checkFeatures(ShapeContext &c, int64_t features) {
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return Dim();
  if (shape->size() != 2)
    return c.emitError() << "needs an input of rank 2, not " << shape->size();
  if (shape->back().isStatic() && shape->back().size != features)
    return c.emitError() << "has coefficients for " << features << " features, but an input of " << shape->back().size;
  return shape->front();
}

static LogicalResult checkTransform(Operation *op) {
  if (auto transform = op->getAttrOfType<StringAttr>("post_transform"); transform && transform.getValue() != "NONE")
    return op->emitOpError("cannot be compiled: post_transform ") << transform.getValue();
  return success();
}

// scores[n, i] = start[i] + sum over f of x[n, f] * coefficients[i, f].
static Value product(LinalgBuilder &b, Value x, Value coefficients, Value start) {
  Type type = getScoreType(x);
  int64_t features = cast<RankedTensorType>(coefficients.getType()).getDimSize(1);
  b.checkEqual(b.dim(x, 1), b.getIndexAttr(features), "the input does not have a feature for each coefficient");
  auto map = [&](ArrayRef<unsigned> dims) { return AffineMap::getMultiDimMapWithTargets(3, dims, b.getContext()); };
  SmallVector<utils::IteratorType> iterators{utils::IteratorType::parallel, utils::IteratorType::parallel,
                                             utils::IteratorType::reduction};
  Value sum = contract(b, widenInput(b, x), coefficients, {map({0, 2}), map({1, 2}), map({0, 1})}, iterators,
                       {b.dim(x, 0), b.dim(coefficients, 0)}, type);
  if (!start)
    return sum;
  return b.elementwise({sum, start}, type, [&](ImplicitLocOpBuilder &n, ValueRange v) { return addScalars(n, v[0], v[1]); });
}

static Value roundScores(LinalgBuilder &b, Value scores) {
  return b.elementwise(scores, b.getF32Type(), [&](ImplicitLocOpBuilder &n, ValueRange v) { return toResult(n, v[0]); });
}

//===----------------------------------------------------------------------===//
// LinearRegressor
//===----------------------------------------------------------------------===//

static LogicalResult inferLinearRegressor(ShapeContext &c) {
  auto op = cast<LinearRegressorOp>(c.getOperation());
  int64_t targets = op.getTargets(), count = op.getCoefficients() ? op.getCoefficients()->size() : 0;
  if (targets < 1 || count == 0 || count % targets != 0)
    return c.emitError() << "has " << count << " coefficients for " << targets << " targets";
  if (auto intercepts = op.getIntercepts(); intercepts && static_cast<int64_t>(intercepts->size()) != targets)
    return c.emitError() << "has " << intercepts->size() << " intercepts for " << targets << " targets";
  FailureOr<Dim> rows = checkFeatures(c, count / targets);
  if (failed(rows))
    return failure();
  c.setShape(0, {*rows, Dim(targets)});
  return success();
}

static FailureOr<SmallVector<Value>> lowerLinearRegressor(Operation *op, ValueRange operands, LinalgBuilder &b) {
  if (failed(checkTransform(op)))
    return failure();
  auto linear = cast<LinearRegressorOp>(op);
  ArrayRef<float> coefficients = *linear.getCoefficients();
  int64_t targets = linear.getTargets(), features = coefficients.size() / targets;
  Type type = getScoreType(operands[0]);
  Value start;
  if (auto intercepts = linear.getIntercepts())
    start = constantFloats(b, *intercepts, {targets}, type);
  Value scores = product(b, operands[0], constantFloats(b, coefficients, {targets, features}, type), start);
  return SmallVector<Value>{roundScores(b, scores)};
}

//===----------------------------------------------------------------------===//
// SVMRegressor: a weighted sum of the kernel's values with the support vectors
//===----------------------------------------------------------------------===//

static LogicalResult inferSVMRegressor(ShapeContext &c) {
  auto op = cast<SVMRegressorOp>(c.getOperation());
  int64_t supports = op.getNSupports(), count = op.getCoefficients() ? op.getCoefficients()->size() : 0;
  int64_t values = op.getSupportVectors() ? op.getSupportVectors()->size() : 0;
  if (count == 0 || !op.getRho() || op.getRho()->empty())
    return c.emitError() << "needs coefficients and rho";
  if (supports < 0 || (supports > 0 && (count != supports || values == 0 || values % supports != 0)))
    return c.emitError() << "has " << count << " coefficients and " << values << " numbers of " << supports
                         << " support vectors";
  StringRef kernel = op.getKernelType();
  if (kernel != "LINEAR" && kernel != "POLY" && kernel != "RBF" && kernel != "SIGMOID")
    return c.emitError() << "'kernel_type' is '" << kernel << "', not LINEAR, POLY, RBF or SIGMOID";
  size_t parameters = op.getKernelParams() ? op.getKernelParams()->size() : 0;
  if (parameters != 3 && (parameters != 0 || kernel != "LINEAR"))
    return c.emitError() << "'kernel_params' has " << parameters << " values, not 3";
  FailureOr<Dim> rows = checkFeatures(c, supports > 0 ? values / supports : count);
  if (failed(rows))
    return failure();
  c.setShape(0, {*rows, Dim(1)});
  return success();
}

static FailureOr<SmallVector<Value>> lowerSVMRegressor(Operation *op, ValueRange operands, LinalgBuilder &b) {
  if (failed(checkTransform(op)))
    return failure();
  auto svm = cast<SVMRegressorOp>(op);
  Value x = operands[0];
  Type type = getScoreType(x);
  ArrayRef<float> coefficients = *svm.getCoefficients();
  int64_t supports = svm.getNSupports();
  Value rho = b.scalar(type, (*svm.getRho())[0]), scores;
  if (supports == 0) {
    int64_t features = coefficients.size();
    scores = product(b, x, constantFloats(b, coefficients, {1, features}, type), Value());
  } else {
    ArrayRef<float> vectors = *svm.getSupportVectors(), parameters = svm.getKernelParams().value_or(ArrayRef<float>());
    int64_t features = vectors.size() / supports;
    StringRef kernel = svm.getKernelType();
    double gamma = parameters.empty() ? 0 : parameters[0], offset = parameters.empty() ? 0 : parameters[1];
    double degree = parameters.empty() ? 0 : std::trunc(parameters[2]);
    Value table = constantFloats(b, vectors, {supports, features}, type), values;
    if (kernel == "RBF") {
      b.checkEqual(b.dim(x, 1), b.getIndexAttr(features), "the input does not have a feature for each coefficient");
      auto map = [&](ArrayRef<unsigned> dims) { return AffineMap::getMultiDimMapWithTargets(3, dims, b.getContext()); };
      SmallVector<utils::IteratorType> iterators{utils::IteratorType::parallel, utils::IteratorType::parallel,
                                                 utils::IteratorType::reduction};
      Value init = b.fill({b.dim(x, 0), b.getIndexAttr(supports)}, b.scalar(type, 0));
      values = b.create<linalg::GenericOp>(init.getType(), ValueRange{widenInput(b, x), table}, init,
                                           ArrayRef<AffineMap>{map({0, 2}), map({1, 2}), map({0, 1})}, iterators,
                                           [&](OpBuilder &nested, Location loc, ValueRange v) {
                                             ImplicitLocOpBuilder n(loc, nested);
                                             Value d = n.create<arith::SubFOp>(v[0], v[1]);
                                             Value square = n.create<arith::MulFOp>(d, d);
                                             n.create<linalg::YieldOp>(n.create<arith::AddFOp>(v[2], square).getResult());
                                           })
                   .getResult(0);
    } else {
      values = product(b, x, table, Value());
    }
    if (kernel != "LINEAR")
      values = b.elementwise(values, type, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
        if (kernel == "RBF")
          return n.create<math::ExpOp>(n.create<arith::MulFOp>(v[0], constantFloat(n, type, -gamma)));
        Value scaled = n.create<arith::AddFOp>(n.create<arith::MulFOp>(v[0], constantFloat(n, type, gamma)),
                                               constantFloat(n, type, offset));
        if (kernel == "SIGMOID")
          return n.create<math::TanhOp>(scaled);
        return n.create<math::PowFOp>(scaled, constantFloat(n, type, degree));
      });
    scores = product(b, values, constantFloats(b, coefficients, {1, supports}, type), Value());
  }
  bool oneClass = svm.getOneClass() != 0;
  return SmallVector<Value>{b.elementwise(scores, b.getF32Type(), [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    Value score = n.create<arith::AddFOp>(v[0], rho);
    if (!oneClass)
      return toResult(n, score);
    Value inside = n.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, score, constantFloat(n, type, 0));
    return n.create<arith::SelectOp>(inside, constantFloat(n, n.getF32Type(), 1), constantFloat(n, n.getF32Type(), -1));
  })};
}

//===----------------------------------------------------------------------===//
// OneHotEncoder: floating-point elements are cast to integers
//===----------------------------------------------------------------------===//

static LogicalResult inferOneHotEncoder(ShapeContext &c) {
  auto integers = c.integerArray("cats_int64s");
  auto strings = c.attr<ArrayAttr>("cats_strings");
  if (static_cast<bool>(integers) == static_cast<bool>(strings))
    return c.emitError() << "needs one of 'cats_int64s' and 'cats_strings'";
  if (std::optional<Shape> shape = c.shape(0)) {
    shape->push_back(Dim(integers ? integers->size() : strings.size()));
    c.setShape(0, *shape);
  }
  return success();
}

static FailureOr<SmallVector<Value>> lowerOneHotEncoder(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto encoder = cast<OneHotEncoderOp>(op);
  Type onnx = getElementType(op->getOperand(0)), i64 = b.getI64Type();
  if (encoder.getCatsStrings())
    return op->emitOpError("cannot be compiled: categories that are strings");
  SmallVector<int64_t> categories(*encoder.getCatsInt64s());
  int64_t rank = getRank(operands[0]), count = categories.size();
  Value keys = b.elementwise(operands[0], i64, [&](ImplicitLocOpBuilder &n, ValueRange v) {
    return scalar::convert(n, v[0], onnx, i64);
  });
  if (count == 0)
    return op->emitOpError("cannot be compiled: no categories");
  Value table = b.constant(DenseIntElementsAttr::get(RankedTensorType::get({count}, i64), categories));
  Sizes sizes = b.sizes(operands[0]);
  sizes.push_back(b.getIndexAttr(count));
  SmallVector<int64_t> last{rank};
  AffineMap keyMap = mapWithout(b.getContext(), rank + 1, last);
  AffineMap tableMap = AffineMap::get(rank + 1, 0, b.getAffineDimExpr(rank), b.getContext());
  Value result = mapElements(b, {keys, table}, {keyMap, tableMap}, sizes, b.getF32Type(),
                             [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
                               Value same = n.create<arith::CmpIOp>(arith::CmpIPredicate::eq, v[0], v[1]);
                               return n.create<arith::UIToFPOp>(n.getF32Type(), same);
                             });
  if (encoder.getZeros() == 0) {
    // Each element must be in a category: the largest number of its row is 1.
    Value found = b.reduce(result, last, false, b.scalar(b.getF32Type(), 0), [](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
      return n.create<arith::MaximumFOp>(v[0], v[1]);
    });
    SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    Value least = b.reduce(found, all, false, b.scalar(b.getF32Type(), 1), [](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
      return n.create<arith::MinimumFOp>(v[0], v[1]);
    });
    b.check(b.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, b.extractScalar(least), b.scalar(b.getF32Type(), 0)),
            "an element is in no category");
  }
  return SmallVector<Value>{result};
}

STRATA_SLICE(Linear) {
  ops.add("ml.LinearRegressor", {.inferShapes = inferLinearRegressor, .lower = lowerLinearRegressor});
  ops.add("ml.SVMRegressor", {.inferShapes = inferSVMRegressor, .lower = lowerSVMRegressor});
  ops.add("ml.OneHotEncoder", {.inferShapes = inferOneHotEncoder, .lower = lowerOneHotEncoder});
}
