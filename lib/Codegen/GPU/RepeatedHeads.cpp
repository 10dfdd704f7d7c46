//===- RepeatedHeads.cpp - heads that share keys are not given copies of them //
//
// Where several heads of Q have the same K and V, exporters repeat those. The
// repetition is a broadcast whose loop is collapsed with that of the heads:
//
//   [b, 2, s, d] -> [b, 2, 4, s, d] -> [b, 8, s, d]
//
// The loop of the heads becomes two, of which K and V have the outer one only.
//
//===----------------------------------------------------------------------===//
#include "../Blocks.h"
#include "../LinalgQueries.h"
#include "Attention.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace strata;
using linalg::GenericOp;

namespace {
/// Where a product reads a tensor: of each dimension, an expression of the product's loops.
struct Reading {
  Value tensor;
  SmallVector<AffineExpr> at;
  SmallVector<GenericOp> made; ///< elementwise operations on the way, the last one first
};

/// Follows an operand to what has not been repeated yet.
class OperandTrace {
public:
  explicit OperandTrace(OpOperand &operand)
      : op(cast<GenericOp>(operand.getOwner())), map(op.getMatchingIndexingMap(&operand)),
        sizes(op.getStaticLoopRanges()), reading{operand.get(), llvm::to_vector(map.getResults()), {}} {}

