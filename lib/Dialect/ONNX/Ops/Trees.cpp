//===- Trees.cpp - ensembles of decision trees ----------------------------===//
//
// The trees are data of the code: each row walks down each tree, and the votes
// of the leaves where it ends are aggregated by target.
//
// A step waits for its node, for the feature that it tests and for what they are
// compared by; so several trees are walked side by side, and by all rows of a
// block while the trees lie in a cache. Each test is made "x <= split": x < split
// is x <= the number below it, and where x > split leads, x <= split does not. A
// node is two words, its feature and its first child, and its split. The child
// that a test leads to lies behind the one where it fails, so that a step adds
// what the comparison says; a leaf leads to itself, since nothing passes its NaN.
// Only ensembles that test for equality or membership look at modes in a step.
//
//===----------------------------------------------------------------------===//

#include "Trees.h"

using namespace strata::trees;

LogicalResult Ensemble::checkEnds(Operation *op) const {
  // A path longer than there are nodes goes round in circles.
  SmallVector<int64_t> level, following;
  llvm::copy_if(roots, std::back_inserter(level), [](int64_t root) { return root >= 0; });
  for (int64_t depth = 0; !level.empty(); level.swap(following)) {
    if (++depth > numNodes())
      return op->emitOpError("has a tree that leads back to one of its nodes");
    following.clear();
    llvm::SmallDenseSet<int64_t> seen;
    for (int64_t node : level)
      for (int64_t child : {onTrue[node], onFalse[node]})
        if (child >= 0 && seen.insert(child).second)
          following.push_back(child);
  }
  return success();
}

FailureOr<Dim> Ensemble::checkInput(ShapeContext &c) const {
  std::optional<Shape> shape = c.shape(0);
  if (shape && shape->size() != 2)
    return c.emitError() << "needs an input of rank 2, not " << shape->size();
  if (shape && shape->back().isStatic())
    for (int64_t feature : features)
      if (feature >= shape->back().size)
        return c.emitError() << "tests feature " << feature << " of " << shape->back().size;
  return shape ? shape->front() : Dim();
}

namespace {
/// The trees of an ensemble as they are walked.
struct Layout {
  /// Trees are walked in groups of `width`, those of one target after each other, `groups` for each one. Where a tree's
  /// leaves vote for several targets, `targets` is 1 and `isByTarget` false.
  int64_t targets = 1, groups = 0, width = 1;
  bool isByTarget = false;
  /// Every test is x <= split. Some tests are passed by NaN, or all are.
  bool isPlain = true, someMissing = false, allMissing = true;
  int64_t numFeatures = 0;
  /// The places of the roots come first. Of each place: its two words, the leaf or -1, the node or -1.
  SmallVector<int64_t> words, leaves, nodes;
  /// The steps that all walks of a group take; then some may go on.
  SmallVector<int64_t> steps;
  bool goesOn = false;

  Layout(const Ensemble &t, bool isDouble);

private:
  /// A target that no vote is for, or votes for several are.
  static constexpr int64_t none = -1, several = -2;
  struct Tree {
    int64_t root = 0, depth = 0, target = none, number = 0;
    double meanDepth = 0;
  };
  /// x <= split, and where it leads; `missing`: NaN passes it.
  struct Test {
    double split;
    bool missing;
    int64_t onPass, onFail;
  };
  static Tree measure(const Ensemble &t, int64_t root, ArrayRef<int64_t> targetOfLeaf);
  static std::optional<Test> getTest(const Ensemble &t, int64_t node, bool isDouble);
  SmallVector<Tree> arrange(const Ensemble &t);
};

/// What makes the scores of an ensemble.
class Evaluator {
public:
  /// Features are compared and votes aggregated in `compute`, f32 or f64.
  Evaluator(LinalgBuilder &b, const Ensemble &t, Aggregation how, Type compute)
      : b(b), t(t), layout(t, compute.isF64()), how(how), compute(compute), words(integerTable(b, layout.words)),
        steps(integerTable(b, layout.steps)) {}

