//===- ThreadNest.cpp - a loop nest spread over threads -------------------===//
//
// Every thread computes one point of the parallel loops, or a slice of its
// reduction; slices are combined as a tree in shared memory.
//
//===----------------------------------------------------------------------===//
#include "ThreadNest.h"
#include "StageEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace strata;

LoopNest strata::buildDeviceNest(OpBuilder &b, ArrayRef<linalg::GenericOp> ops) {
  Location loc = linalg::GenericOp(ops.front()).getLoc();
  if (FailureOr<LoopNest> nest = buildLoopNest(b, ops); succeeded(nest)) {
    simplify(b, loc, *nest, /*roundsGroups=*/false);
    return *nest;
  }
  const auto *reduction = llvm::find_if(ops, [](linalg::GenericOp op) { return op.getNumReductionLoops() > 0; });
  linalg::GenericOp main = reduction == ops.end() ? ops.back() : *reduction;
  LoopNest nest;
  SmallVector<Range> ranges = cast<linalg::LinalgOp>(main.getOperation()).createLoopRanges(b, main.getLoc());
  for (auto [range, iterator] : llvm::zip(ranges, main.getIteratorTypesArray())) {
    Extent size;
    if (std::optional<int64_t> known = getConstantIntValue(range.size))
      size.known = *known;
    else
      size.value = range.size.get<Value>();
    nest.loops.push_back({iterator == utils::IteratorType::reduction, size});
  }
  Value between = main.getDpsInits()[0];
  AffineMap mainMap = main.getMatchingIndexingMap(main.getDpsInitOperand(0));
  auto stageOf = [&](linalg::GenericOp op) {
    Stage stage;
    stage.op = op;
    stage.loopOf.assign(op.getNumLoops(), -1);
    stage.inputs.resize(op.getNumDpsInputs());
    stage.outputs.resize(op.getNumDpsInits());
    for (Access &access : stage.inputs)
      access.strides.resize(nest.loops.size());
    for (Access &access : stage.outputs)
      access.strides.resize(nest.loops.size());
    if (op == main) {
      for (unsigned i = 0; i < op.getNumLoops(); ++i)
        stage.loopOf[i] = i;
      return stage;
    }
    for (OpOperand &operand : op->getOpOperands()) {
      if (operand.get() != between)
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (unsigned i = 0; i < map.getNumResults(); ++i)
        stage.loopOf[map.getDimPosition(i)] = cast<AffineDimExpr>(mainMap.getResult(i)).getPosition();
      if (!op.isDpsInit(&operand))
        stage.carried = operand.getOperandNumber();
    }
    return stage;
  };
  for (linalg::GenericOp op : ops) {
    std::optional<Stage> &place = op != main               ? (op->isBeforeInBlock(main) ? nest.init : nest.finish)
                                  : reduction == ops.end() ? nest.finish
                                                           : nest.reduce;
    place = stageOf(op);
  }
  return nest;
}

/// The loop that walks memory of the access one by one, or -1.
static int unitLoop(const Access &access) {
  for (auto [i, stride] : llvm::enumerate(access.strides))
    if (stride.is(1))
      return i;
  return -1;
}

static int64_t knownProduct(const LoopNest &nest, bool reduction, int64_t ifUnknown) {
  int64_t product = 1;
  for (const Loop &loop : nest.loops)
    if (loop.reduction == reduction)
      product = llvm::SaturatingMultiply<uint64_t>(product, loop.size.isKnown() ? loop.size.known : ifUnknown);
  return product;
}

/// How many consecutive points of an elementwise nest make 16 bytes, where all
/// its buffers are walked as one; 1 otherwise.
static int64_t pointsTogether(const LoopNest &nest) {
  constexpr int64_t bytes = 16, enoughPoints = 1 << 16;
  if (nest.reduce || !nest.finish || nest.loops.size() != 1 || !nest.loops[0].size.isKnown() ||
      nest.loops[0].size.known < enoughPoints)
    return 1;
  int64_t widest = 1;
  auto fits = [&](const Access &access) {
    if (access.scalar)
      return true;
    if (!access.base || access.blockedLoop >= 0 || !access.element.isIntOrFloat())
      return false;
    widest = std::max<int64_t>(widest, llvm::divideCeil(access.element.getIntOrFloatBitWidth(), 8));
    return access.strides[0].is(0) || access.strides[0].is(1);
  };
  if (!llvm::all_of(nest.finish->inputs, fits) || !llvm::all_of(nest.finish->outputs, fits))
    return 1;
  int64_t together = std::clamp<int64_t>(bytes / widest, 1, 8);
  return nest.loops[0].size.known % together ? 1 : together;
}

