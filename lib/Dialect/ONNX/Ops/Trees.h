//===- Trees.h - ensembles of decision trees --------------------*- C++ -*-===//
//
// The trees are data of the code: each row walks down each tree, as many steps
// as the deepest tree has levels; a leaf stays where it is. Then the votes of a
// row's leaves are aggregated by target.
//
// A missing value (NaN) goes where nodes_missing_value_tracks_true says, also at
// a node that tests for inequality (ONNX Runtime takes the true branch there). A
// target that no leaf of a row votes for has the score 0.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_TREES_H
#define STRATA_LIB_DIALECT_ONNX_OPS_TREES_H

#include "Scores.h"

namespace strata::trees {

enum Mode { LEQ, LT, GTE, GT, EQ, NEQ, MEMBER };
enum Aggregation { AVERAGE, SUM, MIN, MAX };

struct Ensemble {
  /// Of each tree: an inner node, or a leaf as -1 - leaf. So are the children.
  SmallVector<int64_t> roots;
  SmallVector<int64_t> features, modes, missing, onTrue, onFalse;
  SmallVector<double> splits;
  /// The members of a node's set: [memberStart, memberEnd); empty if no node has one.
  SmallVector<int64_t> memberStart, memberEnd;
  SmallVector<double> members;
  struct Vote {
    int64_t leaf, target;
    double weight;
  };
  SmallVector<Vote> votes;
  int64_t numLeaves = 0, numTargets = 0, depth = 0;

  int64_t numNodes() const { return features.size(); }

