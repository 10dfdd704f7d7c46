//===- NestEmitter.cpp - vector code for a loop nest ----------------------===//
//
// One loop gets the vector lanes (`lane`), another one several iterations at once
// in registers (`row`). Where a parallel loop walks the results contiguously it is
// the lane loop, and every accumulator lives in a register for the whole
// reduction: matrix products, convolutions, pooling, sums over outer dimensions,
// elementwise operations. Otherwise the lane loop is a reduction: several vector
// accumulators, combined at the end.
//
// Every result element is accumulated in the same order whatever tile it falls
// in: remainders are narrower tiles, never another algorithm.
//
//===----------------------------------------------------------------------===//
#include "NestEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace strata;

namespace {

/// Nanoseconds of work below which a second thread does not pay.
constexpr int64_t parallelFromNs = 20000;
/// Nanoseconds of work that one task should have at least.
constexpr int64_t taskNs = 8000;
/// Bytes of weights that stay in the second-level cache beside the data.
constexpr int64_t smallWeightsBytes = 512 << 10;

bool isVectorizable(Operation &op) {
  if (isa<arith::ConstantOp, linalg::IndexOp, linalg::YieldOp>(op))
    return true;
  if (op.getNumRegions() || !OpTrait::hasElementwiseMappableTraits(&op))
    return false;
  return llvm::all_of(op.getResultTypes(), [](Type type) {
    return type.isIntOrIndexOrFloat();
  });
}

bool isVectorizable(std::optional<Stage> &stage) {
  return !stage || llvm::all_of(*stage->op.getBody(), [](Operation &op) {
    return isVectorizable(op);
  });
}

/// What reduces a vector to a scalar, and the value that changes nothing.
struct Combiner {
  Operation *op = nullptr;
  vector::CombiningKind kind;
  TypedAttr neutral;
};

std::optional<Combiner> matchCombiner(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1)
    return std::nullopt;
  Block *body = op.getBody();
  Value accumulator = body->getArguments().back();
  Operation *combiner =
      body->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || combiner->getNumOperands() != 2 ||
      !accumulator.hasOneUse() || *accumulator.user_begin() != combiner ||
      combiner->getOperand(0) == combiner->getOperand(1))
    return std::nullopt;
  Type type = accumulator.getType();
  Builder b(op.getContext());
  auto make = [&](vector::CombiningKind kind,
                  arith::AtomicRMWKind rmw) -> std::optional<Combiner> {
    OpBuilder builder(op.getContext());
    return Combiner{combiner, kind,
                    arith::getIdentityValueAttr(rmw, type, builder, op.getLoc())};
  };
  using K = vector::CombiningKind;
  using A = arith::AtomicRMWKind;
  if (isa<arith::AddFOp>(combiner))
    return Combiner{combiner, K::ADD, b.getFloatAttr(type, -0.0)};
  if (isa<arith::MulFOp>(combiner))
    return make(K::MUL, A::mulf);
  if (isa<arith::MaximumFOp>(combiner))
    return make(K::MAXIMUMF, A::maximumf);
  if (isa<arith::MinimumFOp>(combiner))
    return make(K::MINIMUMF, A::minimumf);
  if (isa<arith::AddIOp>(combiner))
    return make(K::ADD, A::addi);
  if (isa<arith::MulIOp>(combiner))
    return make(K::MUL, A::muli);
  if (isa<arith::MaxSIOp>(combiner))
    return make(K::MAXSI, A::maxs);
  if (isa<arith::MinSIOp>(combiner))
    return make(K::MINSI, A::mins);
  if (isa<arith::MaxUIOp>(combiner))
    return make(K::MAXUI, A::maxu);
  if (isa<arith::MinUIOp>(combiner))
    return make(K::MINUI, A::minu);
  if (isa<arith::OrIOp>(combiner))
    return make(K::OR, A::ori);
  if (isa<arith::AndIOp>(combiner))
    return make(K::AND, A::andi);
  return std::nullopt;
}

/// Values of one tile: numbers of the loops, and how many rows, vectors, lanes.
struct Tile {
  SmallVector<Value> at; ///< per loop; null for a reduction not yet entered
  int64_t rows = 1, vectors = 1, lanes = 1;
};

class NestEmitter {
public:
  NestEmitter(OpBuilder &b, Location loc, LoopNest &nest,
              const NestOptions &options)
      : b(b), loc(loc), nest(nest), options(options) {}

  LogicalResult emit();

private:
  OpBuilder &b;
  Location loc;
  LoopNest &nest;
  const NestOptions &options;

  int lane = -1, row = -1;
  bool laneIsReduction = false;
  std::optional<Combiner> combiner;
  int64_t width = 1;                  ///< lanes of a full vector
  int64_t rowTile = 1, vectorTile = 1; ///< of a full tile
  bool laneOutermost = false;

