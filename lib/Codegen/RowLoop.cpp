//===- RowLoop.cpp - a loop over blocks of rows becomes tasks -------------===//
#include "RowLoop.h"
#include "WinogradEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace strata;

double strata::emitNest(ArrayRef<linalg::GenericOp> ops, const NestOptions &options) {
  OpBuilder b(ops.back());
  Location loc = ops.size() == 1 ? ops.front()->getLoc() : ops.back()->getParentOp()->getLoc();
  FailureOr<LoopNest> nest = buildLoopNest(b, ops);
  if (failed(nest))
    return 1000;
  double ns = 1000;
  if (failed(emitWinograd(b, loc, *nest, options))) {
    simplify(b, loc, *nest);
    ns = emitLoopNest(b, loc, *nest, options);
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

/// The nests of a loop's body; returns the estimated time of one iteration.
static double emitBody(scf::ForallOp loop, NestOptions options) {
  options.threads = false; // the rows are the tasks
  llvm::MapVector<Attribute, SmallVector<linalg::GenericOp>> nests;
  for (auto op : loop.getBody()->getOps<linalg::GenericOp>())
    nests[op->getAttr("strata.nest")].push_back(op);
  double ns = 0;
  for (auto &[number, ops] : nests)
    ns += emitNest(ops, options);
  return ns;
}

/// Buffers of the same size in every iteration, with what frees them, move in front of and behind `inner`.
static void hoistScratch(Operation *inner, Block *body) {
  for (auto alloc : llvm::make_early_inc_range(body->getOps<memref::AllocOp>())) {
    if (!llvm::all_of(alloc->getOperands(), [&](Value size) { return size.getParentBlock() != body; }))
      continue;
    SmallVector<memref::DeallocOp> frees;
    for (Operation *user : alloc->getUsers())
      if (auto free = dyn_cast<memref::DeallocOp>(user))
        frees.push_back(free);
    if (frees.size() != 1)
      continue;
    alloc->moveBefore(inner);
    frees.front()->moveAfter(inner);
  }
}

void strata::emitRowLoop(scf::ForallOp loop, const NestOptions &options) {
  double ns = emitBody(loop, options);
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  auto index = [&](int64_t number) -> Value { return b.create<arith::ConstantIndexOp>(loc, number); };
  SmallVector<Value> counts, steps = getValueOrCreateConstantIndexOp(b, loc, loop.getMixedStep());
  SmallVector<Value> ends = getValueOrCreateConstantIndexOp(b, loc, loop.getMixedUpperBound());
  Value total;
  int64_t known = 1;
  for (auto [end, step] : llvm::zip(ends, steps)) {
    counts.push_back(b.createOrFold<arith::CeilDivUIOp>(loc, end, step));
    total = total ? b.createOrFold<arith::MulIOp>(loc, total, counts.back()) : counts.back();
    std::optional<int64_t> count = getConstantIntValue(counts.back());
    known = count ? known * *count : INT64_MAX / 2;
    known = std::min<int64_t>(known, 1 << 30);
  }
  TaskSize size = taskSize(ns, known, options);
  scf::ForOp each;
  Value first = index(0), stop = total;
  if (size.split) {
    Value grain = index(size.grain);
    auto tasks = b.create<scf::ParallelOp>(loc, first, total, grain);
    b.setInsertionPointToStart(tasks.getBody());
    first = tasks.getInductionVars()[0];
    stop = b.create<arith::MinUIOp>(loc, b.create<arith::AddIOp>(loc, first, grain), total);
  }
  each = b.create<scf::ForOp>(loc, first, stop, index(1));
  b.setInsertionPointToStart(each.getBody());
  Value left = each.getInductionVar();
  SmallVector<Value> numbers(counts.size());
  for (unsigned i = counts.size(); i-- > 0;) {
    Value number = i ? b.createOrFold<arith::RemUIOp>(loc, left, counts[i]) : left;
    if (i)
      left = b.createOrFold<arith::DivUIOp>(loc, left, counts[i]);
    numbers[i] = b.createOrFold<arith::MulIOp>(loc, number, steps[i]);
  }
  for (auto [iv, number] : llvm::zip(loop.getInductionVars(), numbers))
    iv.replaceAllUsesWith(number);
  Block *body = each.getBody();
  body->getOperations().splice(std::prev(body->end()), loop.getBody()->getOperations(), loop.getBody()->begin(),
                               std::prev(loop.getBody()->end()));
  hoistScratch(each, body);
  loop.erase();
}