  /// Finds the depth; an error if a walk would not end.
  LogicalResult findDepth(Operation *op) {
    // A path longer than there are nodes goes round in circles.
    SmallVector<int64_t> level, following;
    llvm::copy_if(roots, std::back_inserter(level), [](int64_t root) { return root >= 0; });
    for (; !level.empty(); level.swap(following)) {
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

  /// The number of rows of the input, which must have the features that are tested.
  FailureOr<Dim> checkInput(ShapeContext &c) const {
    std::optional<Shape> shape = c.shape(0);
    if (shape && shape->size() != 2)
      return c.emitError() << "needs an input of rank 2, not " << shape->size();
    if (shape && shape->back().isStatic())
      for (int64_t feature : features)
        if (feature >= shape->back().size)
          return c.emitError() << "tests feature " << feature << " of " << shape->back().size;
    return shape ? shape->front() : Dim();
  }
};

inline Value integerTable(LinalgBuilder &b, ArrayRef<int64_t> values) {
  SmallVector<int64_t> some(values);
  if (some.empty())
    some.push_back(0);
  return b.constant(
      DenseIntElementsAttr::get(RankedTensorType::get({static_cast<int64_t>(some.size())}, b.getI64Type()), some));
}

inline Value floatTable(LinalgBuilder &b, ArrayRef<double> values, Type type) {
  SmallVector<double> some(values);
  if (some.empty())
    some.push_back(0);
  return scores::constantFloats<double>(b, some, {static_cast<int64_t>(some.size())}, type);
}

/// leaves[row, tree] of the features x[row, feature], which are compared in their type `compute`; `decode` makes that
/// of an element.
inline Value walk(LinalgBuilder &b, const Ensemble &t, Value x, Type compute, ScalarFn decode) {
  Type i64 = b.getI64Type();
  int64_t features = 0;
  for (int64_t feature : t.features)
    features = std::max(features, feature + 1);
  b.check(b.compare(arith::CmpIPredicate::sge, b.dim(x, 1), b.getIndexAttr(features)),
          "a node tests a feature that is not there");
  Value roots = integerTable(b, t.roots), featureIds = integerTable(b, t.features), modes = integerTable(b, t.modes);
  Value missing = integerTable(b, t.missing), onTrue = integerTable(b, t.onTrue), onFalse = integerTable(b, t.onFalse);
  Value memberStart = integerTable(b, t.memberStart), memberEnd = integerTable(b, t.memberEnd);
  Value splits = floatTable(b, t.splits, compute), members = floatTable(b, t.members, compute);
  llvm::SmallSetVector<int64_t, 7> usedModes(t.modes.begin(), t.modes.end());
  Value depth = b.index(t.depth);
  return b.generate(
      {b.dim(x, 0), b.getIndexAttr(t.roots.size())}, i64, [&](ImplicitLocOpBuilder &n, ValueRange at) -> Value {
        Value zero = n.create<arith::ConstantIndexOp>(0), one = n.create<arith::ConstantIndexOp>(1);
        Value node = n.create<tensor::ExtractOp>(roots, at[1]);
        if (t.depth > 0)
          node =
              n.create<
                   scf::ForOp>(zero, depth, one, node, [&](OpBuilder &nested, Location loc, Value, ValueRange carried) {
                 ImplicitLocOpBuilder m(loc, nested);
                 auto read = [&](Value from, Value i) -> Value { return m.create<tensor::ExtractOp>(from, i); };
                 auto toIndex = [&](Value i) -> Value { return m.create<arith::IndexCastOp>(m.getIndexType(), i); };
                 Value none = m.create<arith::ConstantOp>(m.getI64IntegerAttr(0));
                 Value isNode = m.create<arith::CmpIOp>(arith::CmpIPredicate::sge, carried[0], none);
                 Value node = toIndex(m.create<arith::MaxSIOp>(carried[0], none));
                 Value feature = decode(
                     m, m.create<tensor::ExtractOp>(x, ValueRange{at[0], toIndex(read(featureIds, node))}).getResult());
                 Value split = read(splits, node), mode = read(modes, node), holds;
                 for (int64_t used : usedModes) {
                   using P = arith::CmpFPredicate;
                   constexpr P predicates[] = {P::OLE, P::OLT, P::OGE, P::OGT, P::OEQ, P::ONE};
                   Value test;
                   if (used != MEMBER) {
                     test = m.create<arith::CmpFOp>(predicates[used], feature, split);
                   } else {
                     Value no = m.create<arith::ConstantOp>(m.getBoolAttr(false));
                     auto search = m.create<scf::ForOp>(
                         toIndex(read(memberStart, node)), toIndex(read(memberEnd, node)),
                         m.create<arith::ConstantIndexOp>(1), no,
                         [&](OpBuilder &inner, Location innerLoc, Value i, ValueRange found) {
                           ImplicitLocOpBuilder k(innerLoc, inner);
                           Value same =
                               k.create<arith::CmpFOp>(P::OEQ, feature, k.create<tensor::ExtractOp>(members, i));
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
                 if (llvm::any_of(t.missing, [](int64_t tracks) { return tracks != 0; })) {
                   Value tracks = m.create<arith::CmpIOp>(arith::CmpIPredicate::ne, read(missing, node), none);
                   Value isNaN = m.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, feature, feature);
                   holds = m.create<arith::OrIOp>(holds, m.create<arith::AndIOp>(tracks, isNaN));
                 }
                 Value next = m.create<arith::SelectOp>(holds, read(onTrue, node), read(onFalse, node));
                 m.create<scf::YieldOp>(m.create<arith::SelectOp>(isNode, next, carried[0]).getResult());
               }).getResult(0);
        Value minusOne = n.create<arith::ConstantOp>(n.getI64IntegerAttr(-1));
        return n.create<arith::SubIOp>(minusOne, node);
      });
}

/// scores[row, target] of the leaves, in `compute`.
inline Value aggregate(LinalgBuilder &b, const Ensemble &t, Value leaves, int64_t how, Type compute) {
  double start = how == MIN   ? std::numeric_limits<double>::infinity()
                 : how == MAX ? -std::numeric_limits<double>::infinity()
                              : 0;
  auto combine = [&](auto x, auto y) { return how == MIN ? std::min(x, y) : how == MAX ? std::max(x, y) : x + y; };
  // A leaf that votes for one target has the target beside its weight; where leaves vote for several, each has a weight
  // for every target.
  bool single = static_cast<int64_t>(t.votes.size()) <= t.numLeaves;
  llvm::SmallDenseSet<int64_t> voters;
  for (const Ensemble::Vote &vote : t.votes)
    single &= voters.insert(vote.leaf).second;
  int64_t width = single ? 1 : t.numTargets;
  SmallVector<double> weights(t.numLeaves * width, start);
  SmallVector<int64_t> targets(t.numLeaves, -1);
  for (const Ensemble::Vote &vote : t.votes) {
    double &weight = weights[single ? vote.leaf : vote.leaf * width + vote.target];
    weight = combine(weight, vote.weight);
    targets[vote.leaf] = vote.target;
  }
  Value weightTable = floatTable(b, weights, compute), targetTable = integerTable(b, targets);
  Value init = b.fill({b.dim(leaves, 0), b.getIndexAttr(t.numTargets)}, b.scalar(compute, start));
  AffineMap leafMap = AffineMap::getMultiDimMapWithTargets(3, {0, 2}, b.getContext());
  AffineMap resultMap = AffineMap::getMultiDimMapWithTargets(3, {0, 1}, b.getContext());
  SmallVector<utils::IteratorType> iterators{utils::IteratorType::parallel, utils::IteratorType::parallel,
                                             utils::IteratorType::reduction};
  Value result =
      b.create<linalg::GenericOp>(init.getType(), leaves, init, ArrayRef<AffineMap>{leafMap, resultMap}, iterators,
                                  [&](OpBuilder &nested, Location loc, ValueRange v) {
                                    ImplicitLocOpBuilder n(loc, nested);
                                    Value at = n.create<arith::IndexCastOp>(n.getIndexType(), v[0]);
                                    Value target = n.create<linalg::IndexOp>(1), leaf = at, next;
                                    if (!single)
                                      at = n.create<arith::AddIOp>(
                                          n.create<arith::MulIOp>(at, n.create<arith::ConstantIndexOp>(width)), target);
                                    Value weight = n.create<tensor::ExtractOp>(weightTable, at);
                                    if (how == MIN)
                                      next = n.create<arith::MinimumFOp>(v[1], weight);
                                    else if (how == MAX)
                                      next = n.create<arith::MaximumFOp>(v[1], weight);
                                    else
                                      next = n.create<arith::AddFOp>(v[1], weight);
                                    if (single) {
                                      Value own = n.create<arith::IndexCastOp>(
                                          n.getIndexType(), n.create<tensor::ExtractOp>(targetTable, leaf));
                                      Value counts = n.create<arith::CmpIOp>(arith::CmpIPredicate::eq, own, target);
                                      next = n.create<arith::SelectOp>(counts, next, v[1]);
                                    }
                                    n.create<linalg::YieldOp>(next);
                                  })
          .getResult(0);
  if (how == SUM)
    return result;
  return b.elementwise(result, compute, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    if (how == AVERAGE)
      return n.create<arith::DivFOp>(v[0], constantFloat(n, compute, static_cast<double>(t.roots.size())));
    Value none = n.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, v[0], constantFloat(n, compute, start));
    return n.create<arith::SelectOp>(none, constantFloat(n, compute, 0), v[0]);
  });
}

} // namespace strata::trees

#endif // STRATA_LIB_DIALECT_ONNX_OPS_TREES_H