ThreadMapping strata::chooseMapping(const LoopNest &nest) {
  ThreadMapping mapping;
  mapping.together = pointsTogether(nest);
  mapping.points *= mapping.together;
  if (!nest.reduce || !matchCombiner(nest.reduce->op))
    return mapping;
  constexpr int64_t threads = 256, enoughPoints = 1 << 17;
  int64_t points = knownProduct(nest, false, 4096), steps = knownProduct(nest, true, 1024);
  if (steps < 4)
    return mapping;
  // Which threads shall be neighbours: those that read neighbouring elements of the input that changes most often.
  const Access *input = nullptr;
  int mostLoops = -1;
  for (const Access &access : nest.reduce->inputs) {
    int loops = llvm::count_if(access.strides, [](const Extent &stride) { return !stride.is(0); });
    if (access.base && loops > mostLoops) {
      input = &access;
      mostLoops = loops;
    }
  }
  int unit = input ? unitLoop(*input) : -1;
  mapping.slicesAreNeighbours = unit >= 0 && nest.loops[unit].reduction;
  if (mapping.slicesAreNeighbours) {
    mapping.slices = std::min<int64_t>(threads, llvm::PowerOf2Ceil(llvm::divideCeil(steps, 4)));
    mapping.slices = std::max<int64_t>(mapping.slices, std::min<int64_t>(32, llvm::PowerOf2Ceil(steps)));
  } else if (points < enoughPoints && steps >= 32) {
    mapping.slices = points * 8 >= enoughPoints ? 8 : 32;
    mapping.slices = std::min<int64_t>(mapping.slices, llvm::PowerOf2Ceil(llvm::divideCeil(steps, 4)));
  }
  mapping.points = threads / mapping.slices;
  return mapping;
}

namespace {
class ThreadEmitter {
public:
  ThreadEmitter(OpBuilder &b, gpu::GPUFuncOp function, LoopNest &nest, const ThreadMapping &mapping)
      : b(b), loc(function.getLoc()), function(function), nest(nest), mapping(mapping), stages{b, loc, nest} {}

  void emit();

private:
  OpBuilder &b;
  Location loc;
  gpu::GPUFuncOp function;
  LoopNest &nest;
  const ThreadMapping &mapping;
  StageEmitter stages;

  /// The loops, with the one that walks memory one by one last.
  SmallVector<int> order(bool reduction) {
    SmallVector<int> loops;
    for (auto [i, loop] : llvm::enumerate(nest.loops))
      if (loop.reduction == reduction)
        loops.push_back(i);
    Stage &stage = reduction ? *nest.reduce : nest.last();
    int last = -1;
    for (Access &access : reduction ? stage.inputs : stage.outputs)
      if (last < 0 && access.base)
        last = unitLoop(access);
    if (auto *found = llvm::find(loops, last); found != loops.end()) {
      loops.erase(found);
      loops.push_back(last);
    }
    return loops;
  }

  Value product(ArrayRef<int> loops) {
    Value result = stages.index(1);
    for (int loop : loops)
      result = b.create<arith::MulIOp>(loc, result, stages.materialize(nest.loops[loop].size));
    return result;
  }

  /// What the accumulators hold before the first element.
  SmallVector<Value> initial(ArrayRef<Value> at) {
    if (nest.init)
      return stages.evaluate(*nest.init, at, {}, {});
    SmallVector<Value> result;
    Stage &stage = *nest.reduce;
    for (unsigned i = 0; i < stage.outputs.size(); ++i)
      result.push_back(stages.load(stage, stage.inputs.size() + i, at));
    return result;
  }

  SmallVector<Value> reduceInLoops(ArrayRef<int> loops, SmallVector<Value> at, SmallVector<Value> accumulators) {
    if (loops.empty())
      return stages.evaluate(*nest.reduce, at, {}, accumulators);
    auto loop = b.create<scf::ForOp>(loc, stages.index(0), stages.materialize(nest.loops[loops[0]].size),
                                     stages.index(1), accumulators);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    at[loops[0]] = loop.getInductionVar();
    SmallVector<Value> results =
        reduceInLoops(loops.drop_front(), at, llvm::to_vector(ValueRange(loop.getRegionIterArgs())));
    b.create<scf::YieldOp>(loc, results);
    return llvm::to_vector(ValueRange(loop.getResults()));
  }

  /// The slice's part of the reduction, from the neutral element on.
  Value reduceSlice(Value slice, ArrayRef<int> loops, SmallVector<Value> at, Value neutral) {
    auto loop = b.create<scf::ForOp>(loc, slice, product(loops), stages.index(mapping.slices), neutral);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    delinearize(b, loc, loop.getInductionVar(), nest, loops, at);
    b.create<scf::YieldOp>(loc, stages.evaluate(*nest.reduce, at, {}, loop.getRegionIterArg(0)));
    return loop.getResult(0);
  }

  void finish(ArrayRef<Value> at, SmallVector<Value> values) {
    values = results(at, std::move(values));
    for (auto [i, value] : llvm::enumerate(values))
      stages.store(nest.last(), i, value, at);
  }

  /// What the last stage makes of the reduction's results.
  SmallVector<Value> results(ArrayRef<Value> at, SmallVector<Value> values) {
    Stage &stage = nest.last();
    if (nest.finish) {
      // Without a reduction the outputs' elements may be asked for.
      SmallVector<Value> outputs(stage.outputs.size());
      for (unsigned i = 0; i < outputs.size(); ++i)
        if (!stage.op.getBody()->getArgument(stage.inputs.size() + i).use_empty())
          outputs[i] = stages.load(stage, stage.inputs.size() + i, at);
      values = stages.evaluate(stage, at, values.empty() ? Value() : values[0], outputs);
    }
    return values;
  }

