//===- LoopNest.cpp - linalg operations on buffers as strided loop nests --===//
#include "LoopNest.h"
#include "LinalgQueries.h"
#include "ProductSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace strata;

namespace {
/// Sums of products of extents, folded where they are known.
struct ExtentMath {
  OpBuilder &b;
  Location loc;

  Value materialize(const Extent &e) {
    return e.value ? e.value : b.create<arith::ConstantIndexOp>(loc, e.known).getResult();
  }
  Extent add(const Extent &x, const Extent &y) {
    if (x.isKnown() && y.isKnown())
      return {x.known + y.known, {}};
    if (x.is(0))
      return y;
    if (y.is(0))
      return x;
    return {0, b.create<arith::AddIOp>(loc, materialize(x), materialize(y))};
  }
  Extent scale(const Extent &x, int64_t factor) {
    if (x.isKnown())
      return {x.known * factor, {}};
    if (factor == 1)
      return x;
    return {0, b.create<arith::MulIOp>(loc, x.value, b.create<arith::ConstantIndexOp>(loc, factor))};
  }
  Extent multiply(const Extent &x, const Extent &y) {
    if (x.isKnown() || y.isKnown())
      return y.isKnown() ? scale(x, y.known) : scale(y, x.known);
    return {0, b.create<arith::MulIOp>(loc, x.value, y.value)};
  }
  Extent of(OpFoldResult ofr) {
    if (std::optional<int64_t> known = getConstantIntValue(ofr))
      return {*known, {}};
    return {0, cast<Value>(ofr)};
  }
};

/// coefficients[d] * dimension d + constant, or nothing.
struct Linear {
  SmallVector<int64_t> coefficients;
  int64_t constant = 0;
};
} // namespace

static std::optional<Linear> linearize(AffineExpr expr, unsigned dims) {
  Linear result{SmallVector<int64_t>(dims, 0), 0};
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    result.coefficients[dim.getPosition()] = 1;
    return result;
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    result.constant = constant.getValue();
    return result;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<Linear> lhs = linearize(binary.getLHS(), dims), rhs = linearize(binary.getRHS(), dims);
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add) {
    for (unsigned d = 0; d < dims; ++d)
      result.coefficients[d] = lhs->coefficients[d] + rhs->coefficients[d];
    result.constant = lhs->constant + rhs->constant;
    return result;
  }
  if (expr.getKind() == AffineExprKind::Mul) {
    auto isConstant = [](const Linear &l) { return llvm::all_of(l.coefficients, [](int64_t c) { return c == 0; }); };
    if (!isConstant(*rhs))
      std::swap(lhs, rhs);
    if (!isConstant(*rhs))
      return std::nullopt;
    for (unsigned d = 0; d < dims; ++d)
      result.coefficients[d] = lhs->coefficients[d] * rhs->constant;
    result.constant = lhs->constant * rhs->constant;
    return result;
  }
  return std::nullopt;
}

/// d floordiv block / d mod block: gives d and the block's size.
static std::optional<std::pair<unsigned, int64_t>> matchBlocked(AffineExpr expr, AffineExprKind kind) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || binary.getKind() != kind)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
  auto size = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!dim || !size)
    return std::nullopt;
  return std::pair<unsigned, int64_t>(dim.getPosition(), size.getValue());
}

Value strata::viewAs(OpBuilder &b, Location loc, Value base, Type element) {
  Type type = cast<BaseMemRefType>(base.getType()).cloneWith(std::nullopt, element);
  return b.create<UnrealizedConversionCastOp>(loc, type, base).getResult(0);
}

static bool hasVectors(Type element) { return element.isIntOrIndexOrFloat(); }

