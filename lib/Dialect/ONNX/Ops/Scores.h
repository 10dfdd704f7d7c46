//===- Scores.h - scores of classes and targets -----------------*- C++ -*-===//
//
// What the classifiers and regressors of ai.onnx.ml share: rows of features,
// post_transform, the top class and its label.
//
// The specification names the transforms and does not define them. Here
// SOFTMAX_ZERO is the softmax in which scores of (nearly) zero stay zero, and
// PROBIT is the quantile function of the normal distribution by Winitzki's
// approximation, as in ONNX's evaluator: below 0 and above 1 it is NaN.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_SCORES_H
#define STRATA_LIB_DIALECT_ONNX_OPS_SCORES_H

#include "Compute.h"
#include "Conversion/RuntimeCalls.h"

namespace strata::scores {

/// The type that scores of an input are computed in: f64, but f32 for f32.
inline Type getType(Value x) {
  return getElementType(x).isF32() ? getElementType(x) : Type(Float64Type::get(x.getContext()));
}

inline LogicalResult checkTransform(Operation *op) {
  auto transform = op->getAttrOfType<StringAttr>("post_transform");
  if (transform && !llvm::is_contained({"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}, transform.getValue()))
    return op->emitOpError("'post_transform' is '")
           << transform.getValue() << "', not NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT";
  return success();
}

/// The number of rows of a [N, F] input; of a [F] one, 1. `features` (-1: any) is what the coefficients imply.
inline FailureOr<Dim> checkRows(ShapeContext &c, int64_t features) {
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return Dim();
  if (shape->size() != 1 && shape->size() != 2)
    return c.emitError() << "needs an input of rank 1 or 2, not " << shape->size();
  if (features >= 0 && shape->back().isStatic() && shape->back().size != features)
    return c.emitError() << "has coefficients for " << features << " features, but an input of " << shape->back().size;
  return shape->size() == 1 ? Dim(1) : shape->front();
}

/// The input as [N, F] numbers of the type of the scores.
inline Value getRows(LinalgBuilder &b, Value x) {
  Type type = getType(x);
  if (getRank(x) == 1)
    x = b.unsqueeze(x, {0});
  if (getElementType(x) == type)
    return x;
  return b.elementwise(
      x, type, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value { return n.create<arith::SIToFPOp>(type, v[0]); });
}

/// A constant of numbers in `element`.
template <typename T>
Value constantFloats(LinalgBuilder &b, ArrayRef<T> values, ArrayRef<int64_t> shape, Type element) {
  SmallVector<Attribute> attrs;
  for (T value : values)
    attrs.push_back(b.getFloatAttr(element, static_cast<double>(value)));
  return b.constant(DenseElementsAttr::get(RankedTensorType::get(shape, element), attrs));
}

/// sums[n, i] = sum over f of rows[n, f] * coefficients[i, f], plus start[i] if there is one.
inline Value product(LinalgBuilder &b, Value rows, Value coefficients, Value start = {}) {
  Type type = getElementType(rows);
  int64_t features = cast<RankedTensorType>(coefficients.getType()).getDimSize(1);
  b.checkEqual(b.dim(rows, 1), b.getIndexAttr(features), "the input does not have a feature for each coefficient");
  auto map = [&](ArrayRef<unsigned> dims) { return AffineMap::getMultiDimMapWithTargets(3, dims, b.getContext()); };
  SmallVector<utils::IteratorType> iterators{utils::IteratorType::parallel, utils::IteratorType::parallel,
                                             utils::IteratorType::reduction};
  Value sum = contract(b, rows, coefficients, {map({0, 2}), map({1, 2}), map({0, 1})}, iterators,
                       {b.dim(rows, 0), b.dim(coefficients, 0)}, type);
  if (!start)
    return sum;
  return b.elementwise({sum, start}, type,
                       [&](ImplicitLocOpBuilder &n, ValueRange v) { return addScalars(n, v[0], v[1]); });
}

inline Value roundScores(LinalgBuilder &b, Value scores, Type type = {}) {
  type = type ? type : b.getF32Type();
  if (getElementType(scores) == type)
    return scores;
  return b.elementwise(scores, type, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    return n.create<arith::TruncFOp>(type, v[0]);
  });
}

/// pairs[n, :] = body(scores[n, 0]), the scores of two classes.
inline Value makePairs(LinalgBuilder &b, Value scores,
                       llvm::function_ref<std::pair<Value, Value>(ImplicitLocOpBuilder &, Value)> body) {
  return b.generate({b.dim(scores, 0), b.getIndexAttr(2)}, getElementType(scores),
                    [&](ImplicitLocOpBuilder &n, ValueRange at) -> Value {
                      Value zero = n.create<arith::ConstantIndexOp>(0);
                      auto [first, second] = body(n, n.create<tensor::ExtractOp>(scores, ValueRange{at[0], zero}));
                      Value isFirst = n.create<arith::CmpIOp>(arith::CmpIPredicate::eq, at[1], zero);
                      return n.create<arith::SelectOp>(isFirst, first, second);
                    });
}

inline Value negatedPairs(LinalgBuilder &b, Value scores) {
  return makePairs(b, scores, [](ImplicitLocOpBuilder &n, Value s) {
    return std::pair<Value, Value>(n.create<arith::NegFOp>(s), s);
  });
}

inline Value logistic(ImplicitLocOpBuilder &n, Value x) {
  Type type = x.getType();
  Value one = constantFloat(n, type, 1),
        small = n.create<math::ExpOp>(n.create<arith::NegFOp>(n.create<math::AbsFOp>(x)));
  Value negative = n.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, constantFloat(n, type, 0));
  return n.create<arith::DivFOp>(n.create<arith::SelectOp>(negative, small, one), n.create<arith::AddFOp>(one, small));
}

inline Value probit(ImplicitLocOpBuilder &n, Value p) {
  Type type = p.getType(), f64 = n.getF64Type();
  constexpr double a = 0.147, pi = 3.14159265358979323846;
  auto number = [&](double value) { return constantFloat(n, f64, value); };
  Value wide = type == f64 ? p : n.create<arith::ExtFOp>(f64, p).getResult(), one = number(1);
  Value x = n.create<arith::SubFOp>(n.create<arith::MulFOp>(wide, number(2)), one);
  Value log =
      n.create<math::LogOp>(n.create<arith::MulFOp>(n.create<arith::SubFOp>(one, x), n.create<arith::AddFOp>(one, x)));
  Value v = n.create<arith::AddFOp>(number(2 / (pi * a)), n.create<arith::MulFOp>(number(0.5), log));
  Value inner = n.create<arith::SubFOp>(n.create<arith::MulFOp>(v, v), n.create<arith::MulFOp>(number(1 / a), log));
  Value root = n.create<math::SqrtOp>(n.create<arith::SubFOp>(n.create<math::SqrtOp>(inner), v));
  Value result = n.create<arith::MulFOp>(number(1.41421356), n.create<math::CopySignOp>(root, x));
  return type == f64 ? result : n.create<arith::TruncFOp>(type, result).getResult();
}

/// Exponentials of each row's scores, divided by their sum. With `keepZeros` zeros stay zero; a row of zeros becomes
/// 0.5.
inline Value softmax(LinalgBuilder &b, Value scores, bool keepZeros) {
  Type type = getElementType(scores);
  int64_t rank = getRank(scores);
  AffineMap full = b.getMultiDimIdentityMap(rank), row = mapWithout(b.getContext(), rank, {rank - 1});
  Value lowest = b.scalar(type, -std::numeric_limits<double>::infinity());
  Value highest = reduceMany(b, scores, full, {rank - 1}, lowest, [](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    return n.create<arith::MaximumFOp>(v[1], v[0]);
  });
  Value powers = mapElements(
      b, {scores, highest}, {full, row}, b.sizes(scores), type, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
        Value power = n.create<math::ExpOp>(n.create<arith::SubFOp>(v[0], v[1]));
        if (!keepZeros)
          return power;
        Value isZero = n.create<arith::CmpFOp>(arith::CmpFPredicate::OLE, n.create<math::AbsFOp>(v[0]),
                                               constantFloat(n, type, 1e-7));
        Value kept = n.create<arith::MulFOp>(v[0], n.create<math::ExpOp>(n.create<arith::NegFOp>(v[1])));
        return n.create<arith::SelectOp>(isZero, kept, power);
      });
  Value sums =
      reduceMany(b, powers, full, {rank - 1}, b.scalar(type, 0),
                 [](ImplicitLocOpBuilder &n, ValueRange v) -> Value { return n.create<arith::AddFOp>(v[1], v[0]); });
  return mapElements(
      b, {powers, sums}, {full, row}, b.sizes(scores), type, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
        Value share = n.create<arith::DivFOp>(v[0], v[1]);
        if (!keepZeros)
          return share;
        Value isZero = n.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, v[1], constantFloat(n, type, 0));
        return n.create<arith::SelectOp>(isZero, constantFloat(n, type, 0.5), share);
      });
}

