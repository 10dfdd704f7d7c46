//===- MergedLoop.cpp - several loops, counted as one ---------------------===//
#include "MergedLoop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace strata;

MergedLoop strata::emitMergedLoop(OpBuilder &b, Location loc, Value first, Value stop, ArrayRef<Value> counts) {
  Value one = b.create<arith::ConstantIndexOp>(loc, 1);
  auto loopOver = [&](Value from, Value to) {
    auto each = b.create<scf::ForOp>(loc, from, to, one);
    b.setInsertionPointToStart(each.getBody());
    return each;
  };
  MergedLoop merged;
  merged.numbers.resize(counts.size());
  unsigned among = counts.size(); // the outermost loop counts the iterations of so many
  Value left;
  if (among > 1 && !getConstantIntValue(counts.back())) {
    // A division by a number that only the run tells, which may be zero, takes as long as some vectors: it is done once
    // for a line of the last loop.
    Value line = b.create<arith::MaxUIOp>(loc, counts[--among], one);
    merged.outermost =
        loopOver(b.create<arith::DivUIOp>(loc, first, line), b.create<arith::CeilDivUIOp>(loc, stop, line));
    left = merged.outermost.getInductionVar();
    Value start = b.create<arith::MulIOp>(loc, left, line), end = b.create<arith::AddIOp>(loc, start, line);
    Value from = b.create<arith::MaxUIOp>(loc, first, start), to = b.create<arith::MinUIOp>(loc, stop, end);
    auto each = loopOver(b.create<arith::SubIOp>(loc, from, start), b.create<arith::SubIOp>(loc, to, start));
    merged.numbers.back() = each.getInductionVar();
  } else {
    merged.outermost = loopOver(first, stop);
    left = merged.outermost.getInductionVar();
  }
  for (unsigned i = among; i-- > 1;) {
    merged.numbers[i] = b.createOrFold<arith::RemUIOp>(loc, left, counts[i]);
    left = b.createOrFold<arith::DivUIOp>(loc, left, counts[i]);
  }
  merged.numbers.front() = left;
  return merged;
}