  struct Repeated {
    Reading reading;
    unsigned loop;
    int64_t count; ///< neighbours along the loop that read the same
  };
  /// The nearest place before a repetition; nothing if there is none, or if more than one loop is not as before.
  std::optional<Repeated> find() {
    while (step())
      if (auto [loop, count] = findCount(); count)
        return Repeated{reading, loop, count};
    return std::nullopt;
  }

private:
  bool step() {
    Operation *maker = reading.tensor.getDefiningOp();
    if (auto transpose = dyn_cast_or_null<linalg::TransposeOp>(maker)) {
      SmallVector<AffineExpr> at(reading.at.size());
      for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
        at[from] = reading.at[to];
      return moveTo(transpose.getInput(), at);
    }
    if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(maker))
      return split(collapse);
    if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(maker))
      return join(expand);
    if (auto generic = dyn_cast_or_null<GenericOp>(maker))
      return through(generic);
    return false;
  }

  bool moveTo(Value tensor, ArrayRef<AffineExpr> at) {
    reading.tensor = tensor;
    reading.at = llvm::to_vector(at);
    return true;
  }

  /// An element of one tensor for each of another.
  bool through(GenericOp op) {
    if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() || op.hasIndexSemantics() ||
        !op.getBody()->getArgument(1).use_empty())
      return false;
    AffineMap in = op.getMatchingIndexingMap(op.getDpsInputOperand(0)),
              out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (!out.isPermutation() || !in.isProjectedPermutation(/*allowZeroInResults=*/true))
      return false;
    SmallVector<AffineExpr> loops(op.getNumLoops());
    for (unsigned i = 0; i < out.getNumResults(); ++i)
      loops[out.getDimPosition(i)] = reading.at[i];
    if (!llvm::hasSingleElement(*op.getBody()))
      reading.made.push_back(op);
    return moveTo(op.getDpsInputs()[0],
                  llvm::map_to_vector(in.getResults(), [&](AffineExpr e) { return e.replaceDims(loops); }));
  }

  bool split(tensor::CollapseShapeOp collapse) {
    ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
    SmallVector<AffineExpr> at(shape.size(), getAffineConstantExpr(0, collapse.getContext()));
    for (auto [whole, group] : llvm::zip(reading.at, collapse.getReassociationIndices())) {
      AffineExpr left = whole;
      SmallVector<int64_t> parts;
      llvm::copy_if(group, std::back_inserter(parts), [&](int64_t part) { return shape[part] != 1; });
      for (int64_t part : llvm::reverse(ArrayRef(parts).drop_front(parts.empty() ? 0 : 1))) {
        if (ShapedType::isDynamic(shape[part]))
          return false;
        at[part] = simplify(left % shape[part]);
        left = simplify(left.floorDiv(shape[part]));
      }
      if (!parts.empty())
        at[parts.front()] = left;
    }
    return moveTo(collapse.getSrc(), at);
  }

  bool join(tensor::ExpandShapeOp expand) {
    ArrayRef<int64_t> shape = expand.getResultType().getShape();
    SmallVector<AffineExpr> at;
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      AffineExpr whole = getAffineConstantExpr(0, expand.getContext());
      for (auto [i, part] : llvm::enumerate(group)) {
        if (i && ShapedType::isDynamic(shape[part]))
          return false;
        whole = i ? whole * shape[part] + reading.at[part] : reading.at[part];
      }
      at.push_back(simplify(whole));
    }
    return moveTo(expand.getSrc(), at);
  }

  /// Loops of one iteration are gone, and quotients and remainders of what is smaller than the divisor.
  AffineExpr simplify(AffineExpr expr) {
    SmallVector<AffineExpr> loops;
    for (auto [i, size] : llvm::enumerate(sizes))
      loops.push_back(size == 1 ? getAffineConstantExpr(0, expr.getContext()) : getAffineDimExpr(i, expr.getContext()));
    expr = simplifyAffineExpr(expr.replaceDims(loops), sizes.size(), 0);
    SmallVector<std::optional<int64_t>> lowest(sizes.size(), 0), highest;
    for (int64_t size : sizes)
      highest.push_back(ShapedType::isDynamic(size) ? std::nullopt : std::optional(size - 1));
    auto simpler = [&](AffineExpr e) {
      auto binary = dyn_cast<AffineBinaryOpExpr>(e);
      if (!binary || (e.getKind() != AffineExprKind::Mod && e.getKind() != AffineExprKind::FloorDiv))
        return e;
      auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
      std::optional<int64_t> bound =
          getBoundForAffineExpr(binary.getLHS(), sizes.size(), 0, lowest, highest, /*isUpper=*/true);
      if (!divisor || !bound || *bound >= divisor.getValue())
        return e;
      return e.getKind() == AffineExprKind::Mod ? binary.getLHS() : getAffineConstantExpr(0, e.getContext());
    };
    DenseMap<AffineExpr, AffineExpr> known;
    expr.walk([&](AffineExpr e) {
      if (AffineExpr other = simpler(e); other != e)
        known[e] = other;
    });
    return known.empty() ? expr : simplifyAffineExpr(expr.replace(known), sizes.size(), 0);
  }

  /// The loop that is not walked any more, or by a quotient only; a count of 0 if there is no such loop.
  std::pair<unsigned, int64_t> findCount() const {
    constexpr std::pair<unsigned, int64_t> none(0, 0);
    SmallVector<bool> walked(sizes.size(), false);
    std::pair<unsigned, int64_t> found = none;
    for (AffineExpr e : reading.at) {
      if (auto loop = dyn_cast<AffineDimExpr>(e)) {
        walked[loop.getPosition()] = true;
        continue;
      }
      if (isa<AffineConstantExpr>(e))
        continue;
      auto quotient = dyn_cast<AffineBinaryOpExpr>(e);
      if (!quotient || quotient.getKind() != AffineExprKind::FloorDiv || found.second)
        return none;
      auto loop = dyn_cast<AffineDimExpr>(quotient.getLHS());
      auto count = dyn_cast<AffineConstantExpr>(quotient.getRHS());
      if (!loop || !count)
        return none;
      found = {loop.getPosition(), count.getValue()};
    }
    for (unsigned loop = 0; loop < sizes.size(); ++loop) {
      if (!map.isFunctionOfDim(loop) || walked[loop] || sizes[loop] == 1 || (found.second && found.first == loop))
        continue;
      if (found.second || ShapedType::isDynamic(sizes[loop]))
        return none;
      found = {loop, sizes[loop]};
    }
    return found.second && walked[found.first] ? none : found;
  }

  GenericOp op;
  AffineMap map;
  SmallVector<int64_t> sizes;
  Reading reading;
};

/// Heads that share keys: how many follow each other, and which loop of the scores counts them.
struct Repetition {
  unsigned loop;
  int64_t count;
  Reading keys, values;
};
} // namespace

/// K and V are repeated alike, for heads of one loop.
static std::optional<Repetition> findRepetition(const Attention &a) {
  auto keys = OperandTrace(a.keys()).find(), values = OperandTrace(a.valuesOperand()).find();
  if (!keys || !values || a.valueLoops[values->loop] != static_cast<int>(keys->loop) || keys->count != values->count)
    return std::nullopt;
  int64_t heads = GenericOp(a.scores).getStaticLoopRanges()[keys->loop];
  if (ShapedType::isDynamic(heads) || heads % keys->count != 0 || static_cast<int>(keys->loop) == a.key)
    return std::nullopt;
  return Repetition{keys->loop, keys->count, std::move(keys->reading), std::move(values->reading)};
}