  Value index(int64_t number) {
    return b.create<arith::ConstantIndexOp>(loc, number);
  }
  Value materialize(const Extent &e) { return e.value ? e.value : index(e.known); }
  Value add(Value x, Value y) {
    if (!x || matchPattern(x, m_Zero()))
      return y;
    if (!y || matchPattern(y, m_Zero()))
      return x;
    return b.create<arith::AddIOp>(loc, x, y);
  }
  Value times(Value x, const Extent &e) {
    if (e.is(0) || matchPattern(x, m_Zero()))
      return index(0);
    if (e.is(1))
      return x;
    return b.create<arith::MulIOp>(loc, x, materialize(e));
  }

  // Planning.
  void plan();
  int chooseLane();
  int64_t elementBits();
  double pointNs();

  // Accesses.
  Extent stride(const Access &access, int loop) const {
    if (loop < 0)
      return {};
    if (access.blockedLoop == loop)
      return {1, {}};
    return access.scalar || !access.base ? Extent{} : access.strides[loop];
  }
  Value position(const Access &access, const Tile &tile, bool reduction);
  Value load(const Access &access, Value base, const Tile &tile, int64_t i,
             int64_t j);
  void store(const Access &access, Value base, const Tile &tile, int64_t i,
             int64_t j, Value value);
  Type typeOf(Type element, int64_t lanes) {
    return lanes == 1 ? element : VectorType::get({lanes}, element);
  }
  Value spread(Value value, int64_t lanes) {
    if (lanes == 1 || isa<VectorType>(value.getType()))
      return value;
    return b.create<vector::BroadcastOp>(
        loc, VectorType::get({lanes}, value.getType()), value);
  }

  // Bodies.
  Value numberOf(Stage &stage, linalg::IndexOp number, const Tile &tile,
                 int64_t i, int64_t j);
  SmallVector<Value> body(Stage &stage, ArrayRef<Value> arguments,
                          const Tile &tile, int64_t i, int64_t j, bool fuse);
  SmallVector<Value> inputsOf(Stage &stage, ArrayRef<Value> bases,
                              const Tile &tile, int64_t i, int64_t j,
                              DenseMap<std::pair<const Access *, int64_t>, Value> &cache,
                              Value carried);
  SmallVector<Value> basesOf(Stage &stage, const Tile &tile);

  // Loops.
  void loops(SmallVector<std::pair<int, int64_t>> order, unsigned next, Tile tile);
  void tiles(Tile tile);
  void lanesOf(Tile tile);
  void leaf(const Tile &tile);
  SmallVector<Value> reduceLoops(
      Tile tile, ArrayRef<int> order, SmallVector<Value> carried,
      llvm::function_ref<SmallVector<Value>(const Tile &, SmallVector<Value>)> inner);
  SmallVector<Value> reduceLanes(const Tile &tile, SmallVector<Value> carried);
  void emitAll();
};

int64_t NestEmitter::elementBits() {
  int64_t bits = 8;
  nest.forEachAccess([&](Access &access) {
    if (!access.scalar)
      bits = std::max<int64_t>(
          bits, access.element.isIndex() ? 64 : access.element.getIntOrFloatBitWidth());
  });
  return bits;
}

/// A parallel loop along which all results lie contiguously, unless the inputs
/// of a reduction lie better along one of its own loops.
int NestEmitter::chooseLane() {
  if (!isVectorizable(nest.init) || !isVectorizable(nest.reduce) ||
      !isVectorizable(nest.finish))
    return -1;
  auto fits = [&](const Access &access, int loop) {
    Extent s = stride(access, loop);
    return s.is(0) || s.is(1);
  };
  auto misfits = [&](int loop) {
    int64_t count = 0;
    nest.forEachAccess(
        [&](Access &access) { count += access.base && !fits(access, loop); });
    return count;
  };
  int best = -1;
  int64_t bestScore = 0;
  for (auto [loop, info] : llvm::enumerate(nest.loops)) {
    if (info.reduction || info.size.is(1))
      continue;
    bool contiguous = true;
    for (Access &access : nest.last().outputs)
      contiguous &= stride(access, loop).is(1);
    if (!contiguous)
      continue;
    int64_t score = 1000 - misfits(loop);
    if (score > bestScore) {
      best = loop;
      bestScore = score;
    }
  }
  if (!nest.reduce)
    return best;
  int64_t misfitInputs = 0;
  if (best >= 0)
    for (Access &access : nest.reduce->inputs)
      misfitInputs += !fits(access, best);
  if (best >= 0 && !misfitInputs)
    return best;
  combiner = matchCombiner(nest.reduce->op);
  if (combiner)
    for (auto [loop, info] : llvm::enumerate(nest.loops)) {
      if (!info.reduction || (info.size.isKnown() && info.size.known < 4))
        continue;
      int64_t worse = 0;
      for (Access &access : nest.reduce->inputs)
        worse += !fits(access, loop);
      if (!worse) {
        laneIsReduction = true;
        return loop;
      }
    }
  return best;
}

static int64_t chooseTile(const Extent &size, int64_t most) {
  if (!size.isKnown())
    return std::min<int64_t>(8, most);
  if (size.known <= most)
    return std::max<int64_t>(1, size.known);
  for (int64_t tile = most; tile >= (most + 1) / 2; --tile)
    if (size.known % tile == 0)
      return tile;
  return most;
}