  /// scores[row, target] of x[row, feature], of whose elements `decode` makes numbers of `compute`.
  Value evaluate(Value x, ScalarFn decode);

private:
  double start() const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return how == MIN ? infinity : how == MAX ? -infinity : 0;
  }
  double combine(double x, double y) const { return how == MIN ? std::min(x, y) : how == MAX ? std::max(x, y) : x + y; }
  Value combine(ImplicitLocOpBuilder &n, Value x, Value y) const {
    if (how == MIN)
      return n.create<arith::MinimumFOp>(x, y);
    if (how == MAX)
      return n.create<arith::MaximumFOp>(x, y);
    return n.create<arith::AddFOp>(x, y);
  }
  static Value read(ImplicitLocOpBuilder &n, Value table, Value at) {
    if (!at.getType().isIndex())
      at = n.create<arith::IndexCastOp>(n.getIndexType(), at);
    return n.create<tensor::ExtractOp>(table, at);
  }

  Value sumByTree(Value features);
  Value sumByLeaf(Value features);
  SmallVector<Value> walk(ImplicitLocOpBuilder &n, Value features, Value row, Value group);
  Value step(ImplicitLocOpBuilder &n, Value features, Value row, Value place);
  Value testMode(ImplicitLocOpBuilder &n, Value feature, Value split, Value node);

  LinalgBuilder &b;
  const Ensemble &t;
  Layout layout;
  Aggregation how;
  Type compute;
  Value words, steps, nodes, modes, missing, memberStart, memberEnd, members;
};
} // namespace

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

/// Its levels, and the target that its leaves vote for.
Layout::Tree Layout::measure(const Ensemble &t, int64_t root, ArrayRef<int64_t> targetOfLeaf) {
  Tree tree;
  tree.root = root;
  int64_t ends = 0;
  SmallVector<int64_t> level{root}, following;
  for (; !level.empty(); level.swap(following), ++tree.depth) {
    following.clear();
    llvm::SmallDenseSet<int64_t> seen;
    for (int64_t place : level)
      if (place >= 0) {
        for (int64_t child : {t.onTrue[place], t.onFalse[place]})
          if (seen.insert(child).second)
            following.push_back(child);
      } else {
        tree.meanDepth += tree.depth;
        ++ends;
        int64_t target = targetOfLeaf[-1 - place];
        if (target != none)
          tree.target = tree.target == none || tree.target == target ? target : several;
      }
  }
  --tree.depth;
  tree.meanDepth /= ends;
  return tree;
}

/// The trees by target and depth; fills in how they are grouped.
SmallVector<Layout::Tree> Layout::arrange(const Ensemble &t) {
  SmallVector<int64_t> targetOfLeaf(t.numLeaves, none);
  for (const Ensemble::Vote &vote : t.votes) {
    int64_t &target = targetOfLeaf[vote.leaf];
    target = target == none || target == vote.target ? vote.target : several;
  }
  SmallVector<Tree> trees;
  SmallVector<int64_t> counts(t.numTargets);
  isByTarget = true;
  for (int64_t root : t.roots) {
    Tree &tree = trees.emplace_back(measure(t, root, targetOfLeaf));
    tree.number = trees.size();
    isByTarget &= tree.target != several;
    if (tree.target >= 0)
      ++counts[tree.target];
  }
  int64_t most = counts.empty() ? 0 : *llvm::max_element(counts);
  isByTarget &= most * t.numTargets <= 2 * static_cast<int64_t>(trees.size());
  if (isByTarget) {
    llvm::erase_if(trees, [](const Tree &tree) { return tree.target < 0; });
    targets = t.numTargets;
  } else {
    most = trees.size();
  }
  // The time of a step among others that are taken at once, measured.
  double least = std::numeric_limits<double>::infinity();
  for (auto [count, time] : {std::pair(1, 1.8), std::pair(2, 1.35), std::pair(3, 1.2), std::pair(4, 1.12)}) {
    double cost = time * llvm::alignTo(most, count);
    if (cost < least) {
      least = cost;
      width = count;
    }
  }
  groups = std::max<int64_t>(1, llvm::divideCeil(most, width));
  llvm::sort(trees, [&](const Tree &a, const Tree &b) {
    return std::tuple(isByTarget ? a.target : 0, a.depth, a.number) <
           std::tuple(isByTarget ? b.target : 0, b.depth, b.number);
  });
  // What is left of a group are trees of a leaf without votes.
  SmallVector<Tree> arranged(targets * groups * width, Tree{-1 - t.numLeaves});
  SmallVector<int64_t> next(targets);
  for (const Tree &tree : trees) {
    int64_t target = isByTarget ? tree.target : 0;
    arranged[target * groups * width + next[target]++] = tree;
  }
  return arranged;
}