/// The scores of each row under a post_transform.
inline Value transform(LinalgBuilder &b, Value scores, StringRef name) {
  if (name == "SOFTMAX" || name == "SOFTMAX_ZERO")
    return softmax(b, scores, name == "SOFTMAX_ZERO");
  if (name != "LOGISTIC" && name != "PROBIT")
    return scores;
  return b.elementwise(scores, getElementType(scores), [&](ImplicitLocOpBuilder &n, ValueRange v) {
    return name == "LOGISTIC" ? logistic(n, v[0]) : probit(n, v[0]);
  });
}

/// The position of each row's largest score, the first of equal ones.
inline Value findTop(LinalgBuilder &b, Value scores) {
  Type i64 = b.getI64Type();
  Value count = b.index(b.dim(scores, 1));
  return b.generate(b.dim(scores, 0), i64, [&](ImplicitLocOpBuilder &n, ValueRange at) -> Value {
    Value zero = n.create<arith::ConstantIndexOp>(0), one = n.create<arith::ConstantIndexOp>(1);
    Value first = n.create<tensor::ExtractOp>(scores, ValueRange{at[0], zero});
    auto search = n.create<scf::ForOp>(
        one, count, one, ValueRange{zero, first}, [&](OpBuilder &nested, Location loc, Value i, ValueRange best) {
          ImplicitLocOpBuilder m(loc, nested);
          Value score = m.create<tensor::ExtractOp>(scores, ValueRange{at[0], i});
          Value isHigher = m.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, score, best[1]);
          m.create<scf::YieldOp>(ValueRange{m.create<arith::SelectOp>(isHigher, i, best[0]),
                                            m.create<arith::SelectOp>(isHigher, score, best[1])});
        });
    return n.create<arith::IndexCastOp>(i64, search.getResult(0));
  });
}

