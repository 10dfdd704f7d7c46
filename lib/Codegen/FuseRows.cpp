//===- FuseRows.cpp - operations that share their rows run row by row -----===//
//
// A softmax or a normalisation is a chain of operations over the same rows, and
// attention one with a product of matrices at either end. Each by itself sweeps
// the whole tensor; together they run on a row, or a block of rows, whose values
// are still in the cache. Every element is computed once, as before.
//
//===----------------------------------------------------------------------===//
#include "FuseRows.h"
#include "Blocks.h"
#include "Codegen/Passes.h"
#include "Codegen/Target.h"
#include "ConstantExpressions.h"
#include "FusedRows.h"
#include "LinalgQueries.h"
#include "RegisterTile.h"
#include "RowCopies.h"
#include "RowTiles.h"
#include "RowWindows.h"
#include "UnitDims.h"
#include "WinogradMatrices.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

namespace strata {
#define GEN_PASS_DEF_FUSEROWS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using linalg::GenericOp;
using strata::bytesOf;
using strata::emptyBehind;
using strata::FusedRows;
using strata::hasNoWindow;
using strata::hasOwnWindows;
using strata::isInWindow;
using strata::isPartOfReduction;
using strata::mapOf;
using strata::positionOf;
using strata::RowLoops;
using strata::rowPadding;
using strata::RowTiles;

/// The rows by the loops of one operation, as those of another one that has the same tensor.
static std::optional<RowLoops> loopsThrough(AffineMap from, ArrayRef<unsigned> rows, AffineMap to) {
  RowLoops result;
  for (unsigned row : rows) {
    std::optional<unsigned> position = positionOf(from, row);
    if (!position)
      return std::nullopt;
    auto dim = dyn_cast<AffineDimExpr>(to.getResult(*position));
    if (!dim || llvm::is_contained(result, dim.getPosition()))
      return std::nullopt;
    result.push_back(dim.getPosition());
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Which operations
//===----------------------------------------------------------------------===//

FusedRows::FusedRows(GenericOp seed, const strata::ConstantExpressions &constants, const DenseSet<Operation *> &taken,
                     const strata::RowLimits &limits)
    : constants(constants), taken(taken), limits(limits) {
  RowLoops rows;
  SmallVector<int64_t> ranges = seed.getStaticLoopRanges();
  for (auto [loop, kind] : llvm::enumerate(seed.getIteratorTypesArray()))
    if (kind == utils::IteratorType::parallel && ranges[loop] != 1 && !isInWindow(seed, loop)) {
      rows.push_back(loop);
      extents.push_back(ranges[loop]);
    }
  if (add(seed, rows))
    grow();
}

/// Regular, with a result of its own, and the rows are dimensions of operands as they are.
bool FusedRows::isSuitable(GenericOp op, ArrayRef<unsigned> rows) const {
  // Minimal filtering works on tiles of pixels, not on rows.
  if (!op.hasPureTensorSemantics() || taken.contains(op) || op->hasAttr(strata::kWinograd))
    return false;
  if (limits.suits && !limits.suits(op))
    return false;
  for (Operation &inner : op.getBody()->without_terminator())
    if (inner.getNumRegions() || isa<tensor::ExtractOp>(inner) || !isMemoryEffectFree(&inner))
      return false;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!emptyBehind(init.get()) || !llvm::all_of(rows, [&](unsigned row) { return positionOf(mapOf(init), row); }))
      return false;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr expr : map.getResults())
      for (unsigned row : rows)
        if (kinds[row] != utils::IteratorType::parallel || (!isa<AffineDimExpr>(expr) && expr.isFunctionOfDim(row)))
          return false;
  return true;
}

/// Members and `op` mean the same by each row wherever they share a tensor.
bool FusedRows::agrees(GenericOp op, ArrayRef<unsigned> rows) const {
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto result = dyn_cast<OpResult>(input->get());
    if (result && isMember(result.getOwner()) &&
        loopsThrough(mapOf(result), loops.lookup(cast<GenericOp>(result.getOwner())), mapOf(*input)) != RowLoops(rows))
      return false;
  }
  for (OpResult result : op->getResults())
    for (OpOperand &use : result.getUses())
      if (isMember(use.getOwner()) &&
          loopsThrough(mapOf(result), rows, mapOf(use)) != loops.lookup(cast<GenericOp>(use.getOwner())))
        return false;
  return true;
}