/// None if the test is none of an order, or one that is not the complement of another for NaN.
std::optional<Layout::Test> Layout::getTest(const Ensemble &t, int64_t node, bool isDouble) {
  int64_t mode = t.modes[node];
  if (mode > GT)
    return std::nullopt;
  constexpr double lowest = -std::numeric_limits<double>::infinity();
  Test test{t.splits[node], t.missing[node] != 0, t.onTrue[node], t.onFalse[node]};
  if (mode == GTE || mode == GT) {
    std::swap(test.onPass, test.onFail);
    test.missing = !test.missing;
    if (std::isnan(test.split))
      return std::nullopt;
  }
  if (mode == LT || mode == GTE)
    test.split = test.split == lowest ? std::numeric_limits<double>::quiet_NaN()
                 : isDouble           ? std::nextafter(test.split, lowest)
                                      : std::nextafter(static_cast<float>(test.split), static_cast<float>(lowest));
  if (test.missing && std::isnan(test.split))
    return std::nullopt;
  return test;
}

Layout::Layout(const Ensemble &t, bool isDouble) {
  SmallVector<Test> tests;
  for (int64_t node = 0; node < t.numNodes(); ++node) {
    std::optional<Test> test = getTest(t, node, isDouble);
    isPlain &= test.has_value();
    tests.push_back(test.value_or(Test()));
  }
  for (int64_t node = 0; node < t.numNodes(); ++node) {
    Test &test = tests[node];
    if (!isPlain)
      test = {t.splits[node], t.missing[node] != 0, t.onTrue[node], t.onFalse[node]};
    someMissing |= test.missing;
    allMissing &= test.missing;
    numFeatures = std::max(numFeatures, t.features[node] + 1);
  }

  SmallVector<Tree> trees = arrange(t);
  words.resize(2 * trees.size());
  leaves.assign(trees.size(), -1);
  nodes.assign(trees.size(), -1);
  llvm::DenseMap<int64_t, int64_t> children;
  auto getBits = [&](double split) -> int64_t {
    return isDouble ? llvm::bit_cast<int64_t>(split) : llvm::bit_cast<uint32_t>(static_cast<float>(split));
  };
  for (auto [place, tree] : llvm::enumerate(trees)) {
    // (place, node or leaf), level by level.
    SmallVector<std::pair<int64_t, int64_t>> queue{{static_cast<int64_t>(place), tree.root}};
    for (size_t next = 0; next < queue.size(); ++next) {
      auto [at, node] = queue[next];
      if (node < 0) {
        words[2 * at] = at << 32;
        words[2 * at + 1] = getBits(std::numeric_limits<double>::quiet_NaN());
        leaves[at] = node == -1 - t.numLeaves ? -1 : -1 - node;
        continue;
      }
      const Test &test = tests[node];
      auto [first, isNew] = children.try_emplace(node, leaves.size());
      if (isNew) {
        words.resize(words.size() + 4);
        leaves.append(2, -1);
        nodes.append(2, -1);
        queue.push_back({first->second, test.onFail});
        queue.push_back({first->second + 1, test.onPass});
      }
      bool isMissing = isPlain && someMissing && !allMissing && test.missing;
      words[2 * at] = first->second << 32 | (t.features[node] + (isMissing ? numFeatures : 0));
      words[2 * at + 1] = getBits(test.split);
      nodes[at] = node;
    }
  }
  for (size_t first = 0; first < trees.size(); first += width) {
    ArrayRef<Tree> group = ArrayRef(trees).slice(first, width);
    double mean = 0;
    int64_t depth = 0;
    for (const Tree &tree : group) {
      mean = std::max(mean, tree.meanDepth);
      depth = std::max(depth, tree.depth);
    }
    // To look whether a walk goes on costs as much as some of the steps that it spares.
    bool isUneven = depth > mean + 3;
    goesOn |= isUneven;
    steps.push_back(isUneven ? std::ceil(mean) : depth);
  }
}

