//===- SVM.cpp - SVMRegressor, SVMClassifier -----------------------------===//
//
// Weighted sums of a kernel's values with the support vectors; without support
// vectors, of the features. Scores are computed in f32, those of double and
// integer inputs in f64.
//
// The classifier with support vectors decides between each two classes, as
// libsvm does: its raw scores are those decisions s, in the order (0, 1),
// (0, 2), ..., (1, 2), ...; of two classes, -s and s, where a positive s is for
// the first one. The class with the most decisions for it is the result, also
// where probabilities are given. What the specification leaves open is as in
// ONNX's evaluator: so is that without support vectors rho[0] is added to each
// class's score.
//
//===----------------------------------------------------------------------===//

#include "../Scores.h"

namespace {
struct Kernel {
  StringRef type;
  double gamma = 0, offset = 0, degree = 0;

  // `vectors`: whether there are support vectors; else the type does not matter.
  static FailureOr<Kernel> get(Operation *op, StringRef type, std::optional<ArrayRef<float>> parameters, bool vectors) {
    if (!llvm::is_contained({"LINEAR", "POLY", "RBF", "SIGMOID"}, type))
      return op->emitOpError("'kernel_type' is '") << type << "', not LINEAR, POLY, RBF or SIGMOID";
    Kernel kernel{vectors ? type : "LINEAR"};
    size_t count = parameters ? parameters->size() : 0;
    if (count != 3 && (count != 0 || kernel.type != "LINEAR"))
      return op->emitOpError("'kernel_params' has ") << count << " values, not 3";
    if (count == 3) {
      kernel.gamma = (*parameters)[0];
      kernel.offset = (*parameters)[1];
      kernel.degree = std::trunc((*parameters)[2]);
    }
    return kernel;
  }

  // values[n, v] of the rows and the vectors.
  Value evaluate(LinalgBuilder &b, Value rows, Value vectors) const;
};
} // namespace

Value Kernel::evaluate(LinalgBuilder &b, Value rows, Value vectors) const {
  Type element = getElementType(rows);
  Value values;
  if (type == "RBF") {
    b.checkEqual(b.dim(rows, 1), b.dim(vectors, 1), "the input does not have a feature for each coefficient");
    auto map = [&](ArrayRef<unsigned> dims) { return AffineMap::getMultiDimMapWithTargets(3, dims, b.getContext()); };
    SmallVector<utils::IteratorType> iterators{utils::IteratorType::parallel, utils::IteratorType::parallel,
                                               utils::IteratorType::reduction};
    Value init = b.fill({b.dim(rows, 0), b.dim(vectors, 0)}, b.scalar(element, 0));
    values = b.create<linalg::GenericOp>(init.getType(), ValueRange{rows, vectors}, init,
                                         ArrayRef<AffineMap>{map({0, 2}), map({1, 2}), map({0, 1})}, iterators,
                                         [&](OpBuilder &nested, Location loc, ValueRange v) {
                                           ImplicitLocOpBuilder n(loc, nested);
                                           Value d = n.create<arith::SubFOp>(v[0], v[1]);
                                           Value square = n.create<arith::MulFOp>(d, d);
                                           n.create<linalg::YieldOp>(n.create<arith::AddFOp>(v[2], square).getResult());
                                         })
                 .getResult(0);
  } else {
    values = scores::product(b, rows, vectors);
  }
  if (type == "LINEAR")
    return values;
  return b.elementwise(values, element, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    if (type == "RBF")
      return n.create<math::ExpOp>(n.create<arith::MulFOp>(v[0], constantFloat(n, element, -gamma)));
    Value scaled = n.create<arith::AddFOp>(n.create<arith::MulFOp>(v[0], constantFloat(n, element, gamma)),
                                           constantFloat(n, element, offset));
    if (type == "SIGMOID")
      return n.create<math::TanhOp>(scaled);
    return n.create<math::PowFOp>(scaled, constantFloat(n, element, degree));
  });
}

//===----------------------------------------------------------------------===//
// SVMRegressor
//===----------------------------------------------------------------------===//

static LogicalResult inferRegressor(ShapeContext &c) {
  auto op = cast<SVMRegressorOp>(c.getOperation());
  int64_t supports = op.getNSupports(), count = op.getCoefficients() ? op.getCoefficients()->size() : 0;
  int64_t values = op.getSupportVectors() ? op.getSupportVectors()->size() : 0;
  if (count == 0 || !op.getRho() || op.getRho()->empty())
    return c.emitError() << "needs coefficients and rho";
  if (supports < 0 || (supports > 0 && (count != supports || values == 0 || values % supports != 0)))
    return c.emitError() << "has " << count << " coefficients and " << values << " numbers of " << supports
                         << " support vectors";
  if (failed(Kernel::get(op, op.getKernelType(), op.getKernelParams(), supports > 0)) ||
      failed(scores::checkTransform(op)))
    return failure();
  FailureOr<Dim> rows = scores::checkRows(c, supports > 0 ? values / supports : count);
  if (failed(rows))
    return failure();
  c.setShape(0, {*rows, Dim(1)});
  return success();
}