/// The loop whose iterations are all positions of a buffer's dimension; -1: there is none. Those of a window are some
/// of them, unless the window is one position: the seam promises as many results then.
static int walksAlone(AffineExpr expr, int64_t size, ArrayRef<int64_t> ranges, ArrayRef<int> loopOf) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return loopOf[dim.getPosition()];
  std::optional<Linear> linear = linearize(expr, ranges.size());
  if (!linear || linear->constant)
    return -1;
  int walks = -1;
  for (auto [d, coefficient] : llvm::enumerate(linear->coefficients)) {
    if (coefficient == 0 || ranges[d] == 1)
      continue;
    if (walks >= 0 || coefficient != 1 || ranges[d] != size)
      return -1;
    walks = d;
  }
  return walks < 0 ? -1 : loopOf[walks];
}

/// Whether the buffer has all positions of a dimension that the buffer has whose part it is.
static bool isWhole(memref::SubViewOp part, unsigned dim) {
  if (!isConstantIntValue(part.getMixedOffsets()[dim], 0) || !isConstantIntValue(part.getMixedStrides()[dim], 1))
    return false;
  OpFoldResult size = part.getMixedSizes()[dim];
  if (int64_t all = part.getSourceType().getDimSize(dim); !ShapedType::isDynamic(all))
    return isConstantIntValue(size, all);
  if (auto alloc = part.getSource().getDefiningOp<memref::AllocOp>())
    return alloc.getMixedSizes()[dim] == size;
  auto buffer = dyn_cast<BlockArgument>(part.getSource());
  auto argument = dyn_cast_or_null<BlockArgument>(dyn_cast<Value>(size));
  auto function = buffer ? dyn_cast<func::FuncOp>(buffer.getOwner()->getParentOp()) : nullptr;
  if (!function || !argument || argument.getOwner() != buffer.getOwner())
    return false;
  auto sizes = function.getArgAttrOfType<DenseI64ArrayAttr>(buffer.getArgNumber(), kSizes);
  return sizes && sizes[dim] == argument.getArgNumber();
}

/// Of loops that walk dimensions side by side: one lies inside of the other.
static void findInside(Access &access, Value buffer, AffineMap map, ArrayRef<int64_t> ranges, ArrayRef<int> loopOf) {
  auto type = cast<MemRefType>(buffer.getType());
  memref::SubViewOp part;
  if (!type.getLayout().isIdentity()) {
    part = buffer.getDefiningOp<memref::SubViewOp>();
    if (!part || !part.getSourceType().getLayout().isIdentity() || part.getSourceType().getRank() != type.getRank())
      return;
  }
  int outer = -1;
  for (auto [dim, size, expr] : llvm::enumerate(type.getShape(), map.getResults())) {
    bool whole = !part || isWhole(part, dim);
    if (size == 1 && whole)
      continue;
    int inner = size == 1 ? -1 : walksAlone(expr, size, ranges, loopOf);
    if (whole && outer >= 0 && inner >= 0 && outer != inner)
      access.inside[outer] = inner;
    outer = inner;
  }
}

