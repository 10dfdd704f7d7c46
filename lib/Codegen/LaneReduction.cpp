//===- LaneReduction.cpp - reductions along the lanes of vectors ----------===//
#include "TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace strata;

/// Whether a reduction along the lanes may load some of a vector's: all that it loads there is in lanes which a mask
/// has bits for.
bool TileEmitter::mayMaskLanes() {
  return target.partLoads && canComputeMore(nest) && llvm::all_of(nest.reduce->inputs, [&](Access &access) {
           Extent lanes = stride(access, plan.lane);
           bool hasBits = access.element.isIntOrFloat() && access.element.getIntOrFloatBitWidth() >= 32;
           return access.scalar || !access.base ||
                  (access.blockedLoop != plan.lane && (lanes.is(0) || (lanes.is(1) && hasBits)));
         });
}

/// The lane loop of a reduction: `carried` are the vector accumulators and, last,
/// the scalar one.
SmallVector<Value> TileEmitter::reduceLanes(const Tile &outer, SmallVector<Value> carried) {
  Stage &stage = *nest.reduce;
  const Extent &size = nest.loops[plan.lane].size;
  Value end = materialize(size), start = index(0);
  // A vector for each accumulator.
  auto step = [&](Tile tile, Value at, int64_t lanes, ValueRange accumulators) {
    tile.lanes = lanes;
    tile.at[plan.lane] = at;
    Values bases = basesOf(stage, tile), next;
    for (auto [k, access] : llvm::enumerate(stage.inputs))
      if (access.base)
        bases[k] = add(bases[k], position(access, tile, true));
    Loaded cache;
    for (auto [j, accumulator] : llvm::enumerate(accumulators)) {
      Values arguments = inputsOf(stage, bases, tile, 0, j, cache, {});
      arguments.push_back(accumulator);
      next.push_back(spread(body(stage, arguments, tile, 0, j, true)[0], lanes));
    }
    return next;
  };
  auto run = [&](MutableArrayRef<Value> accumulators, int64_t lanes) {
    int64_t distance = accumulators.size() * lanes;
    Value stop;
    if (size.isKnown()) {
      stop = index(size.known / distance * distance);
      if (getConstantIntValue(start) == getConstantIntValue(stop))
        return;
    } else {
      stop = b.create<arith::SubIOp>(loc, end, b.create<arith::RemUIOp>(loc, end, index(distance)));
    }
    auto each = b.create<scf::ForOp>(loc, start, stop, index(distance), accumulators);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(each.getBody());
      b.create<scf::YieldOp>(loc, step(outer, each.getInductionVar(), lanes, each.getRegionIterArgs()));
    }
    llvm::copy(each.getResults(), accumulators.begin());
    start = stop;
  };
  MutableArrayRef<Value> vectors = MutableArrayRef(carried).drop_back(), scalar = MutableArrayRef(carried).take_back();
  if (vectors.size() > 1)
    run(vectors, plan.width);
  if (plan.width > 1)
    run(vectors.take_front(), plan.width);
  // What is left of a vector: one that adds nothing in its other lanes.
  Extent left = size;
  if (size.isKnown())
    left.known %= plan.width;
  else
    left.value = b.create<arith::SubIOp>(loc, end, start);
  if (plan.width == 1 || left.is(1) || !mayMaskLanes()) {
    run(scalar, 1);
    return carried;
  }
  // Into the sums that the last full vector did not wait for.
  Value &sum = vectors.back();
  auto addPart = [&]() -> Value {
    Tile tile = outer;
    tile.mask = maskOf(plan.width, left);
    return b.create<arith::SelectOp>(loc, tile.mask, step(tile, start, plan.width, sum)[0], sum);
  };
  if (!left.isKnown()) {
    Value isSome = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, left.value, index(0));
    auto choice = b.create<scf::IfOp>(
        loc, isSome, [&](OpBuilder &, Location) { b.create<scf::YieldOp>(loc, addPart()); },
        [&](OpBuilder &, Location) { b.create<scf::YieldOp>(loc, sum); });
    sum = choice.getResult(0);
  } else if (left.known) {
    sum = addPart();
  }
  return carried;
}

/// All lanes of a vector as one.
Value TileEmitter::reduceVector(Value vector) {
  using vector::CombiningKind;
  CombiningKind kind = plan.combiner->kind;
  if (plan.combiner->comparison) {
    for (int64_t lanes = plan.width / 2; lanes >= 1; lanes /= 2) {
      auto half = [&](int64_t from) -> Value {
        return b.create<vector::ShuffleOp>(loc, vector, vector, llvm::to_vector(llvm::seq(from, from + lanes)));
      };
      Value upper = half(lanes);
      vector = plan.combiner->join(b, loc, half(0), upper);
    }
    return b.create<vector::ExtractOp>(loc, vector, 0);
  }
  if (kind != CombiningKind::MAXIMUMF && kind != CombiningKind::MINIMUMF)
    return b.create<vector::ReductionOp>(loc, kind, vector);
  // A NaN is looked for once, not at each of the halvings.
  Value isNaN = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNO, vector, vector);
  Value any = b.create<vector::ReductionOp>(loc, CombiningKind::OR, isNaN);
  kind = kind == CombiningKind::MAXIMUMF ? CombiningKind::MAXNUMF : CombiningKind::MINNUMF;
  Value number =
      b.create<vector::ReductionOp>(loc, kind, vector, arith::FastMathFlags::nnan | arith::FastMathFlags::nsz);
  auto type = cast<FloatType>(number.getType());
  Value nan = b.create<arith::ConstantOp>(loc, b.getFloatAttr(type, APFloat::getNaN(type.getFloatSemantics())));
  return b.create<arith::SelectOp>(loc, any, nan, number);
}

/// Along the lanes: in vectors of parts, which are combined with `start` at the end.
Value TileEmitter::reduceToOne(const Tile &tile, Value start) {
  Value neutral = b.create<arith::ConstantOp>(
      loc, DenseElementsAttr::get(VectorType::get({plan.width}, start.getType()), Attribute(plan.combiner->neutral)));
  Values parts(plan.vectorTile, neutral);
  parts.push_back(start);
  parts = reduceLoops(tile, reductionOrder(), parts,
                      [&](const Tile &inner, Values values) { return reduceLanes(inner, values); });
  auto combine = [&](Value x, Value y) { return plan.combiner->join(b, loc, x, y); };
  while (parts.size() > 2) {
    Value last = parts[parts.size() - 2];
    parts.erase(parts.end() - 2);
    Value &into = parts[(parts.size() - 1) / 2];
    into = combine(into, last);
  }
  return combine(parts[1], reduceVector(parts[0]));
}