/// The elementwise operations on the way, of what has not been repeated.
static Value computeBefore(OpBuilder &b, const Reading &reading) {
  Value tensor = reading.tensor;
  auto rank = cast<RankedTensorType>(tensor.getType()).getRank();
  for (GenericOp op : llvm::reverse(reading.made)) {
    Location loc = op.getLoc();
    Type element = getElementTypeOrSelf(op.getResult(0).getType());
    Value init = b.create<tensor::EmptyOp>(loc, tensor::getMixedSizes(b, loc, tensor), element);
    AffineMap same = b.getMultiDimIdentityMap(rank);
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    auto copy = b.create<GenericOp>(loc, init.getType(), tensor, init, ArrayRef<AffineMap>{same, same}, loops);
    IRMapping mapping;
    op.getRegion().cloneInto(&copy.getRegion(), mapping);
    tensor = copy.getResult(0);
  }
  return tensor;
}

unsigned strata::remadeLoop(GenericOp op, const RemadeValues &before) {
  for (OpOperand *input : op.getDpsInputOperands())
    if (auto known = before.find(input->get()); known != before.end())
      return op.getMatchingIndexingMap(input).getDimPosition(known->second.dim);
  llvm_unreachable("operations of an attention read those before");
}

Value strata::placeLike(OpBuilder &b, Location loc, Value init, ArrayRef<OpFoldResult> sizes) {
  Value place = b.create<tensor::EmptyOp>(loc, sizes, getElementTypeOrSelf(init)), number = filledWith(init);
  return number ? b.create<linalg::FillOp>(loc, number, place).getResult(0) : place;
}

GenericOp strata::remake(OpBuilder &b, GenericOp op, unsigned loop, OpFoldResult size, const RemadeValues &before,
                         function_ref<Value(Value given, unsigned dim)> resized) {
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<unsigned> dim = positionOf(op.getMatchingIndexingMap(&operand), loop);
    Value tensor = operand.get();
    if (auto known = before.find(tensor); known != before.end()) {
      tensor = known->second.tensor;
    } else if (op.isDpsInit(&operand)) {
      SmallVector<OpFoldResult> sizes = destinationBehind(tensor).getMixedSizes();
      if (dim)
        sizes[*dim] = size;
      tensor = placeLike(b, op.getLoc(), tensor, sizes);
    } else if (dim) {
      tensor = resized(tensor, *dim);
    }
    operands.push_back(tensor);
  }
  return cast<GenericOp>(clone(b, op, operands.back().getType(), operands));
}

namespace {
/// The operations with one loop in two.
class LoopSplit {
public:
  LoopSplit(OpBuilder &b, const Attention &a, const Repetition &heads) : b(b), heads(heads) {
    replaced[&a.keys()] = &heads.keys;
    replaced[&a.valuesOperand()] = &heads.values;
  }

  /// The product with V; the result of the last operation has one dimension more, and is then as before.
  GenericOp apply(const Attention &a) {
    GenericOp values;
    for (auto [name, op] : a.ops()) {
      GenericOp copy = split(op, op == a.scores ? heads.loop : remadeLoop(op, done));
      if (op == a.values)
        values = copy;
    }
    Value before = a.last()->getResult(0);
    auto type = cast<RankedTensorType>(before.getType());
    auto [tensor, dim] = done.lookup(before);
    before.replaceAllUsesWith(
        b.create<tensor::CollapseShapeOp>(before.getLoc(), type, tensor, withNext(type.getRank(), dim)));
    return values;
  }

private:
  /// Loops behind the one that is split are one further.
  AffineMap splitMap(AffineMap map, unsigned loop) {
    SmallVector<AffineExpr> loops, results;
    for (unsigned i = 0; i < map.getNumDims(); ++i)
      loops.push_back(b.getAffineDimExpr(i + (i > loop)));
    for (AffineExpr e : map.getResults()) {
      auto quotient = dyn_cast<AffineBinaryOpExpr>(e);
      results.push_back(quotient ? quotient.getLHS() : e.replaceDims(loops));
      if (e == b.getAffineDimExpr(loop))
        results.push_back(b.getAffineDimExpr(loop + 1));
    }
    return AffineMap::get(map.getNumDims() + 1, 0, results, b.getContext());
  }

  Value expand(Location loc, Value tensor, unsigned dim) {
    if (auto known = done.find(tensor); known != done.end())
      return known->second.tensor;
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<ReassociationIndices> groups = withNext(type.getRank(), dim);
    SmallVector<OpFoldResult> sizes = splitSizes(tensor::getMixedSizes(b, loc, tensor), dim);
    SmallVector<int64_t> shape;
    for (OpFoldResult size : sizes)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    return b.create<tensor::ExpandShapeOp>(loc, type.clone(shape), tensor, groups, sizes);
  }