  /// Several points of a nest without a reduction: all is read before anything
  /// is written, so that neighbouring elements travel together.
  void emitTogether(Value first) {
    SmallVector<SmallVector<Value>> values;
    SmallVector<Value> points;
    for (int64_t i = 0; i < mapping.together; ++i) {
      points.push_back(b.create<arith::AddIOp>(loc, first, stages.index(i)));
      values.push_back(results(points.back(), {}));
    }
    for (auto [point, results] : llvm::zip(points, values))
      for (auto [i, value] : llvm::enumerate(results))
        stages.store(nest.last(), i, value, point);
  }
};
} // namespace

void ThreadEmitter::emit() {
  SmallVector<int> parallel = order(false);
  Value thread = b.create<gpu::ThreadIdOp>(loc, gpu::Dimension::x);
  Value block = b.create<gpu::BlockIdOp>(loc, gpu::Dimension::x);
  Value point = thread, slice;
  if (mapping.slices > 1) {
    Value divisor = stages.index(mapping.slicesAreNeighbours ? mapping.slices : mapping.points);
    Value low = b.create<arith::RemUIOp>(loc, thread, divisor), high = b.create<arith::DivUIOp>(loc, thread, divisor);
    point = mapping.slicesAreNeighbours ? high : low;
    slice = mapping.slicesAreNeighbours ? low : high;
  }
  if (mapping.together > 1)
    point = b.create<arith::MulIOp>(loc, point, stages.index(mapping.together));
  Value column = point;
  point = b.create<arith::AddIOp>(loc, b.create<arith::MulIOp>(loc, block, stages.index(mapping.points)), point);
  Value inside = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, point, product(parallel));
  SmallVector<Value> at(nest.loops.size());
  OpBuilder::InsertionGuard guard(b);
  if (mapping.slices == 1) {
    auto guarded = b.create<scf::IfOp>(loc, inside);
    b.setInsertionPointToStart(guarded.thenBlock());
    if (mapping.together > 1)
      return emitTogether(point);
    delinearize(b, loc, point, nest, parallel, at);
    SmallVector<Value> values;
    if (nest.reduce)
      values = reduceInLoops(order(true), at, initial(at));
    finish(at, values);
    return;
  }

  Combiner combiner = *matchCombiner(nest.reduce->op);
  Type type = combiner.neutral.getType();
  Value neutral = b.create<arith::ConstantOp>(loc, combiner.neutral);
  auto part = b.create<scf::IfOp>(loc, TypeRange(type), inside, /*withElse=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(part.thenBlock());
    delinearize(b, loc, point, nest, parallel, at);
    b.create<scf::YieldOp>(loc, reduceSlice(slice, order(true), at, neutral));
    b.setInsertionPointToStart(part.elseBlock());
    b.create<scf::YieldOp>(loc, neutral);
  }
  // Bools would be bits.
  bool isBool = type.isInteger(1);
  Type stored = isBool ? Type(b.getI8Type()) : type;
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  Value shared = function.addWorkgroupAttribution(
      MemRefType::get({mapping.slices, mapping.points}, stored, MemRefLayoutAttrInterface(), space), loc);
  auto put = [&](Value value) {
    if (isBool)
      value = b.create<arith::ExtUIOp>(loc, stored, value);
    b.create<memref::StoreOp>(loc, value, shared, ValueRange{slice, column});
  };
  auto get = [&](Value row) -> Value {
    Value value = b.create<memref::LoadOp>(loc, shared, ValueRange{row, column});
    return isBool ? b.create<arith::TruncIOp>(loc, type, value).getResult() : value;
  };
  put(part.getResult(0));
  for (int64_t half = mapping.slices / 2; half > 0; half /= 2) {
    b.create<gpu::BarrierOp>(loc);
    Value first = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, slice, stages.index(half));
    auto guarded = b.create<scf::IfOp>(loc, first);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(guarded.thenBlock());
    Value other = get(b.create<arith::AddIOp>(loc, slice, stages.index(half)));
    put(combiner.joinScalars(b, loc, get(slice), other));
  }
  // The thread that has combined everything: slice 0.
  Value first = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, slice, stages.index(0));
  auto guarded = b.create<scf::IfOp>(loc, b.create<arith::AndIOp>(loc, first, inside));
  b.setInsertionPointToStart(guarded.thenBlock());
  delinearize(b, loc, point, nest, parallel, at);
  finish(at, {combiner.joinScalars(b, loc, initial(at)[0], get(slice))});
}

void strata::emitThreads(OpBuilder &b, gpu::GPUFuncOp function, LoopNest &nest, const ThreadMapping &mapping) {
  if (nest.reduce)
    StageEmitter::allowFusedMultiplyAdd(nest.reduce->op);
  ThreadEmitter(b, function, nest, mapping).emit();
}
