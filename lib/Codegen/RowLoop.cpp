//===- RowLoop.cpp - a loop over blocks of rows becomes tasks -------------===//
#include "RowLoop.h"
#include "LinalgQueries.h"
#include "MergedLoop.h"
#include "Tails.h"
#include "WeightPanels.h"
#include "WinogradEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace strata;

double strata::emitNest(ArrayRef<linalg::GenericOp> ops, const NestOptions &options, const ReadAhead &ahead) {
  OpBuilder b(ops.back());
  Location loc = ops.size() == 1 ? ops.front()->getLoc() : ops.back()->getParentOp()->getLoc();
  FailureOr<LoopNest> nest = buildLoopNest(b, ops);
  if (failed(nest))
    return 1000;
  for (std::optional<Stage> *stage : {&nest->init, &nest->reduce, &nest->finish})
    if (*stage) {
      for (auto [input, access] : llvm::zip((*stage)->op.getDpsInputs(), (*stage)->inputs))
        access.ahead = ahead.lookup(input);
      for (auto [init, access] : llvm::zip((*stage)->op.getDpsInits(), (*stage)->outputs))
        access.ahead = ahead.lookup(init);
    }
  double ns = 1000;
  if (failed(emitWinograd(b, loc, *nest, options))) {
    if (std::optional<double> withPanels = emitWithPanels(b, loc, ops, *nest, options)) {
      ns = *withPanels;
    } else {
      simplify(b, loc, *nest);
      mergeGroups(*nest, options);
      ns = emitBlocks(b, loc, *nest, options);
    }
  }
  llvm::SmallSetVector<Value, 4> buffers;
  for (linalg::GenericOp op : ops)
    buffers.insert(op.getDpsInits().begin(), op.getDpsInits().end());
  for (linalg::GenericOp op : llvm::reverse(ops))
    op.erase();
  // The buffer between the operations has lost its users.
  for (Value buffer : buffers)
    if (auto alloc = buffer.getDefiningOp<memref::AllocOp>();
        alloc && llvm::all_of(alloc->getUsers(), [](Operation *user) { return isa<memref::DeallocOp>(user); })) {
      for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
        user->erase();
      alloc.erase();
    }
  return ns;
}

KernelNests strata::viewNests(func::FuncOp kernel, const TargetFacts &target) {
  IRMapping mapping;
  auto copy = cast<func::FuncOp>(kernel->clone(mapping));
  KernelNests view{ModuleOp::create(kernel.getLoc()), {}};
  view.copy->push_back(copy);
  llvm::DenseMap<Operation *, linalg::GenericOp> original;
  kernel.walk([&](linalg::GenericOp op) { original[mapping.lookup(op.getOperation())] = op; });
  auto visit = [&](ArrayRef<linalg::GenericOp> ops, bool inLoop) {
    if (ops.empty())
      return;
    OpBuilder b(ops.back());
    FailureOr<LoopNest> nest = buildLoopNest(b, ops);
    if (failed(nest))
      return;
    simplify(b, kernel.getLoc(), *nest);
    mergeGroups(*nest, target);
    linalg::GenericOp reduction = nest->reduce ? original.lookup(nest->reduce->op) : linalg::GenericOp();
    view.nests.push_back({std::move(*nest), reduction, inLoop});
  };
  visit(SmallVector<linalg::GenericOp>(copy.getOps<linalg::GenericOp>()), /*inLoop=*/false);
  for (auto loop : copy.getOps<scf::ForallOp>())
    for (const NestOps &ops : nestsOf(loop))
      visit(ops, /*inLoop=*/true);
  return view;
}

/// How much there is to compute for an element, roughly.
static int64_t workOf(ArrayRef<linalg::GenericOp> ops) {
  int64_t work = 0;
  for (linalg::GenericOp op : ops)
    for (Operation &inner : *op.getBody())
      work += isa<math::MathDialect>(inner.getDialect()) ? 10 : 1;
  return work;
}