/// A product of two computed matrices, one of which has the rows. A matrix of weights is best used up by all rows
/// before the next part of it is read.
bool FusedRows::isRowProduct(GenericOp op, ArrayRef<unsigned> rows) const {
  return op.getNumDpsInputs() == 2 && op.getNumDpsInits() == 1 && op.getNumReductionLoops() <= 3 &&
         llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) { return hasNoWindow(op, map); }) &&
         llvm::none_of(op.getDpsInputs(), [&](Value input) { return constants.isConstant(input); });
}

bool FusedRows::dependsOnMember(Operation *op, DenseMap<Operation *, bool> &known) const {
  Operation *first = loops.front().first;
  for (GenericOp member : members())
    if (member->isBeforeInBlock(first))
      first = member;
  std::function<bool(Operation *)> visit = [&](Operation *op) {
    op = first->getBlock()->findAncestorOpInBlock(*op);
    if (!op || !first->isBeforeInBlock(op))
      return op == first;
    if (isMember(op))
      return true;
    auto [entry, fresh] = known.try_emplace(op, false);
    if (!fresh)
      return entry->second;
    bool depends = false;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *maker = operand.getDefiningOp(); maker && !op->isProperAncestor(maker))
          depends = depends || visit(maker);
    });
    return known[op] = depends;
  };
  return visit(op);
}

/// Whether an operation between `op` and a member, or a member and `op`, would stay outside.
bool FusedRows::wouldEncloseOthers(GenericOp op) const {
  DenseMap<Operation *, bool> known;
  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), read);
  for (Value value : read)
    if (Operation *maker = value.getDefiningOp(); maker && !isMember(maker) && dependsOnMember(maker, known))
      return true;
  // From its results by way of others to a member.
  SmallVector<Operation *> reached;
  DenseSet<Operation *> seen;
  Operation *last = loops.front().first;
  for (GenericOp member : members())
    if (last->isBeforeInBlock(member))
      last = member;
  auto push = [&](Operation *user) {
    user = op->getBlock()->findAncestorOpInBlock(*user);
    if (user && !isMember(user) && user->isBeforeInBlock(last) && seen.insert(user).second)
      reached.push_back(user);
  };
  for (Operation *user : op->getUsers())
    push(user);
  while (!reached.empty()) {
    Operation *next = reached.pop_back_val();
    for (Operation *user : next->getUsers()) {
      if (isMember(op->getBlock()->findAncestorOpInBlock(*user)))
        return true;
      push(user);
    }
  }
  return false;
}

bool FusedRows::add(GenericOp op, ArrayRef<unsigned> rows) {
  if (rows.empty() || isMember(op) || !isSuitable(op, rows) || !agrees(op, rows))
    return false;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  unsigned within = 0, reductions = op.getNumReductionLoops();
  for (unsigned loop = 0; loop < kinds.size(); ++loop)
    within += kinds[loop] == utils::IteratorType::parallel && ranges[loop] != 1 && !llvm::is_contained(rows, loop);
  bool product = reductions && within && !(limits.windows && hasOwnWindows(op));
  if (product && (!limits.products || !isRowProduct(op, rows)))
    return false;
  if (!loops.empty() && wouldEncloseOthers(op))
    return false;
  loops.insert({op, RowLoops(rows)});
  if (!product && rowBytes() > limits.rowBytes) {
    loops.erase(op);
    return false;
  }
  hasProduct |= product;
  return true;
}

/// Neighbours by a tensor that both have, again and again.
void FusedRows::grow() {
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned m = 0; m < loops.size(); ++m) {
      auto [member, rows] = *(loops.begin() + m);
      for (OpOperand *input : member.getDpsInputOperands()) {
        auto maker = input->get().getDefiningOp<GenericOp>();
        if (!maker || maker->getBlock() != member->getBlock())
          continue;
        if (auto own = loopsThrough(mapOf(*input), rows, mapOf(cast<OpResult>(input->get()))))
          changed |= add(maker, *own);
      }
      for (OpResult result : member->getResults())
        for (OpOperand &use : result.getUses()) {
          auto user = dyn_cast<GenericOp>(use.getOwner());
          if (!user || user->getBlock() != member->getBlock() || user.isDpsInit(&use))
            continue;
          if (auto own = loopsThrough(mapOf(result), rows, mapOf(use)))
            changed |= add(user, *own);
        }
    }
  }
}

