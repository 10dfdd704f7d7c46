//===- TreeModels.cpp - TreeEnsembleRegressor, TreeEnsembleClassifier ----===//
//
// The two operators that TreeEnsemble replaced. They stay what they are through
// the upgrade, since their leaves may vote for several targets.
//
// Values are compared in f32, those of double and integer inputs, and all if an
// attribute is a tensor of doubles, in f64.
//
// Where two labels are there and all votes are for the first one, their sum s is
// the score of the second one, as all that make such models mean it (there is at
// most one base value then). Without a transform that keeps it otherwise, the
// first one's score is -s, but 1 - s where no weight is negative and the scores
// are no exponents (NONE, PROBIT): then they are probabilities.
//
//===----------------------------------------------------------------------===//

#include "../Trees.h"
#include "Dialect/VersionSteps.h"
#include <map>
#include <set>

using trees::Ensemble;

namespace {
struct Model {
  Ensemble trees;
  SmallVector<double> base;
  bool isDouble = false;

  static FailureOr<Model> get(Operation *op, StringRef voteStem, int64_t numTargets);
  Type getType(Value x) const { return isDouble ? Float64Type::get(x.getContext()) : scores::getType(x); }
  /// The aggregated votes, in the type above.
  Value evaluate(LinalgBuilder &b, Value x, trees::Aggregation aggregation) const;
};
} // namespace

static ArrayRef<int64_t> getIntegerList(Operation *op, const Twine &name) {
  auto attr = op->getAttrOfType<DenseI64ArrayAttr>(name.str());
  return attr ? attr.asArrayRef() : ArrayRef<int64_t>();
}

// A list of floats, or the tensor that replaces it; none, after an error, if it is of other elements.
static FailureOr<SmallVector<double>> getFloatList(Operation *op, const Twine &name, bool &isDouble) {
  if (auto tensor = op->getAttrOfType<ElementsAttr>((name + "_as_tensor").str())) {
    auto values = getFloats(tensor);
    if (!values)
      return op->emitOpError("needs floating-point numbers in '") << name << "_as_tensor'";
    isDouble |= tensor.getElementType().isF64();
    return *values;
  }
  auto attr = op->getAttrOfType<DenseF32ArrayAttr>(name.str());
  return attr ? llvm::to_vector_of<double>(attr.asArrayRef()) : SmallVector<double>();
}