static FailureOr<Access> buildAccess(ExtentMath &math, OpOperand &operand, AffineMap map, ArrayRef<int> loopOf,
                                     unsigned loops) {
  Access access;
  access.strides.resize(loops);
  access.inside.assign(loops, -1);
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type) {
    access.scalar = operand.get();
    access.element = operand.get().getType();
    return access;
  }
  access.element = type.getElementType();
  if (!hasVectors(access.element))
    return failure();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(getStridesAndOffset(type, strides, offset)))
    return failure();
  if (auto argument = dyn_cast<BlockArgument>(rootOf(operand.get())))
    if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
      access.isGiven = function.getArgAttr(argument.getArgNumber(), "strata.given") != nullptr;
  OpBuilder &b = math.b;
  Location loc = math.loc;
  auto metadata = b.create<memref::ExtractStridedMetadataOp>(loc, operand.get());
  auto strideOf = [&](unsigned i) -> Extent {
    if (strides[i] != ShapedType::kDynamic)
      return {strides[i], {}};
    return {0, metadata.getStrides()[i]};
  };
  Extent start = offset == ShapedType::kDynamic ? Extent{0, metadata.getOffset()} : Extent{offset, {}};
  auto flat = MemRefType::get({ShapedType::kDynamic}, access.element,
                              StridedLayoutAttr::get(b.getContext(), /*offset=*/0, {1}), type.getMemorySpace());
  // The size is of no interest: the accesses are in bounds by construction.
  Value size = b.create<arith::ConstantIndexOp>(loc, 1);
  access.base =
      b.create<memref::ReinterpretCastOp>(loc, flat, metadata.getBaseBuffer(), OpFoldResult(b.getIndexAttr(0)),
                                          ArrayRef<OpFoldResult>{size}, ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  // A bool is a byte in memory, where vectors of i1 would be bits.
  if (access.element.isInteger(1))
    access.base = viewAs(b, loc, access.base, b.getI8Type());
  unsigned dims = map.getNumDims();
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    if (auto blocked = matchBlocked(expr, AffineExprKind::FloorDiv)) {
      if (access.blockedLoop >= 0)
        return failure();
      access.blockedLoop = loopOf[blocked->first];
      access.block = blocked->second;
      access.blockStride = strideOf(i);
      continue;
    }
    if (auto blocked = matchBlocked(expr, AffineExprKind::Mod)) {
      if (access.blockedLoop != loopOf[blocked->first] || access.block != blocked->second || !strideOf(i).isKnown())
        return failure();
      access.withinStride = strideOf(i).known;
      continue;
    }
    std::optional<Linear> linear = linearize(expr, dims);
    if (!linear)
      return failure();
    start = math.add(start, math.scale(strideOf(i), linear->constant));
    for (unsigned d = 0; d < dims; ++d)
      if (int64_t c = linear->coefficients[d]) {
        Extent &stride = access.strides[loopOf[d]];
        stride = math.add(stride, math.scale(strideOf(i), c));
      }
  }
  if (!start.is(0))
    access.offset = math.materialize(start);
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  // A window of unknown size may be smaller than the data.
  for (auto [range, kind] : llvm::zip_equal(ranges, op.getIteratorTypesArray()))
    if (ShapedType::isDynamic(range) && kind == utils::IteratorType::reduction)
      range = 0;
  findInside(access, operand.get(), map, ranges, loopOf);
  return access;
}

FailureOr<Stage> strata::buildStage(OpBuilder &b, linalg::GenericOp op, ArrayRef<int> loopOf, unsigned loops,
                                    Value carriedIn, Value carriedOut) {
  ExtentMath math{b, op.getLoc()};
  Stage stage;
  stage.op = op;
  stage.loopOf.assign(loopOf.begin(), loopOf.end());
  for (OpOperand &operand : op->getOpOperands()) {
    FailureOr<Access> access = Access();
    bool carried = operand.get() == (op.isDpsInit(&operand) ? carriedOut : carriedIn);
    if (carried && !op.isDpsInit(&operand))
      stage.carried = operand.getOperandNumber();
    if (!carried)
      access = buildAccess(math, operand, op.getMatchingIndexingMap(&operand), stage.loopOf, loops);
    if (failed(access))
      return failure();
    access->strides.resize(loops);
    access->element = getElementTypeOrSelf(operand.get().getType());
    (op.isDpsInit(&operand) ? stage.outputs : stage.inputs).push_back(*access);
  }
  return stage;
}

