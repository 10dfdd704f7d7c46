//===- TreeEnsemble.cpp - TreeEnsemble ------------------------------------===//
//
// The trees are data of the code: each row walks down each tree, as many steps
// as the deepest tree has levels; a leaf stays where it is. Then the leaves of a
// row are aggregated by target.
//
//===----------------------------------------------------------------------===//

#include "../Compute.h"

namespace {
enum Mode { LEQ, LT, GTE, GT, EQ, NEQ, MEMBER };
enum Aggregation { AVERAGE, SUM, MIN, MAX };

struct Trees {
  SmallVector<int64_t> roots, features, modes, missing, targets;
  /// Children: an inner node, or a leaf as -1 - leaf.
  SmallVector<int64_t> onTrue, onFalse;
  /// The members of a node's set: [memberStart, memberEnd).
  SmallVector<int64_t> memberStart, memberEnd;
  SmallVector<double> splits, weights, members;
  int64_t depth = 0, numTargets = 0;

  static FailureOr<Trees> get(Operation *op);
};
} // namespace

FailureOr<Trees> Trees::get(Operation *op) {
  auto tree = cast<TreeEnsembleOp>(op);
  auto list = [](ArrayRef<int64_t> values) { return SmallVector<int64_t>(values); };
  Trees t;
  t.roots = list(tree.getTreeRoots());
  t.features = list(tree.getNodesFeatureids());
  t.targets = list(tree.getLeafTargetids());
  int64_t nodes = t.features.size(), leaves = t.targets.size();
  auto modes = getIntegers(tree.getNodesModes());
  auto splits = getFloats(tree.getNodesSplits()), weights = getFloats(tree.getLeafWeights());
  if (!modes || !splits || !weights)
    return op->emitOpError("needs integers as modes and floating-point splits and weights");
  t.modes = *modes;
  t.splits = *splits;
  t.weights = *weights;
  t.missing = list(tree.getNodesMissingValueTracksTrue().value_or(ArrayRef<int64_t>()));
  if (t.missing.empty())
    t.missing.assign(nodes, 0);
  ArrayRef<int64_t> trueIds = tree.getNodesTruenodeids(), falseIds = tree.getNodesFalsenodeids();
  ArrayRef<int64_t> trueLeafs = tree.getNodesTrueleafs(), falseLeafs = tree.getNodesFalseleafs();
  for (size_t count : {t.modes.size(), t.splits.size(), t.missing.size(), trueIds.size(), falseIds.size(), trueLeafs.size(),
                       falseLeafs.size()})
    if (static_cast<int64_t>(count) != nodes)
      return op->emitOpError("has attributes of ") << count << " and of " << nodes << " nodes";
  if (static_cast<int64_t>(t.weights.size()) != leaves)
    return op->emitOpError("has ") << t.weights.size() << " weights for " << leaves << " leaves";
  for (int64_t i = 0; i < nodes; ++i) {
    if (t.modes[i] < LEQ || t.modes[i] > MEMBER)
      return op->emitOpError("has the unknown mode ") << t.modes[i] << " in node " << i;
    if (t.features[i] < 0)
      return op->emitOpError("has feature ") << t.features[i] << " in node " << i;
    for (auto [id, isLeaf, into] : {std::tuple(trueIds[i], trueLeafs[i], &t.onTrue),
                                    std::tuple(falseIds[i], falseLeafs[i], &t.onFalse)}) {
      if (id < 0 || id >= (isLeaf ? leaves : nodes))
        return op->emitOpError("has no ") << (isLeaf ? "leaf " : "node ") << id << ", which node " << i << " leads to";
      into->push_back(isLeaf ? -1 - id : id);
    }
  }
  int64_t highest = -1;
  for (int64_t target : t.targets)
    highest = std::max(highest, target);
  t.numTargets = tree.getNTargets() ? static_cast<int64_t>(*tree.getNTargets()) : highest + 1;
  for (int64_t target : t.targets)
    if (target < 0 || target >= t.numTargets)
      return op->emitOpError("has a leaf for target ") << target << " of " << t.numTargets;

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
    if (t.modes[i] != MEMBER)
      continue;
    while (next < count && !std::isnan(t.members[next]))
      ++next;
    if (next == count)
      return op->emitOpError("has no set of members for node ") << i;
    t.memberEnd.back() = next++;
  }

  // The depth, and that walking ends: a path longer than there are nodes goes round in circles.
  SmallVector<int64_t> level(t.roots), following;
  for (int64_t root : t.roots)
    if (root < 0 || root >= nodes)
      return op->emitOpError("has no node ") << root << ", the root of a tree";
  for (; !level.empty(); level.swap(following)) {
    if (++t.depth > nodes)
      return op->emitOpError("has a tree that leads back to one of its nodes");
    following.clear();
    llvm::SmallDenseSet<int64_t> seen;
    for (int64_t node : level)
      for (int64_t child : {t.onTrue[node], t.onFalse[node]})
        if (child >= 0 && seen.insert(child).second)
          following.push_back(child);
  }
  return t;
}