void NestEmitter::plan() {
  lane = chooseLane();
  if (lane < 0)
    return;
  int64_t bits = elementBits();
  width = std::max<int64_t>(2, options.vectorBits / bits);
  const Extent &size = nest.loops[lane].size;
  if (size.isKnown())
    while (width > size.known)
      width /= 2;
  auto atMost = [&](int64_t vectors) {
    if (size.isKnown())
      vectors = std::min(vectors, std::max<int64_t>(1, size.known / width));
    return vectors;
  };
  if (laneIsReduction) {
    vectorTile = atMost(4);
    return;
  }
  if (!nest.reduce) {
    vectorTile = atMost(4);
    return;
  }
  // Rows share what does not depend on them: the vectors of weights.
  int64_t bestReuse = -1, bestStride = 0;
  bool reuse = false;
  for (auto [loop, info] : llvm::enumerate(nest.loops)) {
    if (info.reduction || static_cast<int>(loop) == lane || info.size.is(1))
      continue;
    int64_t shared = 0;
    for (Access &access : nest.reduce->inputs)
      shared += access.base && !stride(access, lane).is(0) &&
                stride(access, loop).is(0);
    Extent out = stride(nest.last().outputs[0], loop);
    int64_t distance = out.isKnown() ? out.known : INT64_MAX;
    if (shared > bestReuse || (shared == bestReuse && distance < bestStride)) {
      bestReuse = shared;
      bestStride = distance;
      row = loop;
      reuse = shared > 0;
    }
  }
  int64_t block = 0, weightElements = 1;
  bool weightsKnown = true;
  for (Access &access : nest.reduce->inputs)
    if (access.blockedLoop == lane)
      block = access.block;
  int64_t accumulators = options.registers - 4;
  vectorTile = block ? std::max<int64_t>(1, block / width)
                     : atMost(row < 0 ? 4 : 2);
  if (row >= 0)
    rowTile = chooseTile(nest.loops[row].size,
                         reuse ? std::max<int64_t>(1, accumulators / vectorTile)
                               : 4);
  for (auto [loop, info] : llvm::enumerate(nest.loops))
    if (info.reduction || static_cast<int>(loop) == lane) {
      weightsKnown &= info.size.isKnown();
      weightElements *= std::max<int64_t>(1, info.size.known);
    }
  laneOutermost = reuse && (!weightsKnown ||
                            weightElements * bits / 8 > smallWeightsBytes);
}

/// A rough estimate, for the decision to use threads and for the tasks' size.
double NestEmitter::pointNs() {
  double ns = 0;
  double lanes = lane >= 0 ? width : 1;
  for (std::optional<Stage> *stage : {&nest.init, &nest.reduce, &nest.finish}) {
    if (!*stage)
      continue;
    double cost = 0.1 * ((*stage)->inputs.size() + (*stage)->outputs.size());
    for (Operation &op : *(*stage)->op.getBody())
      cost += isa<math::MathDialect>(op.getDialect()) ? 4.0
              : isa<memref::LoadOp>(op)               ? 1.0
                                                      : 0.15;
    if (stage == &nest.reduce) {
      // Per iteration, with the loads shared by the tile.
      cost /= std::max<int64_t>(1, rowTile / 2);
      for (const Loop &loop : nest.loops)
        if (loop.reduction)
          cost *= loop.size.isKnown() ? loop.size.known : 64;
    }
    ns += cost / lanes;
  }
  return ns;
}

/// Offset plus the parallel (or the reduction) loops' share.
Value NestEmitter::position(const Access &access, const Tile &tile,
                            bool reduction) {
  Value sum = reduction || !access.offset ? index(0) : access.offset;
  for (auto [loop, info] : llvm::enumerate(nest.loops)) {
    if (info.reduction != reduction || !tile.at[loop])
      continue;
    if (access.blockedLoop == static_cast<int>(loop)) {
      Value size = index(access.block);
      Value number = b.create<arith::DivUIOp>(loc, tile.at[loop], size);
      Value within = b.create<arith::RemUIOp>(loc, tile.at[loop], size);
      sum = add(sum, add(times(number, access.blockStride), within));
      continue;
    }
    sum = add(sum, times(tile.at[loop], access.strides[loop]));
  }
  return sum;
}

Value NestEmitter::load(const Access &access, Value base, const Tile &tile,
                        int64_t i, int64_t j) {
  if (access.scalar)
    return access.scalar;
  Extent lanes = stride(access, lane);
  Value at = add(base, add(times(index(i), stride(access, row)),
                           times(index(j * tile.lanes), lanes)));
  bool boolean = access.element.isInteger(1);
  Type element = boolean ? b.getI8Type() : access.element;
  auto finish = [&](Value value) -> Value {
    if (!boolean)
      return value;
    Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(value.getType()));
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, value, zero);
  };
  if (tile.lanes == 1 || lanes.is(0))
    return finish(b.create<memref::LoadOp>(loc, access.base, at));
  auto type = VectorType::get({tile.lanes}, element);
  if (lanes.is(1))
    return finish(b.create<vector::LoadOp>(loc, type, access.base, at));
  Value gathered = b.create<arith::ConstantOp>(loc, b.getZeroAttr(type));
  for (int64_t l = 0; l < tile.lanes; ++l) {
    Value one = b.create<memref::LoadOp>(loc, access.base,
                                         add(at, times(index(l), lanes)));
    gathered = b.create<vector::InsertOp>(loc, one, gathered, l);
  }
  return finish(gathered);
}