/// How far the next iteration's part of `tile`, a part of a whole buffer, is away: 0 if that is not known.
static Extent distanceToNext(scf::ForallOp loop, memref::SubViewOp tile) {
  // The last row with more than one block counts first.
  SmallVector<OpFoldResult> steps = loop.getMixedStep(), ends = loop.getMixedUpperBound();
  int64_t row = steps.size() - 1;
  while (row > 0 && getConstantIntValue(ends[row]) && getConstantIntValue(ends[row]) <= getConstantIntValue(steps[row]))
    --row;
  std::optional<int64_t> step = getConstantIntValue(steps[row]);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!step || failed(getStridesAndOffset(tile.getSourceType(), strides, offset)))
    return {};
  for (auto [from, stride] : llvm::zip(tile.getMixedOffsets(), strides))
    if (from == OpFoldResult(loop.getInductionVars()[row]) && stride != ShapedType::kDynamic)
      return {*step * stride, {}};
  return {};
}

/// What several nests read comes from memory while the first of them waits for it, and while the others compute, memory
/// has nothing to do: the one that computes most asks for the next rows. Lines of results that have left all caches
/// come from memory, too, before they are written: the first nest that writes them asks for those of the next rows.
static void planReadAhead(scf::ForallOp loop, ArrayRef<NestOps> nests, const NestOptions &options,
                          MutableArrayRef<ReadAhead> ahead) {
  if (nests.size() < 2)
    return;
  for (auto tile : loop.getBody()->getOps<memref::SubViewOp>()) {
    MemRefType whole = tile.getSourceType();
    if (tile.getSource().getParentBlock() == loop.getBody() || !whole.getElementType().isIntOrFloat())
      continue;
    int64_t bytes = whole.hasStaticShape() ? whole.getNumElements() * whole.getElementTypeBitWidth() / 8 : 0;
    Extent distance = distanceToNext(loop, tile);
    if ((whole.hasStaticShape() && bytes < options.cacheBytes) || distance.is(0))
      continue;
    auto reads = [&](linalg::GenericOp op) { return llvm::is_contained(op.getDpsInputs(), tile.getResult()); };
    auto writes = [&](linalg::GenericOp op) { return llvm::is_contained(op.getDpsInits(), tile.getResult()); };
    SmallVector<size_t> users, readers;
    for (auto [number, nest] : llvm::enumerate(nests)) {
      if (llvm::any_of(nest, reads))
        readers.push_back(number);
      if (llvm::any_of(nest, reads) || llvm::any_of(nest, writes))
        users.push_back(number);
    }
    bool isResult = !users.empty() && !llvm::is_contained(readers, users.front());
    if (isResult && bytes >= options.streamBytes)
      ahead[users.front()][tile] = distance;
    if (isResult || readers.size() < 2)
      continue;
    auto computesLess = [&](size_t i, size_t j) { return workOf(nests[i]) < workOf(nests[j]); };
    ahead[*std::max_element(readers.rbegin(), readers.rend(), computesLess)][tile] = distance;
  }
}

SmallVector<NestOps> strata::nestsOf(scf::ForallOp loop) {
  llvm::MapVector<Attribute, NestOps> byNumber;
  for (auto op : loop.getBody()->getOps<linalg::GenericOp>())
    byNumber[op->getAttr("strata.nest")].push_back(op);
  return SmallVector<NestOps>(llvm::make_second_range(byNumber));
}

/// What frees a buffer that is the same in each iteration of the loop around it; null for others.
static memref::DeallocOp freeOfScratch(memref::AllocOp alloc) {
  if (llvm::any_of(alloc->getOperands(), [&](Value size) { return size.getParentBlock() == alloc->getBlock(); }))
    return nullptr;
  SmallVector<memref::DeallocOp> frees;
  for (Operation *user : alloc->getUsers())
    if (auto free = dyn_cast<memref::DeallocOp>(user))
      frees.push_back(free);
  return frees.size() == 1 ? frees.front() : nullptr;
}

/// How many of the first induction variables `value` depends on, `known` being that of what is in the body's buffers.
static unsigned variablesOf(scf::ForallOp loop, Value value, const DenseMap<Value, unsigned> &known) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == loop.getBody() ? argument.getArgNumber() + 1 : 0;
  unsigned most = 0;
  if (Operation *op = value.getDefiningOp(); loop->isProperAncestor(op))
    for (Value operand : op->getOperands())
      most = std::max(most, variablesOf(loop, operand, known));
  return most;
}

namespace {
/// Nests that give the same in all iterations with equal first induction variables, so many of them, and fill buffers
/// that other nests only read.
struct SharedWork {
  unsigned variables = 0;
  SmallVector<NestOps> nests;
};
} // namespace

