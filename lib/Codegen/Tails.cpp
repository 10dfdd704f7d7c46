//===- Tails.cpp - results that are reduced while they are in registers ---===//
#include "Tails.h"
#include "LinalgQueries.h"
#include "WinogradMatrices.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace strata;
using linalg::GenericOp;

/// A reduction of one operand, each element of which it reads once.
static std::optional<Combiner> matchTail(GenericOp op) {
  if (!isReduction(op) || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      !isa<MemRefType>(op.getDpsInputs()[0].getType()) || !isVectorizable(op))
    return std::nullopt;
  if (!op.getBody()->getOps<memref::LoadOp>().empty() || !op.getBody()->getOps<linalg::IndexOp>().empty())
    return std::nullopt;
  AffineMap in = op.getIndexingMapsArray()[0], out = op.getIndexingMapsArray()[1];
  Type element = getElementTypeOrSelf(op.getDpsInits()[0].getType());
  if (!in.isPermutation() || !out.isProjectedPermutation() || !element.isIntOrFloat() || element.isInteger(1))
    return std::nullopt;
  return matchCombiner(op);
}

/// Whether `value` is there in front of `op`, in whose block it is used.
static bool isBefore(Value value, Operation *op) {
  Operation *maker = value.getDefiningOp();
  return !maker || maker->getBlock() != op->getBlock() || maker->isBeforeInBlock(op);
}

/// Whether nothing between the two operations writes to what `buffer` is a part of.
static bool staysUntouched(Value buffer, Operation *from, Operation *to) {
  Value root = rootOf(buffer);
  for (Operation *op = from->getNextNode(); op != to; op = op->getNextNode()) {
    if (isMemoryEffectFree(op) || isa<memref::AllocOp, memref::DeallocOp>(op))
      continue;
    auto generic = dyn_cast<GenericOp>(op);
    if (!generic || llvm::any_of(generic.getDpsInits(), [&](Value init) { return rootOf(init) == root; }))
      return false;
  }
  return true;
}

namespace {
class Joiner {
public:
  Joiner(SmallVector<NestOps> &nests, const NestOptions &options) : nests(nests), options(options) {}

  void join();

private:
  SmallVector<NestOps> &nests;
  const NestOptions &options;

  memref::AllocOp allocateParts(OpBuilder &b, GenericOp reduction, int64_t lanes, Value &parts);
  GenericOp gather(OpBuilder &b, GenericOp reduction, Value parts);
  bool fits(const NestOps &nest, GenericOp tail, int64_t lanes);
  void fill(OpBuilder &b, Value parts, TypedAttr neutral, NestOps &nest);
  GenericOp reduceParts(GenericOp reduction, const Combiner &combiner, Value parts);
  bool joinOne(NestOps &maker, GenericOp &reduction, SmallVector<NestOps> &before);
};
} // namespace

/// A vector for each result: of a whole block of rows, of which `parts` is what this one has.
memref::AllocOp Joiner::allocateParts(OpBuilder &b, GenericOp reduction, int64_t lanes, Value &parts) {
  Value results = reduction.getDpsInits()[0];
  auto type = cast<MemRefType>(results.getType());
  SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(b.getContext(), type.getShape());
  SmallVector<int64_t> shape(type.getShape());
  if (!type.hasStaticShape()) {
    auto part = results.getDefiningOp<memref::SubViewOp>();
    if (!part || part.getDroppedDims().any() || !part.getSourceType().hasStaticShape())
      return nullptr;
    sizes = part.getMixedSizes();
    shape.assign(part.getSourceType().getShape().begin(), part.getSourceType().getShape().end());
  }
  for (OpFoldResult size : sizes)
    if (auto value = dyn_cast<Value>(size); value && !isBefore(value, &*b.getInsertionPoint()))
      return nullptr;
  shape.push_back(lanes);
  Location loc = reduction.getLoc();
  auto alloc = b.create<memref::AllocOp>(loc, MemRefType::get(shape, type.getElementType()),
                                         b.getI64IntegerAttr(options.lineBytes));
  parts = alloc;
  if (!type.hasStaticShape()) {
    sizes.push_back(b.getIndexAttr(lanes));
    SmallVector<OpFoldResult> zeros(sizes.size(), b.getIndexAttr(0)), ones(sizes.size(), b.getIndexAttr(1));
    parts = b.create<memref::SubViewOp>(loc, parts, zeros, sizes, ones);
  }
  return alloc;
}

/// The reduction with the first lanes of `parts` as its results: a tail.
GenericOp Joiner::gather(OpBuilder &b, GenericOp reduction, Value parts) {
  AffineMap out = reduction.getIndexingMapsArray()[1];
  SmallVector<AffineExpr> place(out.getResults());
  place.push_back(b.getAffineConstantExpr(0));
  AffineMap maps[] = {reduction.getIndexingMapsArray()[0], AffineMap::get(out.getNumDims(), 0, place, b.getContext())};
  IRMapping mapping;
  mapping.map(reduction.getDpsInits()[0], parts);
  auto tail = cast<GenericOp>(b.clone(*reduction, mapping));
  tail.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  tail->setAttr(kTail, b.getUnitAttr());
  return tail;
}