//===----------------------------------------------------------------------===//
// Evaluator
//===----------------------------------------------------------------------===//

Value Evaluator::evaluate(Value x, ScalarFn decode) {
  b.check(b.compare(arith::CmpIPredicate::sge, b.dim(x, 1), b.getIndexAttr(layout.numFeatures)),
          "a node tests a feature that is not there");
  if (!layout.isPlain) {
    nodes = integerTable(b, layout.nodes);
    modes = integerTable(b, t.modes);
    missing = integerTable(b, t.missing);
    memberStart = integerTable(b, t.memberStart);
    memberEnd = integerTable(b, t.memberEnd);
    members = floatTable(b, t.members, compute);
  }
  // Of a block of rows; NaN, where it passes tests, is what all splits are above.
  auto scoresOf = [&](OpFoldResult first, OpFoldResult rows) {
    OpFoldResult zero = b.getIndexAttr(0);
    Value block = b.slice(x, {first, zero}, {rows, b.getIndexAttr(layout.numFeatures)});
    if (getElementType(x) != compute)
      block = b.elementwise(block, compute, decode);
    if (layout.isPlain && layout.someMissing) {
      Value filled = b.elementwise(block, compute, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
        Value isNaN = n.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, v[0], v[0]);
        return n.create<arith::SelectOp>(isNaN, constantFloat(n, compute, -std::numeric_limits<double>::infinity()),
                                         v[0]);
      });
      block = layout.allMissing ? filled : b.concat({block, filled}, 1);
    }
    return layout.isByTarget ? sumByTree(block) : sumByLeaf(block);
  };
  // As many rows as the caches have room for beside some trees, and memory for what all walks give.
  const int64_t blockRows =
      std::clamp<int64_t>((1 << 20) / std::max<int64_t>(1, layout.targets * layout.groups), 16, 1024);
  OpFoldResult rows = b.dim(x, 0), zero = b.getIndexAttr(0);
  std::optional<int64_t> count = getConstantIntValue(rows);
  Value result;
  if (count && *count <= blockRows) {
    result = scoresOf(zero, rows);
  } else {
    Value scores = b.empty({rows, b.getIndexAttr(t.numTargets)}, compute);
    result = b.loopNest({b.ceilDiv(rows, b.getIndexAttr(blockRows))}, scores, [&](ValueRange at, ValueRange carried) {
      OpFoldResult first = b.mul(at[0], b.getIndexAttr(blockRows));
      OpFoldResult size = b.minimum(b.sub(rows, first), b.getIndexAttr(blockRows));
      return SmallVector<Value>{
          b.create<tensor::InsertSliceOp>(scoresOf(first, size), carried[0], SmallVector<OpFoldResult>{first, zero},
                                          SmallVector<OpFoldResult>{size, b.getIndexAttr(t.numTargets)},
                                          SmallVector<OpFoldResult>(2, b.getIndexAttr(1)))};
    })[0];
  }
  if (how == SUM)
    return result;
  return b.elementwise(result, compute, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    if (how == AVERAGE)
      return n.create<arith::DivFOp>(v[0], constantFloat(n, compute, static_cast<double>(t.roots.size())));
    Value none = n.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, v[0], constantFloat(n, compute, start()));
    return n.create<arith::SelectOp>(none, constantFloat(n, compute, 0), v[0]);
  });
}