static LogicalResult inferTreeEnsemble(ShapeContext &c) {
  FailureOr<Trees> trees = Trees::get(c.getOperation());
  if (failed(trees))
    return failure();
  int64_t aggregate = c.integer("aggregate_function", SUM);
  if (aggregate < AVERAGE || aggregate > MAX)
    return c.emitError() << "'aggregate_function' is " << aggregate << ", not 0 to 3";
  std::optional<Shape> shape = c.shape(0);
  if (shape && shape->size() != 2)
    return c.emitError() << "needs an input of rank 2, not " << shape->size();
  if (shape && shape->back().isStatic())
    for (int64_t feature : trees->features)
      if (feature >= shape->back().size)
        return c.emitError() << "tests feature " << feature << " of " << shape->back().size;
  c.setShape(0, {shape ? shape->front() : Dim(), Dim(trees->numTargets)});
  return success();
}

static FailureOr<SmallVector<Value>> lowerTreeEnsemble(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto tree = cast<TreeEnsembleOp>(op);
  if (tree.getPostTransform() != 0)
    return op->emitOpError("cannot be compiled: post_transform ") << static_cast<int64_t>(tree.getPostTransform());
  FailureOr<Trees> trees = Trees::get(op);
  if (failed(trees))
    return failure();
  const Trees &t = *trees;
  Value x = operands[0];
  Type onnx = getElementType(op->getOperand(0)), compute = scalar::getComputeType(onnx), i64 = b.getI64Type();
  auto integers = [&](ArrayRef<int64_t> values) {
    SmallVector<int64_t> some(values);
    if (some.empty())
      some.push_back(0);
    return b.constant(DenseIntElementsAttr::get(RankedTensorType::get({static_cast<int64_t>(some.size())}, i64), some));
  };
  auto floats = [&](ArrayRef<double> values) {
    SmallVector<Attribute> attrs;
    for (double value : values)
      attrs.push_back(b.getFloatAttr(compute, value));
    if (attrs.empty())
      attrs.push_back(b.getFloatAttr(compute, 0));
    return b.constant(DenseElementsAttr::get(RankedTensorType::get({static_cast<int64_t>(attrs.size())}, compute), attrs));
  };
  int64_t features = 0;
  for (int64_t feature : t.features)
    features = std::max(features, feature + 1);
  OpFoldResult width = b.dim(x, 1), rows = b.dim(x, 0), numTrees = b.getIndexAttr(t.roots.size());
  b.check(b.compare(arith::CmpIPredicate::sge, width, b.getIndexAttr(features)), "a node tests a feature that is not there");
  Value roots = integers(t.roots), featureIds = integers(t.features), modes = integers(t.modes);
  Value missing = integers(t.missing), onTrue = integers(t.onTrue), onFalse = integers(t.onFalse);
  Value memberStart = integers(t.memberStart), memberEnd = integers(t.memberEnd), splits = floats(t.splits);
  Value members = floats(t.members), weights = floats(t.weights), targets = integers(t.targets);
  llvm::SmallSetVector<int64_t, 7> usedModes(t.modes.begin(), t.modes.end());
  bool anyMissing = llvm::is_contained(t.missing, 1);

  // leaves[row, tree].
  Value depth = b.index(t.depth);
  Value leaves = b.generate({rows, numTrees}, i64, [&](ImplicitLocOpBuilder &n, ValueRange at) -> Value {
    Value zero = n.create<arith::ConstantIndexOp>(0), one = n.create<arith::ConstantIndexOp>(1);
    Value root = n.create<tensor::ExtractOp>(roots, at[1]);
    auto walk = n.create<scf::ForOp>(zero, depth, one, root, [&](OpBuilder &nested, Location loc, Value, ValueRange carried) {
      ImplicitLocOpBuilder m(loc, nested);
      auto read = [&](Value from, Value i) -> Value { return m.create<tensor::ExtractOp>(from, i); };
      auto toIndex = [&](Value i) -> Value { return m.create<arith::IndexCastOp>(m.getIndexType(), i); };
      Value none = m.create<arith::ConstantOp>(m.getI64IntegerAttr(0));
      Value isNode = m.create<arith::CmpIOp>(arith::CmpIPredicate::sge, carried[0], none);
      Value node = toIndex(m.create<arith::MaxSIOp>(carried[0], none));
      Value feature = m.create<tensor::ExtractOp>(x, ValueRange{at[0], toIndex(read(featureIds, node))});
      feature = scalar::decode(m, feature, onnx);
      Value split = read(splits, node), mode = read(modes, node), holds;
      for (int64_t used : usedModes) {
        using P = arith::CmpFPredicate;
        constexpr P predicates[] = {P::OLE, P::OLT, P::OGE, P::OGT, P::OEQ, P::UNE};
        Value test;
        if (used != MEMBER) {
          test = m.create<arith::CmpFOp>(predicates[used], feature, split);
        } else {
          Value no = m.create<arith::ConstantOp>(m.getBoolAttr(false));
          auto search = m.create<scf::ForOp>(
              toIndex(read(memberStart, node)), toIndex(read(memberEnd, node)), m.create<arith::ConstantIndexOp>(1), no,
              [&](OpBuilder &inner, Location innerLoc, Value i, ValueRange found) {
                ImplicitLocOpBuilder k(innerLoc, inner);
                Value same = k.create<arith::CmpFOp>(P::OEQ, feature, k.create<tensor::ExtractOp>(members, i));
                k.create<scf::YieldOp>(k.create<arith::OrIOp>(found[0], same).getResult());
              });
          test = search.getResult(0);
        }
        if (!holds) {
          holds = test;
          continue;
        }
        Value isMode = m.create<arith::CmpIOp>(arith::CmpIPredicate::eq, mode,
                                               m.create<arith::ConstantOp>(m.getI64IntegerAttr(used)));
        holds = m.create<arith::SelectOp>(isMode, test, holds);
      }
      if (anyMissing) {
        Value tracks = m.create<arith::CmpIOp>(arith::CmpIPredicate::ne, read(missing, node), none);
        Value isNaN = m.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, feature, feature);
        holds = m.create<arith::OrIOp>(holds, m.create<arith::AndIOp>(tracks, isNaN));
      }
      Value next = m.create<arith::SelectOp>(holds, read(onTrue, node), read(onFalse, node));
      m.create<scf::YieldOp>(m.create<arith::SelectOp>(isNode, next, carried[0]).getResult());
    });
    Value minusOne = n.create<arith::ConstantOp>(n.getI64IntegerAttr(-1));
    return n.create<arith::SubIOp>(minusOne, walk.getResult(0));
  });

  // result[row, target], over the trees. Only leaves of the target count.
  int64_t aggregate = static_cast<int64_t>(tree.getAggregateFunction());
  const llvm::fltSemantics &format = cast<FloatType>(compute).getFloatSemantics();
  double largest = APFloat::getLargest(isa<FloatType>(onnx) ? cast<FloatType>(onnx).getFloatSemantics() : format).convertToDouble();
  Value start = b.scalar(compute, aggregate == MIN ? largest : aggregate == MAX ? -largest : 0);
  Value init = b.fill({rows, b.getIndexAttr(t.numTargets)}, start);
  AffineMap leafMap = AffineMap::getMultiDimMapWithTargets(3, {0, 2}, b.getContext());
  AffineMap resultMap = AffineMap::getMultiDimMapWithTargets(3, {0, 1}, b.getContext());
  SmallVector<utils::IteratorType> iterators{utils::IteratorType::parallel, utils::IteratorType::parallel,
                                             utils::IteratorType::reduction};
  Value result = b.create<linalg::GenericOp>(
                      init.getType(), leaves, init, ArrayRef<AffineMap>{leafMap, resultMap}, iterators,
                      [&](OpBuilder &nested, Location loc, ValueRange v) {
                        ImplicitLocOpBuilder n(loc, nested);
                        Value leaf = n.create<arith::IndexCastOp>(n.getIndexType(), v[0]);
                        Value weight = n.create<tensor::ExtractOp>(weights, leaf), next;
                        Value target = n.create<arith::IndexCastOp>(n.getIndexType(), n.create<tensor::ExtractOp>(targets, leaf));
                        if (aggregate == MIN)
                          next = n.create<arith::MinimumFOp>(v[1], weight);
                        else if (aggregate == MAX)
                          next = n.create<arith::MaximumFOp>(v[1], weight);
                        else
                          next = n.create<arith::AddFOp>(v[1], weight);
                        Value counts = n.create<arith::CmpIOp>(arith::CmpIPredicate::eq, target, n.create<linalg::IndexOp>(1));
                        n.create<linalg::YieldOp>(n.create<arith::SelectOp>(counts, next, v[1]).getResult());
                      })
                     .getResult(0);
  if (aggregate == AVERAGE)
    result = b.elementwise(result, compute, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
      return n.create<arith::DivFOp>(v[0], constantFloat(n, compute, static_cast<double>(t.roots.size())));
    });
  return SmallVector<Value>{roundTo(b, result, onnx)};
}

STRATA_SLICE(TreeEnsemble) {
  ops.add("ml.TreeEnsemble", {.inferShapes = inferTreeEnsemble, .lower = lowerTreeEnsemble});
}
