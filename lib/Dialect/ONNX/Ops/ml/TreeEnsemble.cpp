//===- TreeEnsemble.cpp - TreeEnsemble ------------------------------------===//

#include "../Trees.h"

using trees::Ensemble;

static FailureOr<Ensemble> getEnsemble(Operation *op) {
  auto tree = cast<TreeEnsembleOp>(op);
  auto list = [](ArrayRef<int64_t> values) { return SmallVector<int64_t>(values); };
  Ensemble t;
  t.roots = list(tree.getTreeRoots());
  t.features = list(tree.getNodesFeatureids());
  ArrayRef<int64_t> targets = tree.getLeafTargetids();
  int64_t nodes = t.features.size(), leaves = targets.size();
  auto modes = getIntegers(tree.getNodesModes());
  auto splits = getFloats(tree.getNodesSplits()), weights = getFloats(tree.getLeafWeights());
  if (!modes || !splits || !weights)
    return op->emitOpError("needs integers as modes and floating-point splits and weights");
  t.modes = *modes;
  t.splits = *splits;
  t.missing = list(tree.getNodesMissingValueTracksTrue().value_or(ArrayRef<int64_t>()));
  if (t.missing.empty())
    t.missing.assign(nodes, 0);
  ArrayRef<int64_t> trueIds = tree.getNodesTruenodeids(), falseIds = tree.getNodesFalsenodeids();
  ArrayRef<int64_t> trueLeafs = tree.getNodesTrueleafs(), falseLeafs = tree.getNodesFalseleafs();
  for (size_t count : {t.modes.size(), t.splits.size(), t.missing.size(), trueIds.size(), falseIds.size(),
                       trueLeafs.size(), falseLeafs.size()})
    if (static_cast<int64_t>(count) != nodes)
      return op->emitOpError("has attributes of ") << count << " and of " << nodes << " nodes";
  if (static_cast<int64_t>(weights->size()) != leaves)
    return op->emitOpError("has ") << weights->size() << " weights for " << leaves << " leaves";
  for (int64_t i = 0; i < nodes; ++i) {
    if (t.modes[i] < trees::LEQ || t.modes[i] > trees::MEMBER)
      return op->emitOpError("has the unknown mode ") << t.modes[i] << " in node " << i;
    if (t.features[i] < 0)
      return op->emitOpError("has feature ") << t.features[i] << " in node " << i;
    for (auto [id, isLeaf, into] :
         {std::tuple(trueIds[i], trueLeafs[i], &t.onTrue), std::tuple(falseIds[i], falseLeafs[i], &t.onFalse)}) {
      if (id < 0 || id >= (isLeaf ? leaves : nodes))
        return op->emitOpError("has no ") << (isLeaf ? "leaf " : "node ") << id << ", which node " << i << " leads to";
      into->push_back(isLeaf ? -1 - id : id);
    }
  }
  int64_t highest = -1;
  for (int64_t target : targets)
    highest = std::max(highest, target);
  t.numTargets = tree.getNTargets() ? static_cast<int64_t>(*tree.getNTargets()) : highest + 1;
  for (int64_t target : targets)
    if (target < 0 || target >= t.numTargets)
      return op->emitOpError("has a leaf for target ") << target << " of " << t.numTargets;
  t.numLeaves = leaves;
  for (int64_t leaf = 0; leaf < leaves; ++leaf)
    t.votes.push_back({leaf, targets[leaf], (*weights)[leaf]});

  // The sets of the nodes that test for membership, in the nodes' order, each one ended by a NaN.
  if (auto members = tree.getMembershipValues()) {
    auto values = getFloats(*members);
    if (!values)
      return op->emitOpError("needs floating-point members");
    t.members = *values;
  }
  int64_t next = 0, count = t.members.size();
  for (int64_t i = 0; i < nodes; ++i) {
    t.memberStart.push_back(next);
    t.memberEnd.push_back(next);
    if (t.modes[i] != trees::MEMBER)
      continue;
    while (next < count && !std::isnan(t.members[next]))
      ++next;
    if (next == count)
      return op->emitOpError("has no set of members for node ") << i;
    t.memberEnd.back() = next++;
  }

  for (int64_t root : t.roots)
    if (root < 0 || root >= nodes)
      return op->emitOpError("has no node ") << root << ", the root of a tree";
  if (failed(t.checkEnds(op)))
    return failure();
  return t;
}

static LogicalResult inferTreeEnsemble(ShapeContext &c) {
  FailureOr<Ensemble> ensemble = getEnsemble(c.getOperation());
  if (failed(ensemble))
    return failure();
  int64_t aggregate = c.integer("aggregate_function", trees::SUM), transform = c.integer("post_transform", 0);
  if (aggregate < trees::AVERAGE || aggregate > trees::MAX)
    return c.emitError() << "'aggregate_function' is " << aggregate << ", not 0 to 3";
  if (transform < 0 || transform > 4)
    return c.emitError() << "'post_transform' is " << transform << ", not 0 to 4";
  FailureOr<Dim> rows = ensemble->checkInput(c);
  if (failed(rows))
    return failure();
  c.setShape(0, {*rows, Dim(ensemble->numTargets)});
  return success();
}

static FailureOr<SmallVector<Value>> lowerTreeEnsemble(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto tree = cast<TreeEnsembleOp>(op);
  FailureOr<Ensemble> ensemble = getEnsemble(op);
  Type onnx = getElementType(op->getOperand(0)), compute = scalar::getComputeType(onnx);
  auto how = static_cast<trees::Aggregation>(tree.getAggregateFunction());
  auto decode = [&](ImplicitLocOpBuilder &n, ValueRange v) { return scalar::decode(n, v[0], onnx); };
  Value sums = trees::evaluate(b, *ensemble, how, compute, operands[0], decode);
  constexpr StringRef transforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  return SmallVector<Value>{roundTo(b, scores::transform(b, sums, transforms[tree.getPostTransform()]), onnx)};
}

STRATA_SLICE(TreeEnsemble) {
  ops.add("ml.TreeEnsemble", {.inferShapes = inferTreeEnsemble, .lower = lowerTreeEnsemble});
}