/// Whether some tensor with more than its rows is read or written by several members, or padded for one.
bool FusedRows::sweepsOften() const {
  DenseMap<Value, unsigned> sweeps;
  for (auto [op, rows] : loops) {
    if (hasOwnWindows(op) && rowPadding(op.getDpsInputs()[0], mapOf(*op.getDpsInputOperand(0)), rows))
      return true;
    SmallVector<Value> values = op.getDpsInputs();
    llvm::append_range(values, op->getResults());
    for (Value value : values) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type)
        continue;
      int64_t wide = llvm::count_if(type.getShape(), [](int64_t size) { return size != 1; });
      if (wide > static_cast<int64_t>(rows.size()) && ++sweeps[value] > 1)
        return true;
    }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

SmallVector<GenericOp> FusedRows::inOrder() const {
  SmallVector<GenericOp> order(members());
  llvm::sort(order, [](GenericOp x, GenericOp y) { return x->isBeforeInBlock(y); });
  return order;
}

/// By result, the one of an earlier member in whose place it comes: element by element, when nobody else reads that one
/// any more. A block then takes less of the cache, and where the last of them is a result of the loop, memory gets to
/// know where it will go while there is still something to compute.
DenseMap<OpResult, OpResult> FusedRows::sharePlaces(ArrayRef<GenericOp> order) const {
  DenseMap<OpResult, OpResult> result;
  for (GenericOp op : order) {
    if (op.getNumReductionLoops() || op->getNumResults() != 1 || !mapOf(op->getResult(0)).isIdentity())
      continue;
    for (OpOperand *input : op.getDpsInputOperands()) {
      auto source = dyn_cast<OpResult>(input->get());
      if (!source || !isMember(source.getOwner()) || source.getType() != op->getResult(0).getType() ||
          !mapOf(*input).isIdentity())
        continue;
      auto isDone = [&](OpOperand &use) {
        return &use == input || (isMember(use.getOwner()) && use.getOwner()->isBeforeInBlock(op));
      };
      if (isPartOfReduction(source) || !llvm::all_of(source.getUses(), isDone))
        continue;
      result[op->getResult(0)] = source;
      break;
    }
  }
  return result;
}

/// The loop comes where the last member is: what lies before and uses another member's result moves behind.
LogicalResult FusedRows::moveUsersBehind(ArrayRef<GenericOp> order) const {
  if (order.size() == 1)
    return success();
  SmallVector<Operation *> users;
  DenseSet<Operation *> moved;
  for (Operation *op = order.front()->getNextNode(); op != order.back(); op = op->getNextNode()) {
    if (isMember(op))
      continue;
    bool depends = false;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *maker = operand.getDefiningOp();
        maker = maker ? op->getBlock()->findAncestorOpInBlock(*maker) : nullptr;
        depends |= maker && (isMember(maker) || moved.contains(maker));
      }
    });
    if (!depends)
      continue;
    if (!isMemoryEffectFree(op))
      return failure();
    moved.insert(op);
    users.push_back(op);
  }
  Operation *last = order.back();
  for (Operation *op : users) {
    op->moveAfter(last);
    last = op;
  }
  return success();
}