/// The larger of the accumulator and a value, or the smaller one, by a comparison that is false for NaN.
static std::optional<Combiner> matchSelection(arith::SelectOp selection, Value accumulator) {
  using Predicate = arith::CmpFPredicate;
  auto comparison = selection.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!comparison || !comparison->hasOneUse() || selection.getFalseValue() != accumulator ||
      comparison.getRhs() != accumulator || comparison.getLhs() != selection.getTrueValue() ||
      comparison.getLhs() == accumulator || !llvm::hasNItems(accumulator.getUses(), 2) ||
      (comparison.getPredicate() != Predicate::OGT && comparison.getPredicate() != Predicate::OLT))
    return std::nullopt;
  bool largest = comparison.getPredicate() == Predicate::OGT;
  auto element = cast<FloatType>(accumulator.getType());
  APFloat infinity = APFloat::getInf(element.getFloatSemantics(), /*Negative=*/largest);
  return Combiner{selection, comparison, largest ? vector::CombiningKind::MAXNUMF : vector::CombiningKind::MINNUMF,
                  FloatAttr::get(element, infinity)};
}

Value Combiner::join(OpBuilder &b, Location loc, Value accumulator, Value value) const {
  if (!comparison)
    return leaveZerosOpen(vector::makeArithReduction(b, loc, kind, accumulator, value).getDefiningOp())->getResult(0);
  Value better = b.create<arith::CmpFOp>(loc, arith::CmpFOp(comparison).getPredicate(), value, accumulator);
  return b.create<arith::SelectOp>(loc, better, value, accumulator);
}

Value Combiner::joinScalars(OpBuilder &b, Location loc, Value accumulator, Value value) const {
  if (comparison)
    return join(b, loc, accumulator, value);
  IRMapping operands;
  operands.map(op->getOperand(0), accumulator);
  operands.map(op->getOperand(1), value);
  return leaveZerosOpen(b.clone(*op, operands))->getResult(0);
}

Operation *strata::leaveZerosOpen(Operation *op) {
  if (isa<arith::MaximumFOp, arith::MinimumFOp>(op))
    op->setAttr("fastmath", arith::FastMathFlagsAttr::get(op->getContext(), arith::FastMathFlags::nsz));
  return op;
}

std::optional<Combiner> strata::matchCombiner(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1)
    return std::nullopt;
  Block *body = op.getBody();
  Value accumulator = body->getArguments().back();
  if (auto selection = body->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>())
    return matchSelection(selection, accumulator);
  Operation *combiner = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || combiner->getNumOperands() != 2 || combiner->getNumRegions() || !accumulator.hasOneUse() ||
      *accumulator.user_begin() != combiner || combiner->getOperand(0) == combiner->getOperand(1))
    return std::nullopt;
  std::optional<vector::CombiningKind> kind = linalg::getCombinerOpKind(combiner);
  std::optional<TypedAttr> neutral = arith::getNeutralElement(combiner);
  if (!kind || !neutral)
    return std::nullopt;
  return Combiner{combiner, nullptr, *kind, *neutral};
}

/// A reduction of what `maker` stores in the buffer that it reads.
static FailureOr<Stage> buildTail(OpBuilder &b, Stage &maker, linalg::GenericOp tail, unsigned loops) {
  Value stored = tail.getDpsInputs()[0];
  unsigned result = llvm::find(maker.op.getDpsInits(), stored) - maker.op.getDpsInits().begin();
  AffineMap made = maker.op.getMatchingIndexingMap(maker.op.getDpsInitOperand(result)),
            read = tail.getIndexingMapsArray()[0];
  if (!made.isProjectedPermutation() || !read.isPermutation())
    return failure();
  SmallVector<int> loopOf(tail.getNumLoops(), -1);
  for (unsigned i = 0; i < read.getNumResults(); ++i)
    loopOf[read.getDimPosition(i)] = maker.loopOf[made.getDimPosition(i)];
  FailureOr<Stage> stage = buildStage(b, tail, loopOf, loops, stored, /*carriedOut=*/{});
  if (succeeded(stage))
    stage->result = result;
  return stage;
}