void NestEmitter::store(const Access &access, Value base, const Tile &tile,
                        int64_t i, int64_t j, Value value) {
  Extent lanes = stride(access, lane);
  Value at = add(base, add(times(index(i), stride(access, row)),
                           times(index(j * tile.lanes), lanes)));
  if (access.element.isInteger(1)) {
    Type bytes = b.getI8Type();
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      bytes = vector.clone(bytes);
    value = b.create<arith::ExtUIOp>(loc, bytes, value);
  }
  if (!isa<VectorType>(value.getType())) {
    b.create<memref::StoreOp>(loc, value, access.base, at);
    return;
  }
  if (lanes.is(1)) {
    b.create<vector::StoreOp>(loc, value, access.base, at);
    return;
  }
  for (int64_t l = 0; l < tile.lanes; ++l)
    b.create<memref::StoreOp>(loc, b.create<vector::ExtractOp>(loc, value, l),
                              access.base, add(at, times(index(l), lanes)));
}

SmallVector<Value> NestEmitter::basesOf(Stage &stage, const Tile &tile) {
  SmallVector<Value> bases;
  for (SmallVector<Access> *list : {&stage.inputs, &stage.outputs})
    for (Access &access : *list)
      bases.push_back(access.base ? position(access, tile, false) : Value());
  return bases;
}

SmallVector<Value> NestEmitter::inputsOf(
    Stage &stage, ArrayRef<Value> bases, const Tile &tile, int64_t i, int64_t j,
    DenseMap<std::pair<const Access *, int64_t>, Value> &cache, Value carried) {
  SmallVector<Value> values;
  for (auto [k, access] : llvm::enumerate(stage.inputs)) {
    if (stage.carried == static_cast<int>(k)) {
      values.push_back(carried);
      continue;
    }
    // What does not depend on the row or on the vector is loaded once.
    int64_t key = (stride(access, row).is(0) ? 0 : i * 1000) +
                  (stride(access, lane).is(0) ? 0 : j);
    Value &value = cache[{&access, key}];
    if (!value)
      value = load(access, bases[k], tile, i, j);
    values.push_back(value);
  }
  return values;
}

/// What linalg.index says for element (i, j) of the tile.
Value NestEmitter::numberOf(Stage &stage, linalg::IndexOp number,
                            const Tile &tile, int64_t i, int64_t j) {
  int loop = stage.loopOf[number.getDim()];
  if (loop < 0)
    return index(0);
  Value value = tile.at[loop];
  if (loop == row)
    value = add(value, index(i));
  if (loop != lane)
    return value;
  value = add(value, index(j * tile.lanes));
  if (tile.lanes == 1)
    return value;
  auto numbers = llvm::to_vector(llvm::seq<int64_t>(0, tile.lanes));
  auto type = VectorType::get({tile.lanes}, b.getIndexType());
  Value steps = b.create<arith::ConstantOp>(
      loc, DenseIntElementsAttr::get(type, numbers));
  return b.create<arith::AddIOp>(loc, spread(value, tile.lanes), steps);
}