LogicalResult FusedRows::fuse() {
  if (loops.empty() || llvm::is_contained(extents, 0))
    return failure();
  if (!sweepsOften() && !(limits.isLoop && limits.isLoop(loops.front().first)))
    return failure();
  Plan plan;
  plan.order = inOrder();
  if (failed(moveUsersBehind(plan.order)))
    return failure();
  OpBuilder b(plan.order.back());
  SmallVector<Location> locations;
  for (GenericOp op : plan.order)
    locations.push_back(op.getLoc());
  Location loc = FusedLoc::get(b.getContext(), locations);

  SmallVector<Value> destinations;
  for (GenericOp op : plan.order)
    for (OpResult result : op->getResults())
      if (!llvm::all_of(result.getUsers(), [&](Operation *user) { return isMember(user); })) {
        plan.results.push_back(result);
        tensor::EmptyOp empty = emptyBehind(op.getTiedOpOperand(result)->get());
        destinations.push_back(b.clone(*empty)->getResult(0));
      }
  if (limits.sharedPlaces)
    plan.before = sharePlaces(plan.order);
  for (auto [later, earlier] : plan.before)
    plan.after[earlier] = later;

  SmallVector<int64_t> block = blocks(plan.before);
  GenericOp seed = loops.front().first;
  Range range;
  range.first.assign(extents.size(), b.getIndexAttr(0));
  AffineMap seedMap = mapOf(seed->getResult(0));
  tensor::EmptyOp like = emptyBehind(seed.getDpsInits()[0]);
  for (auto [row, step] : llvm::zip(loops.front().second, block)) {
    range.counts.push_back(tensor::getMixedSize(b, loc, like, *positionOf(seedMap, row)));
    range.steps.push_back(b.getIndexAttr(step));
    range.most.push_back(range.steps.back());
  }
  Value fit = rowsThatFit(b, loc, block.back());
  if (fit) {
    range.steps.back() = fit;
    range.most.back() = b.getIndexAttr(strata::kMostRows);
  }
  for (GenericOp op : plan.order)
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (isMember(input->get().getDefiningOp()))
        continue;
      std::optional<strata::RowCopy> copy = strata::planCopy(op, input, loops.find(op)->second, extents, block, limits);
      if (copy && copy->transpose)
        copy->sizes = tensor::getMixedSizes(b, loc, copy->transpose.getInput());
      if (copy && copy->inLoop)
        plan.copies[input] = *copy;
      else if (copy)
        plan.copied[input] = strata::copyInBlocks(b, op, input, input->get(), copy->lanes);
    }

  // Of an unknown number of rows full blocks, then a few, then one row after the other: code for a number that is known
  // is shorter and faster. Of products, what is left of a block goes together.
  if (std::optional<unsigned> row = fit ? std::nullopt : peeledRow(block)) {
    constexpr int64_t few = 4; // as tiles of sums along the lanes have
    AffineExpr n = b.getAffineSymbolExpr(0), left = n;
    OpFoldResult all = range.counts[*row];
    auto rows = [&](AffineExpr count) { return affine::makeComposedFoldedAffineApply(b, loc, count, {all}); };
    range.isWhole = true;
    for (int64_t size = block[*row]; size > 1; size = size > few && !hasProduct ? few : 1) {
      AffineExpr rest = left % size;
      range.counts[*row] = rows(left - rest);
      range.steps[*row] = range.most[*row] = b.getIndexAttr(size);
      destinations = emitLoop(b, loc, plan, range, destinations);
      left = rest;
      range.first[*row] = rows(n - left);
    }
    range.counts[*row] = rows(left);
    range.isWhole = !hasProduct;
    if (range.isWhole)
      range.steps[*row] = range.most[*row] = b.getIndexAttr(1);
  }
  for (auto [result, whole] : llvm::zip(plan.results, emitLoop(b, loc, plan, range, destinations)))
    result.replaceAllUsesWith(whole);
  for (GenericOp op : llvm::reverse(plan.order))
    op->erase();
  return success();
}