static FailureOr<SmallVector<Value>> lowerRegressor(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto svm = cast<SVMRegressorOp>(op);
  Type type = scores::getType(operands[0]);
  ArrayRef<float> coefficients = *svm.getCoefficients();
  int64_t supports = svm.getNSupports(), count = coefficients.size();
  Value rho = scores::constantFloats(b, svm.getRho()->take_front(), {1}, type), rows = scores::getRows(b, operands[0]);
  Value weights = scores::constantFloats(b, coefficients, {1, count}, type);
  if (supports > 0) {
    auto kernel = Kernel::get(op, svm.getKernelType(), svm.getKernelParams(), true);
    int64_t features = svm.getSupportVectors()->size() / supports;
    rows = kernel->evaluate(b, rows, scores::constantFloats(b, *svm.getSupportVectors(), {supports, features}, type));
  }
  Value sums = scores::product(b, rows, weights, rho);
  if (svm.getOneClass() != 0)
    sums = b.elementwise(sums, type, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
      Value inside = n.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, v[0], constantFloat(n, type, 0));
      return n.create<arith::SelectOp>(inside, constantFloat(n, type, 1), constantFloat(n, type, -1));
    });
  return SmallVector<Value>{scores::roundScores(b, scores::transform(b, sums, svm.getPostTransform()))};
}

//===----------------------------------------------------------------------===//
// SVMClassifier
//===----------------------------------------------------------------------===//

namespace {
struct Classifier {
  scores::Labels labels;
  Kernel kernel;
  int64_t classes = 0, vectors = 0, features = 0;
  /// Of each support vector.
  SmallVector<int64_t> classOf;
  bool hasProbabilities = false;

  int64_t pairs() const { return classes * (classes - 1) / 2; }
  /// The columns of the scores.
  int64_t width() const { return vectors == 0 || hasProbabilities || classes == 2 ? classes : pairs(); }

  static FailureOr<Classifier> get(SVMClassifierOp op);
};
} // namespace

FailureOr<Classifier> Classifier::get(SVMClassifierOp op) {
  Classifier c;
  auto labels = scores::Labels::get(op, "classlabels_ints");
  if (failed(labels))
    return failure();
  c.labels = *labels;
  c.classes = labels->size();
  for (auto [k, count] : llvm::enumerate(op.getVectorsPerClass().value_or(ArrayRef<int64_t>()))) {
    if (count < 0)
      return op->emitOpError("has ") << count << " support vectors of class " << k;
    c.classOf.append(count, k);
  }
  c.vectors = c.classOf.size();
  auto size = [](std::optional<ArrayRef<float>> list) { return list ? static_cast<int64_t>(list->size()) : 0; };
  int64_t coefficients = size(op.getCoefficients()), numbers = size(op.getSupportVectors()), rho = size(op.getRho());
  if (coefficients == 0 || rho == 0)
    return op->emitOpError("needs coefficients and rho");
  auto kernel = Kernel::get(op, op.getKernelType(), op.getKernelParams(), c.vectors > 0);
  if (failed(kernel) || failed(scores::checkTransform(op)))
    return failure();
  c.kernel = *kernel;
  if (c.vectors == 0) {
    if (coefficients % c.classes != 0)
      return op->emitOpError("has ") << coefficients << " coefficients for " << c.classes << " labels";
    c.features = coefficients / c.classes;
    return c;
  }
  if (static_cast<int64_t>(op.getVectorsPerClass()->size()) != c.classes)
    return op->emitOpError("has support vectors of ")
           << op.getVectorsPerClass()->size() << " classes, and " << c.classes << " labels";
  if (c.classes < 2)
    return op->emitOpError("needs two classes to decide between");
  if (numbers == 0 || numbers % c.vectors != 0 || coefficients != c.vectors * (c.classes - 1))
    return op->emitOpError("has ") << coefficients << " coefficients and " << numbers << " numbers of " << c.vectors
                                   << " support vectors of " << c.classes << " classes";
  if (rho != c.pairs())
    return op->emitOpError("has ") << rho << " numbers in 'rho' for " << c.pairs() << " pairs of classes";
  c.features = numbers / c.vectors;
  c.hasProbabilities = size(op.getProbA()) != 0;
  if (size(op.getProbA()) != size(op.getProbB()) || (c.hasProbabilities && size(op.getProbA()) != c.pairs()))
    return op->emitOpError("has ") << size(op.getProbA()) << " numbers in 'prob_a' and " << size(op.getProbB())
                                   << " in 'prob_b' for " << c.pairs() << " pairs of classes";
  return c;
}

static LogicalResult inferClassifier(ShapeContext &c) {
  auto classifier = Classifier::get(cast<SVMClassifierOp>(c.getOperation()));
  if (failed(classifier))
    return failure();
  return scores::inferClasses(c, scores::checkRows(c, classifier->features), classifier->labels, classifier->width());
}