FailureOr<LoopNest> strata::buildLoopNest(OpBuilder &b, ArrayRef<linalg::GenericOp> ops) {
  ArrayRef<linalg::GenericOp> all = ops;
  ops = ops.take_until([](linalg::GenericOp op) { return op->hasAttr(kTail); });
  auto isReduction = [](linalg::GenericOp op) { return op.getNumReductionLoops() > 0; };
  const auto *reduction = llvm::find_if(ops, isReduction);
  linalg::GenericOp main = reduction == ops.end() ? ops.back() : *reduction;
  linalg::GenericOp init = main == ops.front() ? nullptr : ops.front();
  linalg::GenericOp finish = main == ops.back() ? nullptr : ops.back();
  if (ops.size() > 3 || (reduction == ops.end() && ops.size() != 1))
    return failure();
  if (finish && !init)
    return failure(); // Sums that begin with what their buffer holds.
  for (linalg::GenericOp op : ops)
    for (AffineMap map : op.getIndexingMapsArray())
      if (map.getNumSymbols())
        return failure();

  ExtentMath math{b, main.getLoc()};
  LoopNest nest;
  SmallVector<Range> ranges = cast<linalg::LinalgOp>(main.getOperation()).createLoopRanges(b, main.getLoc());
  for (auto [range, iterator] : llvm::zip(ranges, main.getIteratorTypesArray())) {
    nest.loops.push_back({iterator == utils::IteratorType::reduction, math.of(range.size)});
  }
  unsigned loops = nest.loops.size();
  auto identity = llvm::to_vector(llvm::seq<int>(0, loops));
  Value between = main.getDpsInits()[0];
  AffineMap mainMap = main.getMatchingIndexingMap(main.getDpsInitOperand(0));
  // The dimensions of a parallel stage, by way of the buffer they share.
  auto loopsOf = [&](linalg::GenericOp op, OpOperand &shared) -> FailureOr<SmallVector<int>> {
    AffineMap map = op.getMatchingIndexingMap(&shared);
    if (!map.isPermutation() || !mainMap.isProjectedPermutation())
      return failure();
    SmallVector<int> result(op.getNumLoops(), -1);
    for (unsigned i = 0; i < map.getNumResults(); ++i)
      result[map.getDimPosition(i)] = mainMap.getDimPosition(i);
    return result;
  };
  if (init) {
    FailureOr<SmallVector<int>> map = loopsOf(init, *init.getDpsInitOperand(0));
    if (failed(map) || init.getDpsInits()[0] != between)
      return failure();
    FailureOr<Stage> stage = buildStage(b, init, *map, loops, {}, between);
    if (failed(stage))
      return failure();
    nest.init = *stage;
  }
  if (finish) {
    OpOperand *shared = nullptr;
    for (OpOperand *input : finish.getDpsInputOperands())
      if (input->get() == between) {
        if (shared)
          return failure();
        shared = input;
      }
    if (!shared)
      return failure();
    FailureOr<SmallVector<int>> map = loopsOf(finish, *shared);
    if (failed(map))
      return failure();
    FailureOr<Stage> stage = buildStage(b, finish, *map, loops, between, {});
    if (failed(stage))
      return failure();
    nest.finish = *stage;
  }
  FailureOr<Stage> stage = buildStage(b, main, identity, loops, {}, finish ? between : Value());
  if (failed(stage))
    return failure();
  if (reduction == ops.end())
    nest.finish = *stage;
  else
    nest.reduce = *stage;
  nest.padded = getPaddedLoops(main);
  for (linalg::GenericOp tail : all.drop_front(ops.size())) {
    FailureOr<Stage> stage = buildTail(b, nest.last(), tail, loops);
    if (failed(stage))
      return failure();
    nest.tails.push_back(*stage);
  }
  return nest;
}

/// The loops whose number a body asks for with linalg.index.
static SmallVector<bool> indexedLoops(LoopNest &nest) {
  SmallVector<bool> indexed(nest.loops.size(), false);
  nest.forEachStage([&](Stage &stage) {
    stage.op.getRegion().walk([&](linalg::IndexOp op) {
      if (int loop = stage.loopOf[op.getDim()]; loop >= 0)
        indexed[loop] = true;
    });
  });
  return indexed;
}