FailureOr<Model> Model::get(Operation *op, StringRef voteStem, int64_t numTargets) {
  Model model;
  Ensemble &t = model.trees;
  auto sizesAgree = [&](ArrayRef<size_t> sizes, StringRef what) -> LogicalResult {
    for (size_t size : sizes)
      if (size != sizes.front())
        return op->emitOpError("has attributes of ") << size << " and of " << sizes.front() << " " << what;
    return success();
  };
  ArrayRef<int64_t> treeIds = getIntegerList(op, "nodes_treeids"), nodeIds = getIntegerList(op, "nodes_nodeids");
  ArrayRef<int64_t> features = getIntegerList(op, "nodes_featureids"),
                    missing = getIntegerList(op, "nodes_missing_value_tracks_true");
  ArrayRef<int64_t> trueIds = getIntegerList(op, "nodes_truenodeids"),
                    falseIds = getIntegerList(op, "nodes_falsenodeids");
  auto modes = op->getAttrOfType<ArrayAttr>("nodes_modes");
  auto splits = getFloatList(op, "nodes_values", model.isDouble);
  auto weights = getFloatList(op, voteStem + "_weights", model.isDouble);
  auto base = getFloatList(op, "base_values", model.isDouble);
  if (failed(splits) || failed(weights) || failed(base))
    return failure();
  model.base = *base;
  if (failed(sizesAgree({treeIds.size(), nodeIds.size(), features.size(), trueIds.size(), falseIds.size(),
                         splits->size(), modes ? modes.size() : 0, missing.empty() ? treeIds.size() : missing.size()},
                        "nodes")))
    return failure();

  // Inner nodes and leaves by tree and node.
  std::map<std::pair<int64_t, int64_t>, int64_t> places;
  SmallVector<StringRef> names{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"};
  SmallVector<int64_t> inner;
  for (size_t i = 0; i < nodeIds.size(); ++i) {
    StringRef mode = cast<StringAttr>(modes[i]).getValue();
    int64_t place = mode == "LEAF" ? -1 - t.numLeaves++ : t.numNodes();
    if (!places.insert({{treeIds[i], nodeIds[i]}, place}).second)
      return op->emitOpError("has two nodes ") << nodeIds[i] << " in tree " << treeIds[i];
    if (place < 0)
      continue;
    auto known = llvm::find(names, mode);
    if (known == names.end())
      return op->emitOpError("has the unknown mode ") << mode << " in node " << i;
    if (features[i] < 0)
      return op->emitOpError("has feature ") << features[i] << " in node " << i;
    inner.push_back(i);
    t.modes.push_back(known - names.begin());
    t.features.push_back(features[i]);
    t.missing.push_back(missing.empty() ? 0 : missing[i]);
    t.splits.push_back((*splits)[i]);
  }
  for (int64_t i : inner)
    for (auto [id, into] : {std::pair(trueIds[i], &t.onTrue), std::pair(falseIds[i], &t.onFalse)}) {
      auto place = places.find({treeIds[i], id});
      if (place == places.end())
        return op->emitOpError("has no node ")
               << id << " in tree " << treeIds[i] << ", which node " << i << " leads to";
      into->push_back(place->second);
    }
  // The root of a tree is its first node.
  std::set<int64_t> rooted;
  for (size_t i = 0; i < nodeIds.size(); ++i)
    if (rooted.insert(treeIds[i]).second)
      t.roots.push_back(places[{treeIds[i], nodeIds[i]}]);
  if (failed(t.checkEnds(op)))
    return failure();

  ArrayRef<int64_t> voteTrees = getIntegerList(op, voteStem + "_treeids"),
                    voteNodes = getIntegerList(op, voteStem + "_nodeids");
  ArrayRef<int64_t> voteTargets = getIntegerList(op, voteStem + "_ids");
  if (failed(sizesAgree({voteTrees.size(), voteNodes.size(), voteTargets.size(), weights->size()}, "votes")))
    return failure();
  t.numTargets = numTargets;
  for (size_t i = 0; i < voteTrees.size(); ++i) {
    auto place = places.find({voteTrees[i], voteNodes[i]});
    if (place == places.end() || place->second >= 0)
      return op->emitOpError("has no leaf ")
             << voteNodes[i] << " in tree " << voteTrees[i] << ", which vote " << i << " is of";
    if (voteTargets[i] < 0 || voteTargets[i] >= numTargets)
      return op->emitOpError("has a vote for ") << voteTargets[i] << " of " << numTargets;
    t.votes.push_back({-1 - place->second, voteTargets[i], (*weights)[i]});
  }
  return model;
}

Value Model::evaluate(LinalgBuilder &b, Value x, trees::Aggregation aggregation) const {
  Type compute = getType(x);
  return trees::evaluate(b, trees, aggregation, compute, x, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    if (isa<IntegerType>(v[0].getType()))
      return n.create<arith::SIToFPOp>(compute, v[0]);
    return n.create<arith::ExtFOp>(compute, v[0]);
  });
}

// scores + base, one value for each column or one for all.
static Value addBase(LinalgBuilder &b, Value sums, ArrayRef<double> base) {
  if (base.empty())
    return sums;
  Type type = getElementType(sums);
  Value table = scores::constantFloats(b, base, {static_cast<int64_t>(base.size())}, type);
  return b.elementwise({sums, table}, type,
                       [](ImplicitLocOpBuilder &n, ValueRange v) { return addScalars(n, v[1], v[0]); });
}

//===----------------------------------------------------------------------===//
// TreeEnsembleRegressor
//===----------------------------------------------------------------------===//

static FailureOr<Model> getRegressor(Operation *op) {
  int64_t targets = 1;
  if (auto attr = op->getAttrOfType<IntegerAttr>("n_targets"))
    targets = attr.getInt();
  else
    for (int64_t target : getIntegerList(op, "target_ids"))
      targets = std::max(targets, target + 1);
  if (targets < 1)
    return op->emitOpError("'n_targets' is ") << targets;
  FailureOr<Model> model = Model::get(op, "target", targets);
  if (succeeded(model) && !model->base.empty() && static_cast<int64_t>(model->base.size()) != targets)
    return op->emitOpError("has ") << model->base.size() << " base values for " << targets << " targets";
  return model;
}