SmallVector<Value> NestEmitter::body(Stage &stage, ArrayRef<Value> arguments,
                                     const Tile &tile, int64_t i, int64_t j,
                                     bool fuse) {
  Block *block = stage.op.getBody();
  IRMapping mapping;
  mapping.map(block->getArguments().take_front(arguments.size()), arguments);
  auto mapped = [&](Value value) { return mapping.lookupOrDefault(value); };
  // Only sums of products are fused: what an operand is made of is the same
  // value, with the same roundings, in a reduction and outside of it.
  auto isAccumulator = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == block &&
           argument.getArgNumber() >= stage.inputs.size();
  };
  for (Operation &op : block->without_terminator()) {
    if (auto number = dyn_cast<linalg::IndexOp>(op)) {
      mapping.map(number.getResult(), numberOf(stage, number, tile, i, j));
      continue;
    }
    if (fuse && options.fma && isa<arith::AddFOp>(op) &&
        (op.getResult(0).getType().isF32() || op.getResult(0).getType().isF64())) {
      bool done = false;
      for (unsigned side : {0u, 1u}) {
        auto product = op.getOperand(side).getDefiningOp<arith::MulFOp>();
        if (!product || !product->hasOneUse() ||
            product->getBlock() != block ||
            !isAccumulator(op.getOperand(1 - side)))
          continue;
        Value x = mapped(product.getLhs()), y = mapped(product.getRhs()),
              z = mapped(op.getOperand(1 - side));
        int64_t lanes = 1;
        for (Value value : {x, y, z})
          if (isa<VectorType>(value.getType()))
            lanes = tile.lanes;
        mapping.map(op.getResult(0),
                    b.create<math::FmaOp>(loc, spread(x, lanes),
                                          spread(y, lanes), spread(z, lanes)));
        done = true;
        break;
      }
      if (done)
        continue;
    }
    // A product that only feeds a fused sum is not computed by itself.
    if (fuse && options.fma && isa<arith::MulFOp>(op) &&
        op.getResult(0).hasOneUse() &&
        isa<arith::AddFOp>(*op.getResult(0).user_begin()) &&
        (op.getResult(0).getType().isF32() || op.getResult(0).getType().isF64()))
      if (auto sum = cast<arith::AddFOp>(*op.getResult(0).user_begin());
          isAccumulator(sum.getLhs() == op.getResult(0) ? sum.getRhs()
                                                        : sum.getLhs()))
        continue;
    bool wide = llvm::any_of(op.getOperands(), [&](Value operand) {
      return isa<VectorType>(mapped(operand).getType());
    });
    if (!wide) {
      b.clone(op, mapping);
      continue;
    }
    OperationState state(loc, op.getName());
    for (Value operand : op.getOperands())
      state.addOperands(spread(mapped(operand), tile.lanes));
    for (Type type : op.getResultTypes())
      state.addTypes(VectorType::get({tile.lanes}, type));
    state.addAttributes(op.getAttrs());
    mapping.map(op.getResults(), b.create(state)->getResults());
  }
  SmallVector<Value> results;
  for (Value value : block->getTerminator()->getOperands())
    results.push_back(mapped(value));
  return results;
}

/// The loops of the reduction around `inner`, with `carried` from one iteration
/// to the next.
SmallVector<Value> NestEmitter::reduceLoops(
    Tile tile, ArrayRef<int> order, SmallVector<Value> carried,
    llvm::function_ref<SmallVector<Value>(const Tile &, SmallVector<Value>)>
        inner) {
  if (order.empty())
    return inner(tile, carried);
  int loop = order.front();
  auto each = b.create<scf::ForOp>(loc, index(0),
                                   materialize(nest.loops[loop].size), index(1),
                                   carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(each.getBody());
  tile.at[loop] = each.getInductionVar();
  SmallVector<Value> values = reduceLoops(
      tile, order.drop_front(), SmallVector<Value>(each.getRegionIterArgs()),
      inner);
  b.create<scf::YieldOp>(loc, values);
  return SmallVector<Value>(each.getResults());
}

/// The lane loop of a reduction: `carried` are the vector accumulators and, last,
/// the scalar one.
SmallVector<Value> NestEmitter::reduceLanes(const Tile &outer,
                                            SmallVector<Value> carried) {
  Stage &stage = *nest.reduce;
  const Extent &size = nest.loops[lane].size;
  Value end = materialize(size), start = index(0);
  auto run = [&](int64_t vectors, int64_t lanes) {
    int64_t step = vectors * lanes;
    if (size.isKnown() && size.known < step)
      return;
    Value stop;
    if (size.isKnown()) {
      stop = index(size.known / step * step);
      if (matchPattern(start, m_Constant()) &&
          getConstantIntValue(start) == getConstantIntValue(stop))
        return;
    } else {
      Value rest = b.create<arith::RemUIOp>(loc, end, index(step));
      stop = b.create<arith::SubIOp>(loc, end, rest);
    }
    SmallVector<Value> part;
    if (lanes > 1)
      part.assign(carried.begin(), carried.begin() + vectors);
    else
      part.push_back(carried.back());
    auto each = b.create<scf::ForOp>(loc, start, stop, index(step), part);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(each.getBody());
      Tile tile = outer;
      tile.lanes = lanes;
      tile.at[lane] = each.getInductionVar();
      SmallVector<Value> bases = basesOf(stage, tile);
      for (auto [k, access] : llvm::enumerate(stage.inputs))
        if (access.base)
          bases[k] = add(bases[k], position(access, tile, true));
      DenseMap<std::pair<const Access *, int64_t>, Value> cache;
      SmallVector<Value> next;
      for (int64_t j = 0; j < vectors; ++j) {
        SmallVector<Value> arguments =
            inputsOf(stage, bases, tile, 0, j, cache, {});
        arguments.push_back(each.getRegionIterArgs()[j]);
        next.push_back(
            spread(body(stage, arguments, tile, 0, j, true)[0], lanes));
      }
      b.create<scf::YieldOp>(loc, next);
    }
    if (lanes > 1)
      llvm::copy(each.getResults(), carried.begin());
    else
      carried.back() = each.getResult(0);
    start = stop;
  };
  if (vectorTile > 1)
    run(vectorTile, width);
  if (width > 1)
    run(1, width);
  run(1, 1);
  return carried;
}