static void removeLoop(LoopNest &nest, int loop) {
  nest.loops.erase(nest.loops.begin() + loop);
  nest.forEachAccess([&](Access &access) {
    access.strides.erase(access.strides.begin() + loop);
    // What lay outside of it lies outside of what is inside of it.
    int next = access.inside[loop];
    access.inside.erase(access.inside.begin() + loop);
    for (int &inner : access.inside) {
      if (inner == loop)
        inner = next;
      inner -= inner > loop;
    }
    if (access.blockedLoop > loop)
      --access.blockedLoop;
  });
  auto renumber = [&](int &of) { of = of == loop ? -1 : of > loop ? of - 1 : of; };
  nest.forEachStage([&](Stage &stage) { llvm::for_each(stage.loopOf, renumber); });
  for (PaddedLoop &padded : nest.padded) {
    renumber(padded.position);
    renumber(padded.tap);
  }
  llvm::erase_if(nest.padded, [](const PaddedLoop &padded) { return padded.tap < 0; });
}

bool strata::isCopy(Block *body, bool rounds) {
  Operation &first = body->front();
  Value copied = body->getTerminator()->getOperand(0);
  if (auto rounded = dyn_cast<arith::TruncFOp>(first); rounds && rounded && rounded.getIn().getType().isF32() &&
                                                       copied == rounded.getResult() && llvm::hasNItems(*body, 2))
    return rounded.getIn() == body->getArgument(0);
  return llvm::hasSingleElement(*body) && copied == body->getArgument(0);
}

/// Elements that a copy moves together, as groups are, become one element of 32 or 64 bits.
static void moveGroups(OpBuilder &b, Location loc, LoopNest &nest, bool roundsGroups) {
  if (nest.reduce || nest.init || !nest.tails.empty() || nest.finish->inputs.size() != 1 ||
      nest.finish->outputs.size() != 1)
    return;
  Block *body = nest.finish->op.getBody();
  Access &input = nest.finish->inputs[0], &output = nest.finish->outputs[0];
  if (!isCopy(body, roundsGroups) || !input.base || !output.base || !input.element.isIntOrFloat() ||
      input.element.isInteger(1) || input.offset || output.offset || !input.ahead.is(0) || !output.ahead.is(0))
    return;
  for (auto [group, info] : llvm::enumerate(nest.loops)) {
    int64_t size = info.size.isKnown() ? info.size.known : 0, bits = size * output.element.getIntOrFloatBitWidth(),
            inputBits = size * input.element.getIntOrFloatBitWidth();
    auto isWhole = [&, group = group](Access &access) {
      bool fits = access.blockedLoop < 0 && access.strides[group].is(1);
      for (auto [loop, stride] : llvm::enumerate(access.strides))
        fits &= loop == group || (stride.isKnown() && stride.known % size == 0);
      return fits;
    };
    if (size < 2 || (bits != 32 && bits != 64) || inputBits > 64 || !isWhole(input) || !isWhole(output))
      continue;
    for (Access *access : {&input, &output}) {
      for (Extent &stride : access->strides)
        stride.known /= size;
      access->element = b.getIntegerType(size * access->element.getIntOrFloatBitWidth());
      access->base = viewAs(b, loc, access->base, access->element);
    }
    removeLoop(nest, group);
    return;
  }
}

bool strata::canShareVectors(const TargetFacts &target, int64_t size) {
  return target.partLoads && size > 1 && llvm::isPowerOf2_64(size) && size < target.vectorBits / 32;
}