static SharedWork findSharedWork(scf::ForallOp loop) {
  unsigned all = loop.getRank();
  // Nests alone write to buffers.
  for (Operation &op : loop.getBody()->without_terminator())
    if (!isa<linalg::GenericOp, memref::AllocOp, memref::DeallocOp>(op) && !isMemoryEffectFree(&op))
      return {};
  struct Nest {
    NestOps ops;
    llvm::SmallSetVector<Value, 4> used, written; ///< buffers
    unsigned variables = 0;
    bool isShared = false;
  };
  auto isScratch = [&](Value buffer) {
    auto alloc = buffer.getDefiningOp<memref::AllocOp>();
    return alloc && alloc->getBlock() == loop.getBody() && freeOfScratch(alloc);
  };
  SmallVector<Nest> nests;
  DenseMap<Value, unsigned> known;
  for (NestOps &ops : nestsOf(loop)) {
    Nest nest;
    nest.ops = ops;
    for (linalg::GenericOp op : ops) {
      llvm::SetVector<Value> values;
      getUsedValuesDefinedAbove(op->getRegions(), values);
      values.insert(op->operand_begin(), op->operand_end());
      for (Value value : values) {
        nest.variables = std::max(nest.variables, variablesOf(loop, value, known));
        nest.used.insert(rootOf(value));
      }
      for (Value init : op.getDpsInits())
        nest.written.insert(rootOf(init));
    }
    nest.isShared = nest.variables < all && llvm::all_of(nest.written, isScratch);
    for (Value buffer : nest.written)
      known[buffer] = std::max(known.lookup(buffer), nest.variables);
    nests.push_back(std::move(nest));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (Nest &nest : nests)
      for (const Nest &other : nests)
        if (nest.isShared && !other.isShared &&
            llvm::any_of(other.written, [&](Value buffer) { return nest.used.contains(buffer); })) {
          nest.isShared = false;
          changed = true;
        }
  }
  SharedWork work;
  for (const Nest &nest : nests)
    if (nest.isShared) {
      work.variables = std::max(work.variables, nest.variables);
      work.nests.push_back(nest.ops);
    }
  int64_t tasks = 1;
  for (auto [end, step] :
       llvm::zip(ArrayRef(loop.getMixedUpperBound()).take_front(work.variables), loop.getMixedStep()))
    if (std::optional<int64_t> count = getConstantIntValue(end), each = getConstantIntValue(step); count && each)
      tasks *= llvm::divideCeil(*count, *each);
  return tasks < fewestSharedTasks ? SharedWork() : work;
}

/// Emits the nests of a loop's body; returns the estimated time of one iteration.
static double emitBody(scf::ForallOp loop, const NestOptions &options) {
  SmallVector<NestOps> nests = nestsOf(loop);
  joinTails(nests, options);
  SmallVector<ReadAhead> ahead(nests.size());
  planReadAhead(loop, nests, options, ahead);
  double ns = 0;
  for (auto [number, ops, rows] : llvm::enumerate(nests, ahead)) {
    NestOptions own = options;
    own.isReadAtOnce = number + 1 < nests.size();
    ns += emitNest(ops, own, rows);
  }
  return ns;
}

void strata::hoistScratch(Operation *inner, Block *body) {
  for (auto alloc : llvm::make_early_inc_range(body->getOps<memref::AllocOp>()))
    if (memref::DeallocOp free = freeOfScratch(alloc)) {
      alloc->moveBefore(inner);
      free->moveAfter(inner);
    }
  // What is on the stack would come again in each iteration.
  for (Operation &op : llvm::make_early_inc_range(*body)) {
    if (!isa<memref::AllocaOp, LLVM::AllocaOp>(op) || !llvm::all_of(op.getOperands(), [](Value size) {
          return isa_and_nonnull<LLVM::ConstantOp, arith::ConstantOp>(size.getDefiningOp());
        }))
      continue;
    for (Value size : op.getOperands())
      if (size.getParentBlock() == body)
        size.getDefiningOp()->moveBefore(inner);
    op.moveBefore(inner);
  }
}