void NestEmitter::leaf(const Tile &tile) {
  DenseMap<std::pair<const Access *, int64_t>, Value> cache;
  // accumulators[output][row * vectors + vector]
  SmallVector<SmallVector<Value>> accumulators;
  auto forEach = [&](auto f) {
    for (int64_t i = 0; i < tile.rows; ++i)
      for (int64_t j = 0; j < tile.vectors; ++j)
        f(i, j, i * tile.vectors + j);
  };
  int64_t points = tile.rows * tile.vectors;
  if (nest.reduce) {
    Stage &reduce = *nest.reduce;
    unsigned outputs = reduce.outputs.size();
    accumulators.assign(outputs, SmallVector<Value>(points));
    if (nest.init) {
      SmallVector<Value> bases = basesOf(*nest.init, tile);
      forEach([&](int64_t i, int64_t j, int64_t n) {
        SmallVector<Value> arguments =
            inputsOf(*nest.init, bases, tile, i, j, cache, {});
        accumulators[0][n] = spread(
            body(*nest.init, arguments, tile, i, j, false)[0], tile.lanes);
      });
    } else {
      SmallVector<Value> bases = basesOf(reduce, tile);
      for (unsigned o = 0; o < outputs; ++o)
        forEach([&](int64_t i, int64_t j, int64_t n) {
          accumulators[o][n] = spread(load(reduce.outputs[o],
                                           bases[reduce.inputs.size() + o],
                                           tile, i, j),
                                      tile.lanes);
        });
    }
    SmallVector<Value> carried;
    for (auto &list : accumulators)
      carried.append(list);
    SmallVector<int> order;
    for (auto [loop, info] : llvm::enumerate(nest.loops))
      if (info.reduction && static_cast<int>(loop) != lane)
        order.push_back(loop);
    // In the order in which the data lies, the same for every tile.
    llvm::sort(order, [&](int x, int y) {
      auto distance = [&](int loop) {
        int64_t most = 0;
        for (Access &access : reduce.inputs) {
          Extent s = stride(access, loop);
          most = std::max(most, s.isKnown() ? s.known : INT64_MAX);
        }
        return most;
      };
      int64_t a = distance(x), b = distance(y);
      return a != b ? a > b : x < y;
    });
    if (laneIsReduction) {
      Type element = carried[0].getType();
      Value start = carried[0];
      Value neutral = b.create<arith::ConstantOp>(
          loc, DenseElementsAttr::get(VectorType::get({width}, element),
                                      Attribute(combiner->neutral)));
      SmallVector<Value> parts(vectorTile, neutral);
      parts.push_back(start);
      parts = reduceLoops(tile, order, parts,
                          [&](const Tile &inner, SmallVector<Value> values) {
                            return reduceLanes(inner, values);
                          });
      auto combine = [&](Value x, Value y) {
        return vector::makeArithReduction(b, loc, combiner->kind, x, y);
      };
      while (parts.size() > 2) {
        Value last = parts[parts.size() - 2];
        parts.erase(parts.end() - 2);
        Value &into = parts[(parts.size() - 1) / 2];
        into = combine(into, last);
      }
      Value sum = b.create<vector::ReductionOp>(loc, combiner->kind, parts[0]);
      carried = {combine(parts[1], sum)};
    } else {
      SmallVector<Value> bases = basesOf(reduce, tile);
      carried = reduceLoops(
          tile, order, carried,
          [&](const Tile &inner, SmallVector<Value> values) {
            SmallVector<Value> here = bases;
            for (auto [k, access] : llvm::enumerate(reduce.inputs))
              if (access.base)
                here[k] = add(here[k], position(access, inner, true));
            DenseMap<std::pair<const Access *, int64_t>, Value> loaded;
            SmallVector<Value> next(values.size());
            forEach([&](int64_t i, int64_t j, int64_t n) {
              SmallVector<Value> arguments =
                  inputsOf(reduce, here, inner, i, j, loaded, {});
              for (unsigned o = 0; o < outputs; ++o)
                arguments.push_back(values[o * points + n]);
              for (auto [o, value] : llvm::enumerate(
                       body(reduce, arguments, inner, i, j, true)))
                next[o * points + n] = spread(value, tile.lanes);
            });
            return next;
          });
    }
    for (unsigned o = 0; o < outputs; ++o)
      accumulators[o].assign(carried.begin() + o * points,
                             carried.begin() + (o + 1) * points);
  }
  if (!nest.finish) {
    Stage &reduce = *nest.reduce;
    SmallVector<Value> bases = basesOf(reduce, tile);
    for (unsigned o = 0; o < accumulators.size(); ++o)
      forEach([&](int64_t i, int64_t j, int64_t n) {
        store(reduce.outputs[o], bases[reduce.inputs.size() + o], tile, i, j,
              accumulators[o][n]);
      });
    return;
  }
  Stage &finish = *nest.finish;
  SmallVector<Value> bases = basesOf(finish, tile);
  forEach([&](int64_t i, int64_t j, int64_t n) {
    SmallVector<Value> arguments =
        inputsOf(finish, bases, tile, i, j, cache,
                 accumulators.empty() ? Value() : accumulators[0][n]);
    for (auto [o, access] : llvm::enumerate(finish.outputs)) {
      // The old value, where the body asks for it.
      bool used = !finish.op.getBody()
                       ->getArgument(finish.inputs.size() + o)
                       .use_empty();
      arguments.push_back(
          used ? load(access, bases[finish.inputs.size() + o], tile, i, j)
               : Value());
    }
    for (auto [o, value] :
         llvm::enumerate(body(finish, arguments, tile, i, j, false))) {
      const Access &access = finish.outputs[o];
      bool vector = tile.lanes > 1 && lane >= 0 && !laneIsReduction;
      store(access, bases[finish.inputs.size() + o], tile, i, j,
            vector ? spread(value, tile.lanes) : value);
    }
  });
}