/// Whether loops `group` and `result` walk `access` as one loop does, `size` iterations of which are a group's; changes
/// `access` to one of that loop, which takes the place of `result`, but for the strides of `group`.
static bool mergeAccess(Access &access, int group, int result, int64_t size) {
  Extent outer = access.strides[group], inner = access.strides[result];
  if (access.blockedLoop == result || !inner.isKnown())
    return false;
  if (access.blockedLoop == group) {
    if (access.withinStride != inner.known * size)
      return false;
    access.blockedLoop = result;
    access.withinStride = inner.known;
    access.block *= size;
    return true;
  }
  if (outer.is(inner.known * size))
    return true;
  if (access.blockedLoop >= 0 || inner.known)
    return false;
  access.blockedLoop = result;
  access.block = size;
  access.withinStride = 0;
  access.blockStride = outer;
  return true;
}

bool strata::isOfGroups(const Access &access, int loop) {
  return loop >= 0 && access.blockedLoop == loop && access.withinStride == 0;
}

/// A parallel loop of known size that has no other use than its iterations.
static bool isPlainLoop(LoopNest &nest, ArrayRef<bool> indexed, int loop) {
  return !indexed[loop] && !nest.loops[loop].reduction && nest.loops[loop].size.isKnown() &&
         llvm::none_of(nest.padded, [&](const PaddedLoop &padded) { return padded.position == loop; });
}

/// Columns that a reshape splits, of weights in blocks of so many, are one loop over the blocks, as where no reshape
/// follows. Results may lie apart where blocks do. Of few rows, whose sums of a block are in registers all at once. All
/// columns read the same data, and lie side by side in a block of the result: so they become lanes.
static void mergeBlocks(LoopNest &nest, const TargetFacts &target) {
  if (!matchProductSum(nest.reduce->op))
    return;
  SmallVector<bool> indexed = indexedLoops(nest);
  auto fits = [&](const Access &access, int64_t size, int64_t rows) {
    if (!access.element.isIntOrFloat() || access.element.getIntOrFloatBitWidth() < 8)
      return false;
    int64_t lanes = target.vectorBits / access.element.getIntOrFloatBitWidth();
    return size % lanes == 0 && size / lanes * rows + 4 <= target.registers;
  };
  for (int outer = 0, e = nest.loops.size(); outer < e; ++outer)
    for (int inner = 0; inner < e; ++inner) {
      if (outer == inner || !isPlainLoop(nest, indexed, outer) || !isPlainLoop(nest, indexed, inner))
        continue;
      int64_t size = nest.loops[inner].size.known, rows = 1;
      for (auto [loop, info] : llvm::enumerate(nest.loops))
        if (!info.reduction && static_cast<int>(loop) != outer && static_cast<int>(loop) != inner)
          rows = info.size.isKnown() ? std::min<int64_t>(rows * info.size.known, target.registers) : target.registers;
      LoopNest merged = nest;
      bool isSame = true;
      merged.forEachAccess([&](Access &access) {
        const Extent &o = access.strides[outer], &i = access.strides[inner];
        if (!o.isKnown() || !i.isKnown() || access.blockedLoop == outer || access.blockedLoop == inner) {
          isSame = false;
        } else if (o.known != i.known * size) {
          isSame &= i.is(1) && access.blockedLoop < 0 && fits(access, size, rows);
          access.blockedLoop = inner;
          access.block = size;
          access.blockStride = o;
        }
      });
      auto isBlocked = [&](const Access &access) { return access.blockedLoop == inner; };
      auto isShared = [&](const Access &access) { return access.strides[outer].is(0) && access.strides[inner].is(0); };
      if (!isSame || !llvm::any_of(merged.reduce->inputs, isBlocked) || llvm::none_of(nest.reduce->inputs, isShared) ||
          !nest.last().outputs[0].strides[inner].is(1))
        continue;
      merged.loops[inner].size.known *= merged.loops[outer].size.known;
      nest = std::move(merged);
      removeLoop(nest, outer);
      return mergeBlocks(nest, target);
    }
}