static FailureOr<trees::Aggregation> getAggregation(Operation *op) {
  auto attr = op->getAttrOfType<StringAttr>("aggregate_function");
  StringRef name = attr ? attr.getValue() : "SUM";
  constexpr StringRef names[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  auto known = llvm::find(names, name);
  if (known == std::end(names))
    return op->emitOpError("'aggregate_function' is '") << name << "', not AVERAGE, SUM, MIN or MAX";
  return static_cast<trees::Aggregation>(known - std::begin(names));
}

static LogicalResult inferRegressor(ShapeContext &c) {
  Operation *op = c.getOperation();
  FailureOr<Model> model = getRegressor(op);
  if (failed(model) || failed(getAggregation(op)) || failed(scores::checkTransform(op)))
    return failure();
  FailureOr<Dim> rows = model->trees.checkInput(c);
  if (failed(rows))
    return failure();
  c.setShape(0, {*rows, Dim(model->trees.numTargets)});
  return success();
}

static FailureOr<SmallVector<Value>> lowerRegressor(Operation *op, ValueRange operands, LinalgBuilder &b) {
  FailureOr<Model> model = getRegressor(op);
  Value sums = addBase(b, model->evaluate(b, operands[0], *getAggregation(op)), model->base);
  auto transform = op->getAttrOfType<StringAttr>("post_transform");
  return SmallVector<Value>{
      scores::roundScores(b, scores::transform(b, sums, transform ? transform.getValue() : "NONE"))};
}

//===----------------------------------------------------------------------===//
// TreeEnsembleClassifier
//===----------------------------------------------------------------------===//

// Two labels, of which only the first one has votes.
static bool hasOneScore(const Model &model, int64_t labels) {
  return labels == 2 && model.base.size() < 2 && !model.trees.votes.empty() &&
         llvm::all_of(model.trees.votes, [](const Ensemble::Vote &vote) { return vote.target == 0; });
}

static FailureOr<Model> getClassifier(Operation *op, const scores::Labels &labels) {
  FailureOr<Model> model = Model::get(op, "class", labels.size());
  if (succeeded(model) && !model->base.empty() && static_cast<int64_t>(model->base.size()) != labels.size() &&
      !(model->base.size() == 1 && hasOneScore(*model, labels.size())))
    return op->emitOpError("has ") << model->base.size() << " base values for " << labels.size() << " labels";
  return model;
}

static LogicalResult inferClassifier(ShapeContext &c) {
  Operation *op = c.getOperation();
  auto labels = scores::Labels::get(op, "classlabels_int64s");
  if (failed(labels))
    return failure();
  FailureOr<Model> model = getClassifier(op, *labels);
  if (failed(model) || failed(scores::checkTransform(op)))
    return failure();
  return scores::inferClasses(c, model->trees.checkInput(c), *labels, labels->size());
}

static FailureOr<SmallVector<Value>> lowerClassifier(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto labels = scores::Labels::get(op, "classlabels_int64s");
  FailureOr<Model> model = getClassifier(op, *labels);
  auto attr = op->getAttrOfType<StringAttr>("post_transform");
  StringRef transform = attr ? attr.getValue() : "NONE";
  bool oneScore = hasOneScore(*model, labels->size());
  if (oneScore)
    model->trees.numTargets = 1;
  Value sums = addBase(b, model->evaluate(b, operands[0], trees::SUM), model->base);
  if (oneScore) {
    bool noneNegative = llvm::all_of(model->trees.votes, [](const Ensemble::Vote &vote) { return vote.weight >= 0; });
    if (noneNegative && (transform == "NONE" || transform == "PROBIT"))
      sums = scores::makePairs(b, sums, [](ImplicitLocOpBuilder &n, Value s) {
        return std::pair<Value, Value>(n.create<arith::SubFOp>(constantFloat(n, s.getType(), 1), s), s);
      });
    else
      sums = scores::negatedPairs(b, sums);
  }
  Value top = labels->select(b, scores::findTop(b, sums));
  return SmallVector<Value>{top, scores::roundScores(b, scores::transform(b, sums, transform))};
}

STRATA_SLICE(TreeModels) {
  ops.add("ml.TreeEnsembleRegressor", {.inferShapes = inferRegressor,
                                       .upgrade = keepAttributes,
                                       .downgrade = downgradePlainly,
                                       .lower = lowerRegressor});
  ops.add("ml.TreeEnsembleClassifier", {.inferShapes = inferClassifier,
                                        .upgrade = keepAttributes,
                                        .downgrade = downgradePlainly,
                                        .lower = lowerClassifier,
                                        .handles = true});
}