/// Whether the nest with this tail, which follows it, has its rows along the lanes of vectors.
bool Joiner::fits(const NestOps &nest, GenericOp tail, int64_t lanes) {
  NestOps all = nest;
  all.push_back(tail);
  OpBuilder b(tail);
  // What describes the nest is not needed behind the question.
  auto forget = llvm::make_scope_exit([&, last = nest.back()] {
    while (tail->getPrevNode() != last)
      tail->getPrevNode()->erase();
  });
  FailureOr<LoopNest> built = buildLoopNest(b, all);
  if (failed(built))
    return false;
  simplify(b, tail.getLoc(), *built);
  mergeGroups(*built, options);
  NestPlan plan = planNest(*built, options);
  if (plan.lane < 0 || plan.laneIsReduction || plan.transposes || plan.interleaves || plan.laneBlock ||
      plan.width > lanes)
    return false;
  Stage &stage = built->tails.back();
  for (auto [dim, kind] : llvm::enumerate(tail.getIteratorTypesArray())) {
    bool isLane = stage.loopOf[dim] == plan.lane, reduces = kind == utils::IteratorType::reduction;
    if (reduces ? !isLane && stage.loopOf[dim] >= 0 : isLane)
      return false;
  }
  return true;
}

/// What a reduction begins with.
void Joiner::fill(OpBuilder &b, Value parts, TypedAttr neutral, NestOps &nest) {
  Location loc = parts.getLoc();
  int64_t rank = cast<MemRefType>(parts.getType()).getRank();
  AffineMap maps[] = {AffineMap::get(rank, 0, b.getContext()), b.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  Value number = b.create<arith::ConstantOp>(loc, neutral);
  nest.push_back(b.create<GenericOp>(loc, number, parts, maps, kinds, [](OpBuilder &b, Location loc, ValueRange args) {
    b.create<linalg::YieldOp>(loc, args[0]);
  }));
}

/// The reduction of the parts, in the place of that of the rows.
GenericOp Joiner::reduceParts(GenericOp reduction, const Combiner &combiner, Value parts) {
  OpBuilder b(reduction);
  int64_t rank = cast<MemRefType>(parts.getType()).getRank();
  AffineMap maps[] = {b.getMultiDimIdentityMap(rank), b.getMultiDimIdentityMap(rank).dropResult(rank - 1)};
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  kinds.back() = utils::IteratorType::reduction;
  auto result = b.create<GenericOp>(reduction.getLoc(), parts, reduction.getDpsInits(), maps, kinds,
                                    [&](OpBuilder &b, Location loc, ValueRange args) {
                                      b.create<linalg::YieldOp>(loc, combiner.joinScalars(b, loc, args[1], args[0]));
                                    });
  reduction.erase();
  return result;
}

bool Joiner::joinOne(NestOps &maker, GenericOp &reduction, SmallVector<NestOps> &before) {
  std::optional<Combiner> combiner = matchTail(reduction);
  GenericOp last;
  for (GenericOp op : maker)
    last = op->hasAttr(kTail) ? last : op;
  if (!combiner || reduction->getBlock() != last->getBlock() || last->hasAttr(kWinograd))
    return false;
  Value rows = reduction.getDpsInputs()[0];
  if (!llvm::is_contained(last.getDpsInits(), rows) || !staysUntouched(rows, last, reduction))
    return false;
  Type element = getElementTypeOrSelf(reduction.getDpsInits()[0].getType());
  int64_t lanes = options.vectorBits / element.getIntOrFloatBitWidth();
  OpBuilder b(maker.front());
  Value parts;
  memref::AllocOp buffer = allocateParts(b, reduction, lanes, parts);
  if (!buffer)
    return false;
  OpBuilder behind(maker.back());
  behind.setInsertionPointAfter(maker.back());
  GenericOp tail = gather(behind, reduction, parts);
  if (!fits(maker, tail, lanes)) {
    tail.erase();
    if (parts != buffer)
      parts.getDefiningOp()->erase();
    buffer.erase();
    return false;
  }
  maker.push_back(tail);
  fill(b, parts, combiner->neutral, before.emplace_back());
  reduction = reduceParts(reduction, *combiner, parts);
  OpBuilder(reduction->getBlock()->getTerminator()).create<memref::DeallocOp>(buffer.getLoc(), buffer);
  return true;
}

void Joiner::join() {
  SmallVector<NestOps> result;
  for (size_t maker = 0; maker < nests.size(); ++maker) {
    SmallVector<NestOps> fills;
    for (size_t later = maker + 1; later < nests.size(); ++later)
      for (GenericOp &op : nests[later])
        joinOne(nests[maker], op, fills);
    result.append(fills);
    result.push_back(nests[maker]);
  }
  nests = std::move(result);
}

void strata::joinTails(SmallVector<NestOps> &nests, const NestOptions &options) { Joiner(nests, options).join(); }