/// Full vectors of the tile's lanes, then narrower ones for what is left.
void NestEmitter::lanesOf(Tile tile) {
  if (lane < 0 || laneIsReduction) {
    tile.vectors = tile.lanes = 1;
    return leaf(tile);
  }
  const Extent &size = nest.loops[lane].size;
  int64_t step = vectorTile * width;
  Value start = tile.at[lane];
  auto full = [&](Tile tile) {
    tile.vectors = vectorTile;
    tile.lanes = width;
    leaf(tile);
  };
  if (size.isKnown() && size.known % step == 0)
    return full(tile);
  Value end = materialize(size);
  auto rest = [&] {
    if (size.isKnown()) {
      int64_t left = size.known % step;
      Value at = start;
      for (int64_t lanes = width; left; lanes /= 2) {
        Tile part = tile;
        part.lanes = lanes;
        part.vectors = left / lanes;
        left %= lanes;
        if (!part.vectors)
          continue;
        part.at[lane] = at;
        leaf(part);
        at = add(at, index(part.vectors * lanes));
      }
      return;
    }
    Value left = b.create<arith::SubIOp>(loc, end, start);
    Value at = start;
    for (int64_t lanes : {width, int64_t(1)}) {
      Value over = b.create<arith::RemUIOp>(loc, left, index(lanes));
      Value stop = b.create<arith::SubIOp>(loc, end, over);
      auto each = b.create<scf::ForOp>(loc, at, stop, index(lanes));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(each.getBody());
      Tile part = tile;
      part.lanes = lanes;
      part.vectors = 1;
      part.at[lane] = each.getInductionVar();
      leaf(part);
      at = stop;
      if (width == 1)
        break;
    }
  };
  if (size.isKnown() && size.known < step)
    return rest();
  Value stop = b.create<arith::AddIOp>(loc, start, index(step));
  Value fits = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, stop, end);
  auto choice = b.create<scf::IfOp>(loc, fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  full(tile);
  b.setInsertionPointToStart(choice.elseBlock());
  rest();
}

/// Full tiles of rows, then smaller ones.
void NestEmitter::tiles(Tile tile) {
  if (row < 0) {
    tile.rows = 1;
    return lanesOf(tile);
  }
  const Extent &size = nest.loops[row].size;
  auto with = [&](int64_t rows, Value at) {
    Tile part = tile;
    part.rows = rows;
    part.at[row] = at;
    lanesOf(part);
  };
  Value start = tile.at[row];
  if (size.isKnown() && size.known % rowTile == 0)
    return with(rowTile, start);
  Value end = materialize(size);
  Value stop = b.create<arith::AddIOp>(loc, start, index(rowTile));
  Value fits = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, stop, end);
  auto choice = b.create<scf::IfOp>(loc, fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  with(rowTile, start);
  b.setInsertionPointToStart(choice.elseBlock());
  if (size.isKnown())
    return with(size.known % rowTile, start);
  Value at = start;
  for (int64_t rows = rowTile / 2; rows >= 1; rows = rows > 1 ? 1 : 0) {
    Value left = b.create<arith::SubIOp>(loc, end, at);
    Value over = b.create<arith::RemUIOp>(loc, left, index(rows));
    Value stop = b.create<arith::SubIOp>(loc, end, over);
    auto each = b.create<scf::ForOp>(loc, at, stop, index(rows));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(each.getBody());
    with(rows, each.getInductionVar());
    at = stop;
  }
}