/// Where a walk that ends is worth a number.
Value Evaluator::sumByTree(Value features) {
  SmallVector<double> votes(t.numLeaves, start()), weights;
  for (const Ensemble::Vote &vote : t.votes)
    votes[vote.leaf] = combine(votes[vote.leaf], vote.weight);
  for (int64_t leaf : layout.leaves)
    weights.push_back(leaf < 0 ? start() : votes[leaf]);
  Value weightTable = floatTable(b, weights, compute);
  OpFoldResult rows = b.dim(features, 0), groups = b.getIndexAttr(layout.groups);
  Value parts = b.generate(
      {b.getIndexAttr(layout.targets), groups, rows}, compute, [&](ImplicitLocOpBuilder &n, ValueRange at) -> Value {
        Value group = n.create<arith::AddIOp>(
            n.create<arith::MulIOp>(at[0], n.create<arith::ConstantIndexOp>(layout.groups)), at[1]);
        Value sum;
        for (Value place : walk(n, features, at[2], group)) {
          Value weight = read(n, weightTable, place);
          sum = sum ? combine(n, sum, weight) : weight;
        }
        return sum;
      });
  Value sums = b.reduce(parts, {1}, /*keepDims=*/false, b.scalar(compute, start()),
                        [&](ImplicitLocOpBuilder &n, ValueRange v) { return combine(n, v[1], v[0]); });
  return b.transpose(sums, {1, 0});
}

/// Where leaves vote for several targets: the sums of the rows of weights that the leaves have.
Value Evaluator::sumByLeaf(Value features) {
  OpFoldResult rows = b.dim(features, 0), groups = b.getIndexAttr(layout.groups);
  // A leaf that is added has the last row. Where targets are many and hardly used, leaves have one weight and a target.
  bool isSparse = t.numLeaves * t.numTargets > (1 << 22);
  llvm::SmallDenseSet<int64_t> voters;
  for (const Ensemble::Vote &vote : t.votes)
    isSparse &= voters.insert(vote.leaf).second;
  int64_t columns = isSparse ? 1 : t.numTargets;
  SmallVector<double> weights((t.numLeaves + 1) * columns, start());
  SmallVector<int64_t> targets(t.numLeaves + 1, -1);
  for (const Ensemble::Vote &vote : t.votes) {
    double &weight = weights[isSparse ? vote.leaf : vote.leaf * columns + vote.target];
    weight = combine(weight, vote.weight);
    targets[vote.leaf] = vote.target;
  }
  SmallVector<int64_t> leaves;
  for (int64_t leaf : layout.leaves)
    leaves.push_back(leaf < 0 ? t.numLeaves : leaf);
  Value leafTable = integerTable(b, leaves), targetTable = isSparse ? integerTable(b, targets) : Value();
  Value weightTable =
      b.reshape(floatTable(b, weights, compute), {b.getIndexAttr(t.numLeaves + 1), b.getIndexAttr(columns)});

  auto map = [&](ArrayRef<unsigned> dims, unsigned rank) {
    return AffineMap::getMultiDimMapWithTargets(rank, dims, b.getContext());
  };
  constexpr auto parallel = utils::IteratorType::parallel, reduction = utils::IteratorType::reduction;
  SmallVector<Value> inits(layout.width, b.empty({groups, rows}, b.getI64Type()));
  auto walks = b.create<linalg::GenericOp>(
      TypeRange(ValueRange(inits)), ValueRange(), inits, SmallVector<AffineMap>(layout.width, map({0, 1}, 2)),
      SmallVector<utils::IteratorType>(2, parallel), [&](OpBuilder &nested, Location loc, ValueRange) {
        ImplicitLocOpBuilder n(loc, nested);
        SmallVector<Value> found;
        for (Value place : walk(n, features, n.create<linalg::IndexOp>(1), n.create<linalg::IndexOp>(0)))
          found.push_back(read(n, leafTable, place));
        n.create<linalg::YieldOp>(found);
      });

  Value init = b.fill({rows, b.getIndexAttr(t.numTargets)}, b.scalar(compute, start()));
  SmallVector<AffineMap> maps(layout.width, map({1, 0}, 3));
  maps.push_back(map({0, 2}, 3));
  SmallVector<utils::IteratorType> iterators{parallel, reduction, parallel};
  return b
      .create<linalg::GenericOp>(
          init.getType(), walks.getResults(), init, maps, iterators,
          [&](OpBuilder &nested, Location loc, ValueRange v) {
            ImplicitLocOpBuilder n(loc, nested);
            Value target = n.create<linalg::IndexOp>(2), zero = n.create<arith::ConstantIndexOp>(0), sum = v.back();
            for (Value found : v.drop_back()) {
              Value leaf = n.create<arith::IndexCastOp>(n.getIndexType(), found);
              Value weight = n.create<tensor::ExtractOp>(weightTable, ValueRange{leaf, isSparse ? zero : target});
              Value next = combine(n, sum, weight);
              if (isSparse) {
                Value own = n.create<arith::IndexCastOp>(n.getIndexType(), read(n, targetTable, leaf));
                next = n.create<arith::SelectOp>(n.create<arith::CmpIOp>(arith::CmpIPredicate::eq, own, target), next,
                                                 sum);
              }
              sum = next;
            }
            n.create<linalg::YieldOp>(sum);
          })
      .getResult(0);
}