/// One loop over blocks of rows, before the members.
ValueRange FusedRows::emitLoop(OpBuilder &b, Location loc, const Plan &plan, const Range &range,
                               ValueRange destinations) const {
  OpBuilder::InsertionGuard guard(b);
  Bounds zeros(extents.size(), b.getIndexAttr(0));
  auto forall = b.create<scf::ForallOp>(loc, zeros, range.counts, range.steps, destinations, /*mapping=*/std::nullopt);
  b.setInsertionPointToStart(forall.getBody());
  RowTiles emitter{b, loc, {}, {}, range.most, {}};
  AffineExpr i, n, step;
  bindDims(b.getContext(), i);
  bindSymbols(b.getContext(), n, step);
  AffineMap left = AffineMap::get(1, 2, {step, n - i}, b.getContext());
  for (auto [row, iv] : llvm::enumerate(forall.getInductionVars())) {
    bool fromStart = isConstantIntValue(range.first[row], 0);
    emitter.offsets.push_back(fromStart ? OpFoldResult(iv)
                                        : affine::makeComposedFoldedAffineApply(b, loc, n + i, {iv, range.first[row]}));
    OpFoldResult size = range.steps[row];
    std::optional<int64_t> rows = getConstantIntValue(size);
    bool full =
        range.isWhole || rows == 1 || (rows && !ShapedType::isDynamic(extents[row]) && extents[row] % *rows == 0);
    emitter.sizes.push_back(
        full ? size : affine::makeComposedFoldedAffineMin(b, loc, left, {OpFoldResult(iv), range.counts[row], size}));
  }

  SmallVector<tensor::ExtractSliceOp> places(plan.results.size());
  for (GenericOp op : plan.order) {
    ArrayRef<unsigned> rows = loops.find(op)->second;
    SmallVector<Value> operands;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (auto copy = plan.copied.find(input); copy != plan.copied.end()) {
        auto [value, map] = copy->second;
        maps[input->getOperandNumber()] = map;
        operands.push_back(emitter.read(value, map, rows));
        continue;
      }
      if (auto found = plan.copies.find(input); found != plan.copies.end()) {
        const strata::RowCopy &copy = found->second;
        Value part = copy.transpose ? emitter.transposed(copy.transpose, copy.sizes, mapOf(*input), rows)
                                    : emitter.read(input->get(), mapOf(*input), rows);
        AffineMap &map = maps[input->getOperandNumber()];
        if (copy.lanes)
          std::tie(part, map) = strata::copyInBlocks(b, op, input, part, copy.lanes);
        operands.push_back(part);
        continue;
      }
      Value known = emitter.tiles.lookupOrNull(input->get());
      bool hasRows = llvm::any_of(rows, [&, map = mapOf(*input)](unsigned row) { return map.isFunctionOfDim(row); });
      operands.push_back(known ? known : hasRows ? emitter.read(input->get(), mapOf(*input), rows) : input->get());
    }
    for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable())) {
      OpResult end = op->getResult(number);
      if (OpResult earlier = plan.before.lookup(end)) {
        operands.push_back(emitter.tiles.lookup(earlier));
        continue;
      }
      while (OpResult later = plan.after.lookup(end))
        end = later;
      size_t found = llvm::find(plan.results, end) - plan.results.begin();
      Value place;
      if (found == plan.results.size()) {
        place = emitter.scratch(init.get(), mapOf(init), rows);
      } else {
        places[found] = emitter.slice(forall.getRegionIterArgs()[found], mapOf(init), rows);
        place = places[found];
      }
      if (auto fill = init.get().getDefiningOp<linalg::FillOp>())
        place = b.create<linalg::FillOp>(fill.getLoc(), fill.getInputs()[0], place).getResult(0);
      operands.push_back(place);
    }
    SmallVector<Type> types;
    for (Value place : ArrayRef(operands).take_back(op.getNumDpsInits()))
      types.push_back(place.getType());
    auto tiled = cast<GenericOp>(clone(b, op, types, operands));
    tiled.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
    SmallVector<OpFoldResult> loopOffsets(op.getNumLoops(), b.getIndexAttr(0));
    for (auto [row, offset] : llvm::zip(rows, emitter.offsets))
      loopOffsets[row] = offset;
    linalg::offsetIndices(b, cast<linalg::LinalgOp>(tiled.getOperation()), loopOffsets);
    emitter.tiles.map(op->getResults(), tiled->getResults());
  }

  b.setInsertionPointToStart(forall.getTerminator().getBody());
  for (auto [number, result] : llvm::enumerate(plan.results)) {
    tensor::ExtractSliceOp place = places[number];
    b.create<tensor::ParallelInsertSliceOp>(loc, emitter.tiles.lookup(result), place.getSource(),
                                            place.getMixedOffsets(), place.getMixedSizes(), place.getMixedStrides());
  }
  return forall.getResults();
}

void strata::fuseRows(func::FuncOp function, const RowLimits &limits) {
  ConstantExpressions constants(function);
  readThroughUnitDims(function);
  SmallVector<GenericOp> seeds;
  function.walk([&](GenericOp op) {
    // Along whole rows, or in windows that lie in them.
    bool windows = limits.windows && hasOwnWindows(op);
    if (windows || (op.getNumReductionLoops() && llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
                      return map.isProjectedPermutation(true);
                    })))
      seeds.push_back(op);
  });
  DenseSet<Operation *> taken;
  for (GenericOp seed : seeds) {
    if (taken.contains(seed))
      continue;
    FusedRows group(seed, constants, taken, limits);
    SmallVector<Operation *> members(group.members().begin(), group.members().end());
    if (succeeded(group.fuse()))
      taken.insert(members.begin(), members.end());
  }
}

namespace {
struct FuseRowsPass : strata::WithTarget<strata::impl::FuseRowsBase<FuseRowsPass>> {
  using WithTarget::WithTarget;

  void runOnOperation() override {
    strata::RowLimits limits;
    limits.rowBytes = cacheBytes / 4;
    limits.productBytes = cacheBytes;
    limits.blockBytes = 2 * nearCacheBytes / 3;
    limits.furtherExtent = 32; // an image has 128 x 128 pixels
    limits.copiedBytes = cacheBytes / 2;
    limits.packedLanes = [facts = target()](int64_t rows, int64_t lanes) -> int64_t {
      if (ShapedType::isDynamic(lanes))
        return 0;
      int64_t width = facts.vectorBits / 32;
      return width * strata::chooseRegisterTile(facts, rows, lanes / width, /*mostVectors=*/8).vectors;
    };
    strata::fuseRows(getOperation(), limits);
  }
};
} // namespace
