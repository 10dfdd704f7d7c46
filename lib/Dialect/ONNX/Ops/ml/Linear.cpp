//===- Linear.cpp - LinearRegressor, LinearClassifier --------------------===//
//
// Products of the features with constants. Scores are computed in f32, those of
// double and integer inputs in f64.
//
// A classifier with one row of coefficients for two labels has the score s of
// the second one; that of the first is -s.
//
//===----------------------------------------------------------------------===//

#include "../Scores.h"

// The intercepts, which must be as many as there are scores, or none.
static FailureOr<ArrayRef<float>> getIntercepts(Operation *op, std::optional<ArrayRef<float>> list, int64_t scores) {
  ArrayRef<float> intercepts = list.value_or(ArrayRef<float>());
  if (!intercepts.empty() && static_cast<int64_t>(intercepts.size()) != scores)
    return op->emitOpError("has ") << intercepts.size() << " intercepts for " << scores << " targets";
  return intercepts;
}

static Value makeScores(LinalgBuilder &b, Value x, ArrayRef<float> coefficients, ArrayRef<float> intercepts,
                        int64_t count) {
  Type type = scores::getType(x);
  int64_t features = coefficients.size() / count;
  Value start;
  if (!intercepts.empty())
    start = scores::constantFloats(b, intercepts, {count}, type);
  return scores::product(b, scores::getRows(b, x), scores::constantFloats(b, coefficients, {count, features}, type),
                         start);
}

//===----------------------------------------------------------------------===//
// LinearRegressor
//===----------------------------------------------------------------------===//

static LogicalResult inferRegressor(ShapeContext &c) {
  auto op = cast<LinearRegressorOp>(c.getOperation());
  int64_t targets = op.getTargets(), count = op.getCoefficients() ? op.getCoefficients()->size() : 0;
  if (targets < 1 || count == 0 || count % targets != 0)
    return c.emitError() << "has " << count << " coefficients for " << targets << " targets";
  if (failed(getIntercepts(op, op.getIntercepts(), targets)) || failed(scores::checkTransform(op)))
    return failure();
  FailureOr<Dim> rows = scores::checkRows(c, count / targets);
  if (failed(rows))
    return failure();
  c.setShape(0, {*rows, Dim(targets)});
  return success();
}

static FailureOr<SmallVector<Value>> lowerRegressor(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto linear = cast<LinearRegressorOp>(op);
  int64_t targets = linear.getTargets();
  ArrayRef<float> intercepts = linear.getIntercepts().value_or(ArrayRef<float>());
  Value sums = makeScores(b, operands[0], *linear.getCoefficients(), intercepts, targets);
  return SmallVector<Value>{scores::roundScores(b, scores::transform(b, sums, linear.getPostTransform()))};
}

//===----------------------------------------------------------------------===//
// LinearClassifier
//===----------------------------------------------------------------------===//

// Rows of coefficients: one for each label, or one for two labels.
static FailureOr<int64_t> countScores(LinearClassifierOp op, const scores::Labels &labels) {
  int64_t count = op.getCoefficients().size(), perLabel = labels.size();
  std::optional<Shape> shape = getShape(op->getOperand(0).getType());
  bool isPair = labels.size() == 2 && op.getIntercepts() && op.getIntercepts()->size() == 1;
  if (labels.size() == 2 && (!op.getIntercepts() || op.getIntercepts()->empty()) && shape && shape->size() <= 2 &&
      !shape->empty() && shape->back().isStatic())
    isPair = shape->back().size == count;
  if (isPair)
    perLabel = 1;
  if (count == 0 || count % perLabel != 0)
    return op->emitOpError("has ") << count << " coefficients for " << labels.size() << " labels";
  return perLabel;
}

static LogicalResult inferClassifier(ShapeContext &c) {
  auto op = cast<LinearClassifierOp>(c.getOperation());
  auto labels = scores::Labels::get(op, "classlabels_ints");
  if (failed(labels))
    return failure();
  FailureOr<int64_t> count = countScores(op, *labels);
  if (failed(count) || failed(getIntercepts(op, op.getIntercepts(), *count)) || failed(scores::checkTransform(op)))
    return failure();
  FailureOr<Dim> rows = scores::checkRows(c, op.getCoefficients().size() / *count);
  return scores::inferClasses(c, rows, *labels, labels->size());
}

static FailureOr<SmallVector<Value>> lowerClassifier(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto linear = cast<LinearClassifierOp>(op);
  auto labels = scores::Labels::get(op, "classlabels_ints");
  FailureOr<int64_t> count = countScores(linear, *labels);
  Value sums =
      makeScores(b, operands[0], linear.getCoefficients(), linear.getIntercepts().value_or(ArrayRef<float>()), *count);
  if (*count < labels->size())
    sums = scores::negatedPairs(b, sums);
  Value top = labels->select(b, scores::findTop(b, sums));
  return SmallVector<Value>{top, scores::roundScores(b, scores::transform(b, sums, linear.getPostTransform()))};
}

STRATA_SLICE(Linear) {
  ops.add("ml.LinearRegressor", {.inferShapes = inferRegressor, .lower = lowerRegressor});
  ops.add("ml.LinearClassifier", {.inferShapes = inferClassifier, .lower = lowerClassifier, .handles = true});
}