/// The labels of a classifier: two attributes of which one is there.
struct Labels {
  ArrayAttr strings;
  DenseI64ArrayAttr integers;

  static FailureOr<Labels> get(Operation *op, StringRef integerName) {
    Labels labels{op->getAttrOfType<ArrayAttr>("classlabels_strings"),
                  op->getAttrOfType<DenseI64ArrayAttr>(integerName)};
    if (labels.strings && labels.strings.empty() && labels.integers)
      labels.strings = {};
    if (labels.integers && labels.integers.empty() && labels.strings)
      labels.integers = {};
    if (static_cast<bool>(labels.strings) == static_cast<bool>(labels.integers) || labels.size() == 0)
      return op->emitOpError("needs labels in one of 'classlabels_strings' and '") << integerName << "'";
    return labels;
  }

  int64_t size() const { return strings ? strings.size() : integers ? integers.size() : 0; }
  Type getType(MLIRContext *context) const {
    return strings ? Type(onnx::StringType::get(context)) : IntegerType::get(context, 64);
  }
  /// The labels at `positions`, one dimension.
  Value select(LinalgBuilder &b, Value positions) const {
    Value table;
    if (strings)
      table = stringConstants(
          b, llvm::map_to_vector(strings.getAsRange<StringAttr>(), [](StringAttr s) { return s.getValue(); }));
    else
      table = b.constant(
          DenseElementsAttr::get(RankedTensorType::get({integers.size()}, b.getI64Type()), integers.asArrayRef()));
    return b.elementwise(positions, b.getI64Type(), [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
      return n.create<tensor::ExtractOp>(table, ValueRange{n.create<arith::IndexCastOp>(n.getIndexType(), v[0])});
    });
  }
};

/// The results of a classifier of `rows`: a label and `width` scores for each.
inline LogicalResult inferClasses(ShapeContext &c, FailureOr<Dim> rows, const Labels &labels, int64_t width) {
  if (failed(rows))
    return failure();
  c.setElementType(0, labels.getType(c.getContext()));
  c.setShape(0, {*rows});
  c.setShape(1, {*rows, Dim(width)});
  return success();
}

} // namespace strata::scores

#endif // STRATA_LIB_DIALECT_ONNX_OPS_SCORES_H