  SmallVector<OpFoldResult> splitSizes(SmallVector<OpFoldResult> sizes, unsigned dim) {
    sizes[dim] = b.getIndexAttr(*getConstantIntValue(sizes[dim]) / heads.count);
    sizes.insert(sizes.begin() + dim + 1, b.getIndexAttr(heads.count));
    return sizes;
  }

  GenericOp split(GenericOp op, unsigned loop) {
    Location loc = op.getLoc();
    SmallVector<Value> operands;
    SmallVector<AffineMap> maps;
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      Value tensor = operand.get();
      std::optional<unsigned> dim = map.getResultPosition(b.getAffineDimExpr(loop));
      if (const Reading *reading = replaced.lookup(&operand)) {
        tensor = computeBefore(b, *reading);
        map = AffineMap::get(map.getNumDims(), 0, reading->at, b.getContext());
      } else if (dim) {
        tensor = op.isDpsInit(&operand)
                     ? placeLike(b, loc, tensor, splitSizes(destinationBehind(tensor).getMixedSizes(), *dim))
                     : expand(loc, tensor, *dim);
      }
      operands.push_back(tensor);
      maps.push_back(splitMap(map, loop));
    }
    SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    iterators.insert(iterators.begin() + loop, utils::IteratorType::parallel);
    auto copy = b.create<GenericOp>(loc, operands.back().getType(), ArrayRef(operands).drop_back(), operands.back(),
                                    maps, iterators);
    IRMapping mapping;
    op.getRegion().cloneInto(&copy.getRegion(), mapping);
    copy.walk([&](linalg::IndexOp index) { splitIndex(index, loop); });
    unsigned dim = *op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResultPosition(b.getAffineDimExpr(loop));
    done[op->getResult(0)] = {copy.getResult(0), dim};
    return copy;
  }

  void splitIndex(linalg::IndexOp index, unsigned loop) {
    uint64_t dim = index.getDim();
    if (dim > loop)
      index.setDim(dim + 1);
    if (dim != loop)
      return;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(index);
    Location loc = index.getLoc();
    Value inner = b.create<linalg::IndexOp>(loc, loop + 1), count = b.create<arith::ConstantIndexOp>(loc, heads.count);
    auto first = b.create<arith::MulIOp>(loc, index, count);
    Value whole = b.create<arith::AddIOp>(loc, first, inner);
    index.getResult().replaceAllUsesExcept(whole, first);
  }

  OpBuilder &b;
  const Repetition &heads;
  llvm::DenseMap<OpOperand *, const Reading *> replaced;
  RemadeValues done;
};
} // namespace

/// Sizes along the loop are known in all operands.
static bool canSplit(const Attention &a, unsigned loop) {
  llvm::DenseMap<Value, unsigned> dims;
  for (auto [name, op] : a.ops()) {
    unsigned own = loop;
    for (OpOperand *input : op.getDpsInputOperands())
      if (auto known = dims.find(input->get()); known != dims.end())
        own = op.getMatchingIndexingMap(input).getDimPosition(known->second);
    AffineExpr expr = getAffineDimExpr(own, op.getContext());
    for (OpOperand &operand : op->getOpOperands()) {
      std::optional<unsigned> dim = op.getMatchingIndexingMap(&operand).getResultPosition(expr);
      if (dim && cast<RankedTensorType>(operand.get().getType()).isDynamicDim(*dim))
        return false;
    }
    dims[op->getResult(0)] = *op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResultPosition(expr);
  }
  return true;
}

GenericOp strata::shareRepeatedHeads(const Attention &a) {
  std::optional<Repetition> heads = findRepetition(a);
  if (!heads)
    return nullptr;
  OpBuilder b(a.last());
  if (GenericOp(a.scores).getStaticLoopRanges()[heads->loop] != heads->count) {
    if (!canSplit(a, heads->loop))
      return nullptr;
    for (auto [name, op] : a.ops())
      for (OpOperand *input : op.getDpsInputOperands())
        if (input != &a.keys() && input != &a.valuesOperand())
          readThroughTransposes(*input);
    GenericOp values = LoopSplit(b, a, *heads).apply(a);
    auto ops = a.ops();
    for (auto [name, op] : llvm::reverse(ops))
      op->erase();
    return values;
  }
  // All heads have the same: nothing to divide.
  for (auto [operand, reading] : {std::pair(&a.keys(), &heads->keys), std::pair(&a.valuesOperand(), &heads->values)}) {
    auto op = cast<GenericOp>(operand->getOwner());
    b.setInsertionPoint(op);
    operand->set(computeBefore(b, *reading));
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps[operand->getOperandNumber()] = AffineMap::get(op.getNumLoops(), 0, reading->at, op.getContext());
    op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  }
  return a.values;
}