// For each class how many decisions between two were for it.
static Value countVotes(LinalgBuilder &b, Value decisions, int64_t classes) {
  SmallVector<int64_t> firsts, seconds;
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j) {
      firsts.push_back(i);
      seconds.push_back(j);
    }
  auto table = [&](ArrayRef<int64_t> values) {
    return b.constant(
        DenseIntElementsAttr::get(RankedTensorType::get(static_cast<int64_t>(values.size()), b.getI64Type()), values));
  };
  Type type = getElementType(decisions);
  AffineMap pair = AffineMap::getMultiDimMapWithTargets(3, {2}, b.getContext());
  AffineMap ofRow = AffineMap::getMultiDimMapWithTargets(3, {0, 2}, b.getContext());
  AffineMap result = AffineMap::getMultiDimMapWithTargets(3, {0, 1}, b.getContext());
  SmallVector<utils::IteratorType> iterators{utils::IteratorType::parallel, utils::IteratorType::parallel,
                                             utils::IteratorType::reduction};
  Value init = b.fill({b.dim(decisions, 0), b.getIndexAttr(classes)}, b.scalar(type, 0));
  return b
      .create<linalg::GenericOp>(
          init.getType(), ValueRange{decisions, table(firsts), table(seconds)}, init,
          ArrayRef<AffineMap>{ofRow, pair, pair, result}, iterators,
          [&](OpBuilder &nested, Location loc, ValueRange v) {
            ImplicitLocOpBuilder n(loc, nested);
            Value positive = n.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, v[0], constantFloat(n, type, 0));
            Value chosen = n.create<arith::SelectOp>(positive, v[1], v[2]);
            Value own = n.create<arith::IndexCastOp>(n.getI64Type(), n.create<linalg::IndexOp>(1));
            Value isOwn = n.create<arith::CmpIOp>(arith::CmpIPredicate::eq, chosen, own);
            Value more = n.create<arith::AddFOp>(v[3], constantFloat(n, type, 1));
            n.create<linalg::YieldOp>(n.create<arith::SelectOp>(isOwn, more, v[3]).getResult());
          })
      .getResult(0);
}

static FailureOr<SmallVector<Value>> lowerClassifier(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto svm = cast<SVMClassifierOp>(op);
  auto c = Classifier::get(svm);
  Type type = scores::getType(operands[0]), f64 = b.getF64Type();
  Value rows = scores::getRows(b, operands[0]), values, top;
  ArrayRef<float> coefficients = *svm.getCoefficients();
  auto finish = [&](Value top, Value values) {
    return SmallVector<Value>{c->labels.select(b, top),
                              scores::roundScores(b, scores::transform(b, values, svm.getPostTransform()))};
  };
  if (c->vectors == 0) {
    Value rho = scores::constantFloats(b, svm.getRho()->take_front(), {1}, type);
    values = scores::product(b, rows, scores::constantFloats(b, coefficients, {c->classes, c->features}, type), rho);
    return finish(scores::findTop(b, values), values);
  }

  // decisions[n, pair] = the kernel's values times the weights of the two classes' vectors.
  Value vectors = scores::constantFloats(b, *svm.getSupportVectors(), {c->vectors, c->features}, type);
  Value kernels = c->kernel.evaluate(b, rows, vectors);
  SmallVector<float> weights;
  for (int64_t i = 0; i < c->classes; ++i)
    for (int64_t j = i + 1; j < c->classes; ++j)
      for (int64_t v = 0; v < c->vectors; ++v)
        weights.push_back(c->classOf[v] == i   ? coefficients[(j - 1) * c->vectors + v]
                          : c->classOf[v] == j ? coefficients[i * c->vectors + v]
                                               : 0.0f);
  Value table = scores::constantFloats<float>(b, weights, {c->pairs(), c->vectors}, type);
  Value decisions = scores::product(b, kernels, table, scores::constantFloats(b, *svm.getRho(), {c->pairs()}, type));
  top = scores::findTop(b, countVotes(b, decisions, c->classes));
  if (!c->hasProbabilities)
    return finish(top, c->classes == 2 ? scores::negatedPairs(b, decisions) : decisions);

  Value wide =
      type == f64 ? decisions : b.elementwise(decisions, f64, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
        return n.create<arith::ExtFOp>(f64, v[0]);
      });
  Value buffer = makeBuffer(b, {b.dim(decisions, 0), b.getIndexAttr(c->classes)}, f64);
  callRuntime(b, "strata_rt_svm_probabilities",
              {wide, scores::constantFloats(b, *svm.getProbA(), {c->pairs()}, f64),
               scores::constantFloats(b, *svm.getProbB(), {c->pairs()}, f64), buffer});
  values = bufferToTensor(b, buffer);
  return finish(top, scores::roundScores(b, values, type));
}

STRATA_SLICE(SVM) {
  ops.add("ml.SVMRegressor", {.inferShapes = inferRegressor, .lower = lowerRegressor});
  ops.add("ml.SVMClassifier", {.inferShapes = inferClassifier, .lower = lowerClassifier, .handles = true});
}