void strata::mergeGroups(LoopNest &nest, const TargetFacts &target) {
  if (!nest.reduce || nest.reduce->inputs.size() != 2 || nest.reduce->outputs.size() != 1)
    return;
  mergeBlocks(nest, target);
  SmallVector<bool> indexed = indexedLoops(nest);
  for (auto [r, results] : llvm::enumerate(nest.loops))
    for (auto [g, groups] : llvm::enumerate(nest.loops)) {
      int result = r, group = g;
      if (result == group || !isPlainLoop(nest, indexed, result) || !isPlainLoop(nest, indexed, group) ||
          !canShareVectors(target, results.size.known))
        continue;
      int64_t size = results.size.known;
      LoopNest merged = nest;
      bool fits = true;
      merged.forEachAccess([&](Access &access) { fits &= mergeAccess(access, group, result, size); });
      // One input is the groups' data, the other one the weights.
      int64_t shared = 0;
      merged.forEachAccess([&](Access &access) { shared += isOfGroups(access, result); });
      ArrayRef<Access> inputs = merged.reduce->inputs;
      bool isFirst = isOfGroups(inputs[0], result);
      const Access &data = inputs[isFirst ? 0 : 1], &weights = inputs[isFirst ? 1 : 0];
      if (!fits || shared != 1 || !isOfGroups(data, result) || weights.blockedLoop != result ||
          !data.element.isIntOrFloat() || data.element.getIntOrFloatBitWidth() < 8)
        continue;
      merged.loops[result].size = {groups.size.known * size, {}};
      nest = std::move(merged);
      removeLoop(nest, group);
      return;
    }
}

void strata::simplify(OpBuilder &b, Location loc, LoopNest &nest, bool roundsGroups) {
  ExtentMath math{b, loc};
  nest.forEachAccess([&](Access &access) { access.inside.resize(nest.loops.size(), -1); }); // of those made otherwise
  for (int loop = nest.loops.size() - 1; loop >= 0; --loop) {
    bool blocked = false;
    nest.forEachAccess([&](Access &access) { blocked |= access.blockedLoop == loop; });
    // A linalg.index of such a loop is zero: loopOf says -1.
    if (nest.loops[loop].size.is(1) && !blocked)
      removeLoop(nest, loop);
  }
  auto isPadded = [&](int loop) {
    return llvm::any_of(nest.padded, [&](const PaddedLoop &p) { return p.position == loop || p.tap == loop; });
  };
  SmallVector<bool> indexed = indexedLoops(nest);
  auto mergeable = [&](int outer, int inner) {
    if (outer == inner || indexed[outer] || indexed[inner] || isPadded(outer) || isPadded(inner) ||
        nest.loops[outer].reduction != nest.loops[inner].reduction)
      return false;
    const Extent &size = nest.loops[inner].size;
    // A matrix unit takes blocks of a known number of keys.
    if (nest.loops[inner].reduction && size.isKnown() && !nest.loops[outer].size.isKnown() && nest.reduce &&
        nest.reduce->op->hasAttr(kPaddedKeys))
      return false;
    bool fits = true;
    nest.forEachAccess([&](Access &access) {
      const Extent &o = access.strides[outer], &i = access.strides[inner];
      bool isOne = access.inside[outer] == inner || (o.is(0) && i.is(0)) ||
                   (size.isKnown() && o.isKnown() && i.isKnown() && o.known == i.known * size.known);
      fits &= access.blockedLoop != outer && access.blockedLoop != inner && isOne;
    });
    return fits;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (int outer = 0, e = nest.loops.size(); outer < e && !changed; ++outer)
      for (int inner = 0; inner < e && !changed; ++inner)
        if (mergeable(outer, inner)) {
          nest.loops[inner].size = math.multiply(nest.loops[outer].size, nest.loops[inner].size);
          removeLoop(nest, outer);
          indexed = indexedLoops(nest);
          changed = true;
        }
  }
  moveGroups(b, loc, nest, roundsGroups);
}