/// Emits what iterations share, for the first of them.
static void emitSharedWork(scf::ForallOp loop, const SharedWork &work, const NestOptions &options) {
  if (work.nests.empty())
    return;
  Location loc = loop.getLoc();
  OpBuilder b = OpBuilder::atBlockBegin(loop.getBody());
  SmallVector<Value> rows = loop.getInductionVars();
  Value others;
  for (Value row : ArrayRef(rows).drop_front(work.variables))
    others = others ? b.create<arith::OrIOp>(loc, others, row) : row;
  Value isFirst =
      b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, others, b.create<arith::ConstantIndexOp>(loc, 0));
  for (const NestOps &ops : work.nests) {
    linalg::GenericOp last = ops.back();
    b.setInsertionPoint(last);
    auto place = b.create<scf::IfOp>(last.getLoc(), isFirst, /*withElseRegion=*/false);
    for (linalg::GenericOp op : ops)
      op->moveBefore(place.thenBlock()->getTerminator());
    NestOptions own = options;
    own.isReadAtOnce = true;
    emitNest(ops, own);
  }
}

/// Buffers whose size all iterations have in common are one. Others are freed at the end of an iteration: a nest comes
/// where the last of its operations is, which may be behind the end of what the first ones read.
static void prepareScratch(scf::ForallOp loop) {
  auto isSize = [](Operation *op, Region *) {
    return isMemoryEffectFree(op) && isSpeculatable(op) && llvm::all_of(op->getResultTypes(), llvm::IsaPred<IndexType>);
  };
  moveLoopInvariantCode(
      loop.getLoopRegions(), [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); }, isSize,
      [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
  for (auto alloc : loop.getBody()->getOps<memref::AllocOp>())
    if (!freeOfScratch(alloc))
      for (Operation *user : alloc->getUsers())
        if (isa<memref::DeallocOp>(user) && user->getBlock() == loop.getBody())
          user->moveBefore(loop.getBody()->getTerminator());
}

void strata::emitRowLoop(scf::ForallOp loop, const NestOptions &options) {
  prepareScratch(loop);
  NestOptions within = options;
  within.threads = false; // the rows are the tasks
  SharedWork work = findSharedWork(loop);
  emitSharedWork(loop, work, within);
  double ns = emitBody(loop, within);
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  auto index = [&](int64_t number) -> Value { return b.create<arith::ConstantIndexOp>(loc, number); };
  SmallVector<Value> counts, steps = getValueOrCreateConstantIndexOp(b, loc, loop.getMixedStep());
  SmallVector<Value> ends = getValueOrCreateConstantIndexOp(b, loc, loop.getMixedUpperBound());
  Value total;
  int64_t known = 1;
  Value together; // so many iterations share work
  for (auto [number, end, step] : llvm::enumerate(ends, steps)) {
    counts.push_back(b.createOrFold<arith::CeilDivUIOp>(loc, end, step));
    total = total ? b.createOrFold<arith::MulIOp>(loc, total, counts.back()) : counts.back();
    std::optional<int64_t> count = getConstantIntValue(counts.back());
    known = count ? known * *count : INT64_MAX / 2;
    known = std::min<int64_t>(known, 1 << 30);
    if (!work.nests.empty() && number >= work.variables)
      together = together ? b.createOrFold<arith::MulIOp>(loc, together, counts.back()) : counts.back();
  }
  TaskSize size = taskSize(ns, known, options);
  Value first = index(0), stop = total;
  if (size.split) {
    Value grain = index(size.grain);
    if (together) { // tasks begin with the first of those that share work
      together = b.createOrFold<arith::MaxUIOp>(loc, together, index(1));
      grain = b.createOrFold<arith::MulIOp>(loc, b.createOrFold<arith::CeilDivUIOp>(loc, grain, together), together);
    }
    auto tasks = b.create<scf::ParallelOp>(loc, first, total, grain);
    b.setInsertionPointToStart(tasks.getBody());
    first = tasks.getInductionVars()[0];
    stop = b.create<arith::MinUIOp>(loc, b.create<arith::AddIOp>(loc, first, grain), total);
  }
  MergedLoop each = emitMergedLoop(b, loc, first, stop, counts);
  for (auto [iv, number, step] : llvm::zip(loop.getInductionVars(), each.numbers, steps))
    iv.replaceAllUsesWith(b.createOrFold<arith::MulIOp>(loc, number, step));
  Block *body = b.getInsertionBlock();
  body->getOperations().splice(std::prev(body->end()), loop.getBody()->getOperations(), loop.getBody()->begin(),
                               std::prev(loop.getBody()->end()));
  hoistScratch(each.outermost, body);
  loop.erase();
}