/// The places where a row ends in the trees of a group.
SmallVector<Value> Evaluator::walk(ImplicitLocOpBuilder &n, Value features, Value row, Value group) {
  auto integer = [&](int64_t value) -> Value { return n.create<arith::ConstantOp>(n.getI64IntegerAttr(value)); };
  Value first = n.create<arith::MulIOp>(n.create<arith::IndexCastOp>(n.getI64Type(), group), integer(layout.width));
  SmallVector<Value> places;
  for (int64_t i = 0; i < layout.width; ++i)
    places.push_back(n.create<arith::AddIOp>(first, integer(i)));
  auto stepAll = [&](OpBuilder &nested, Location loc, ValueRange from) {
    ImplicitLocOpBuilder m(loc, nested);
    return llvm::map_to_vector(from, [&](Value place) { return step(m, features, row, place); });
  };
  Value zero = n.create<arith::ConstantIndexOp>(0), one = n.create<arith::ConstantIndexOp>(1), count;
  if (llvm::all_equal(layout.steps) && !layout.steps.empty())
    count = n.create<arith::ConstantIndexOp>(layout.steps.front());
  else
    count = n.create<arith::IndexCastOp>(n.getIndexType(), read(n, steps, group));
  auto sure = n.create<scf::ForOp>(zero, count, one, places, [&](OpBuilder &m, Location loc, Value, ValueRange from) {
    m.create<scf::YieldOp>(loc, stepAll(m, loc, from));
  });
  if (!layout.goesOn)
    return SmallVector<Value>(sure.getResults());
  // A step that leads nowhere is the last one.
  auto rest = n.create<scf::WhileOp>(
      ValueRange(places).getTypes(), sure.getResults(),
      [&](OpBuilder &m, Location loc, ValueRange from) {
        SmallVector<Value> next = stepAll(m, loc, from);
        Value moved;
        for (auto [before, after] : llvm::zip_equal(from, next)) {
          Value differs = m.create<arith::XOrIOp>(loc, before, after);
          moved = moved ? m.create<arith::OrIOp>(loc, moved, differs).getResult() : differs;
        }
        Value none = m.create<arith::ConstantOp>(loc, m.getI64IntegerAttr(0));
        m.create<scf::ConditionOp>(loc, m.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, moved, none), next);
      },
      [&](OpBuilder &m, Location loc, ValueRange from) { m.create<scf::YieldOp>(loc, from); });
  return SmallVector<Value>(rest.getResults());
}