void NestEmitter::loops(SmallVector<std::pair<int, int64_t>> order,
                        unsigned next, Tile tile) {
  if (next == order.size())
    return tiles(tile);
  auto [loop, step] = order[next];
  const Extent &size = nest.loops[loop].size;
  if (size.isKnown() && size.known <= step && size.known > 0) {
    tile.at[loop] = index(0);
    return loops(order, next + 1, tile);
  }
  auto each =
      b.create<scf::ForOp>(loc, index(0), materialize(size), index(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(each.getBody());
  tile.at[loop] = each.getInductionVar();
  loops(order, next + 1, tile);
}

void NestEmitter::emitAll() {
  // Outside first: what the weights depend on; then rows inside vectors of
  // weights where these are large, else vectors inside rows.
  SmallVector<std::pair<int, int64_t>> order, outer, inner;
  auto outStride = [&](int loop) {
    Extent s = stride(nest.last().outputs[0], loop);
    return s.isKnown() ? s.known : INT64_MAX;
  };
  for (auto [l, info] : llvm::enumerate(nest.loops)) {
    int loop = l;
    if (info.reduction || loop == lane || loop == row)
      continue;
    bool weightsDepend = false;
    if (nest.reduce && lane >= 0 && !laneIsReduction)
      for (Access &access : nest.reduce->inputs)
        weightsDepend |= !stride(access, lane).is(0) && !stride(access, loop).is(0);
    (weightsDepend ? outer : inner).push_back({loop, 1});
  }
  auto byStride = [&](auto &x, auto &y) {
    int64_t a = outStride(x.first), b = outStride(y.first);
    return a != b ? a > b : x.first < y.first;
  };
  llvm::sort(outer, byStride);
  llvm::sort(inner, byStride);
  order = outer;
  bool laneLoop = lane >= 0 && !laneIsReduction;
  if (laneLoop && laneOutermost)
    order.push_back({lane, vectorTile * width});
  order.append(inner);
  if (row >= 0)
    order.push_back({row, rowTile});
  if (laneLoop && !laneOutermost)
    order.push_back({lane, vectorTile * width});

  Tile tile;
  tile.at.resize(nest.loops.size());
  double points = 1;
  bool known = true;
  for (const Loop &loop : nest.loops)
    if (!loop.reduction) {
      points *= loop.size.isKnown() ? loop.size.known : 1;
      known &= loop.size.isKnown();
    }
  double each = pointNs();
  if (!options.threads || order.empty() ||
      (known && points * each < parallelFromNs))
    return loops(order, 0, tile);

  // The first loops, as many as give tasks enough, become one of tasks.
  auto trips = [&](unsigned i) -> Extent {
    const Extent &size = nest.loops[order[i].first].size;
    int64_t step = order[i].second;
    if (size.isKnown())
      return {(size.known + step - 1) / step, {}};
    if (step == 1)
      return size;
    return {0, b.create<arith::CeilDivUIOp>(loc, size.value, index(step))};
  };
  SmallVector<Extent> counts;
  int64_t tasks = 1;
  unsigned split = 0;
  Value total;
  while (split < order.size() && (split == 0 || tasks < 64)) {
    Extent count = trips(split++);
    counts.push_back(count);
    tasks *= count.isKnown() ? count.known : 8;
    total = total ? b.create<arith::MulIOp>(loc, total, materialize(count)).getResult()
                  : materialize(count);
  }
  // Nanoseconds of one task: what is known now times what is known at run time.
  double ns = each;
  Value unknown;
  for (auto [l, info] : llvm::enumerate(nest.loops)) {
    if (info.reduction)
      continue;
    int64_t step = 1;
    bool split1 = false;
    for (unsigned i = 0; i < split; ++i)
      if (order[i].first == static_cast<int>(l)) {
        split1 = true;
        step = order[i].second;
      }
    if (split1)
      ns *= info.size.isKnown() ? std::min(step, info.size.known) : step;
    else if (info.size.isKnown())
      ns *= info.size.known;
    else
      unknown = unknown ? b.create<arith::MulIOp>(loc, unknown, info.size.value).getResult()
                        : info.size.value;
  }
  int64_t atOnce = std::max<int64_t>(1, static_cast<int64_t>(taskNs / std::max(ns, 0.001)));
  Value grain = index(atOnce);
  if (unknown) {
    Value one = index(1);
    Value per = b.create<arith::DivUIOp>(
        loc, grain, b.create<arith::MaxUIOp>(loc, unknown, one));
    grain = b.create<arith::MaxUIOp>(loc, per, one);
  }
  auto parallel = b.create<scf::ParallelOp>(
      loc, ValueRange{index(0)}, ValueRange{total}, ValueRange{grain});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(parallel.getBody());
  Value first = parallel.getInductionVars()[0];
  Value stop = b.create<arith::MinUIOp>(
      loc, b.create<arith::AddIOp>(loc, first, grain), total);
  auto task = b.create<scf::ForOp>(loc, first, stop, index(1));
  b.setInsertionPointToStart(task.getBody());
  Value left = task.getInductionVar();
  for (unsigned i = split; i-- > 0;) {
    Value number = left;
    if (i > 0) {
      Value count = materialize(counts[i]);
      number = b.create<arith::RemUIOp>(loc, left, count);
      left = b.create<arith::DivUIOp>(loc, left, count);
    }
    tile.at[order[i].first] = times(number, {order[i].second, {}});
  }
  loops(order, split, tile);
}

LogicalResult NestEmitter::emit() {
  for (const Loop &loop : nest.loops)
    if (!loop.reduction && loop.size.is(0))
      return success(); // no results
  plan();
  emitAll();
  return success();
}

} // namespace

LogicalResult strata::emitLoopNest(OpBuilder &b, Location loc, LoopNest &nest,
                                   const NestOptions &options) {
  return NestEmitter(b, loc, nest, options).emit();
}