/// The place behind `place`.
Value Evaluator::step(ImplicitLocOpBuilder &n, Value features, Value row, Value place) {
  auto integer = [&](int64_t value) -> Value { return n.create<arith::ConstantOp>(n.getI64IntegerAttr(value)); };
  Value at = n.create<arith::ShLIOp>(place, integer(1));
  Value word = read(n, words, at), bits = read(n, words, n.create<arith::OrIOp>(at, integer(1)));
  Value split = compute.isF64() ? n.create<arith::BitcastOp>(compute, bits)
                                : n.create<arith::BitcastOp>(compute, n.create<arith::TruncIOp>(n.getI32Type(), bits));
  Value column = n.create<arith::AndIOp>(word, integer((int64_t(1) << 32) - 1));
  Value feature =
      n.create<tensor::ExtractOp>(features, ValueRange{row, n.create<arith::IndexCastOp>(n.getIndexType(), column)});
  Value holds = layout.isPlain ? n.create<arith::CmpFOp>(arith::CmpFPredicate::OLE, feature, split).getResult()
                               : testMode(n, feature, split, read(n, nodes, place));
  return n.create<arith::AddIOp>(n.create<arith::ShRUIOp>(word, integer(32)),
                                 n.create<arith::ExtUIOp>(n.getI64Type(), holds));
}

/// Whether a feature passes the test of `node`; at a leaf, which has none (-1), it does not.
Value Evaluator::testMode(ImplicitLocOpBuilder &n, Value feature, Value split, Value node) {
  Value none = n.create<arith::ConstantOp>(n.getI64IntegerAttr(0));
  Value isNode = n.create<arith::CmpIOp>(arith::CmpIPredicate::sge, node, none);
  node = n.create<arith::IndexCastOp>(n.getIndexType(), n.create<arith::MaxSIOp>(node, none));
  auto readIndex = [&](Value table) -> Value {
    return n.create<arith::IndexCastOp>(n.getIndexType(), read(n, table, node));
  };
  using P = arith::CmpFPredicate;
  constexpr P predicates[] = {P::OLE, P::OLT, P::OGE, P::OGT, P::OEQ, P::ONE};
  llvm::SmallSetVector<int64_t, 7> used(t.modes.begin(), t.modes.end());
  Value mode = read(n, modes, node), holds;
  for (int64_t known : used) {
    Value test;
    if (known != MEMBER) {
      test = n.create<arith::CmpFOp>(predicates[known], feature, split);
    } else {
      Value no = n.create<arith::ConstantOp>(n.getBoolAttr(false)), one = n.create<arith::ConstantIndexOp>(1);
      auto search = n.create<scf::ForOp>(readIndex(memberStart), readIndex(memberEnd), one, no,
                                         [&](OpBuilder &nested, Location loc, Value i, ValueRange found) {
                                           ImplicitLocOpBuilder m(loc, nested);
                                           Value same = m.create<arith::CmpFOp>(P::OEQ, feature, read(m, members, i));
                                           m.create<scf::YieldOp>(m.create<arith::OrIOp>(found[0], same).getResult());
                                         });
      test = search.getResult(0);
    }
    if (!holds) {
      holds = test;
      continue;
    }
    Value isMode = n.create<arith::CmpIOp>(arith::CmpIPredicate::eq, mode,
                                           n.create<arith::ConstantOp>(n.getI64IntegerAttr(known)));
    holds = n.create<arith::SelectOp>(isMode, test, holds);
  }
  if (layout.someMissing) {
    Value tracks = n.create<arith::CmpIOp>(arith::CmpIPredicate::ne, read(n, missing, node), none);
    Value isNaN = n.create<arith::CmpFOp>(P::UNO, feature, feature);
    holds = n.create<arith::OrIOp>(holds, n.create<arith::AndIOp>(tracks, isNaN));
  }
  return n.create<arith::AndIOp>(isNode, holds);
}

Value strata::trees::evaluate(LinalgBuilder &b, const Ensemble &ensemble, Aggregation how, Type compute, Value x,
                              ScalarFn decode) {
  return Evaluator(b, ensemble, how, compute).evaluate(x, decode);
}
