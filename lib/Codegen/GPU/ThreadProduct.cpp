//===- ThreadProduct.cpp - a thread's part of a product of two tiles ------===//
//
// Reads chunks of 16 bytes: of a line of rows, several rows of a step; of a row,
// several steps.
//
//===----------------------------------------------------------------------===//
#include "ThreadProduct.h"
#include "Integers.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace strata;

Value strata::addProduct(OpBuilder &b, linalg::GenericOp sums, Value left, Value right, Value sum) {
  Block *body = sums.getBody();
  IRMapping values;
  values.map(body->getArguments(), ValueRange{left, right, sum});
  for (Operation &op : body->without_terminator())
    b.clone(op, values);
  return values.lookupOrDefault(body->getTerminator()->getOperand(0));
}

ThreadProduct::ThreadProduct(OpBuilder &b, Location loc, Side left, Side right) : b(b), loc(loc), sides{left, right} {
  for (Side &side : sides) {
    int64_t chunk = 16 / side.tile.elementBytes();
    side.width = side.tile.alongDepth() ? chunk : std::min(chunk, side.count);
    if (side.tile.alongDepth())
      together = std::max(together, chunk);
  }
}

void ThreadProduct::prepare(Value thread) {
  Integers i32{b, loc, b.getI32Type()};
  sides[0].number = i32.div(thread, sides[1].threads);
  sides[1].number = i32.rem(thread, sides[1].threads);
}

Value ThreadProduct::Side::first(OpBuilder &b, Location loc) const {
  return Integers{b, loc, b.getI32Type()}.mul(number, run());
}

/// The elements of `together` steps from `step` on: [step][row].
SmallVector<SmallVector<Value>> ThreadProduct::read(const Side &side, Value stage, Value step) {
  Integers i32{b, loc, b.getI32Type()};
  SharedTile &tile = side.tile;
  int64_t bytes = tile.elementBytes();
  auto load = [&](Value place, int64_t further) {
    return b.create<LLVM::LoadOp>(loc, VectorType::get(side.width, side.element),
                                  addressAt(b, loc, addressAt(b, loc, stage, place), further), side.width * bytes);
  };
  auto extract = [&](Value vector, int64_t i) { return b.create<LLVM::ExtractElementOp>(loc, vector, i32.number(i)); };
  SmallVector<SmallVector<Value>> elements(together);
  for (int64_t s = 0; s < together; ++s) {
    if (tile.alongDepth()) {
      if (s % side.width)
        continue;
      Value place = tile.offset(side.number, i32.div(i32.add(step, s), side.width));
      for (int64_t i = 0; i < side.count; ++i) {
        Value vector = load(place, side.placeOf(i) * tile.pitch());
        for (int64_t k = 0; k < side.width; ++k)
          elements[s + k].push_back(extract(vector, k));
      }
      continue;
    }
    Value place = i32.add(i32.mul(step, tile.pitch()), i32.mul(side.number, side.width * bytes));
    for (int64_t i = 0; i < side.count; i += side.width) {
      Value vector = load(place, s * tile.pitch() + side.placeOf(i) * bytes);
      for (int64_t k = 0; k < side.width; ++k)
        elements[s].push_back(extract(vector, k));
    }
  }
  return elements;
}

void ThreadProduct::accumulate(Value leftStage, Value rightStage, int64_t depth, MutableArrayRef<Value> sums,
                               Accumulate accumulate) {
  Integers index{b, loc, b.getIndexType()}, i32{b, loc, b.getI32Type()};
  auto loop =
      b.create<scf::ForOp>(loc, index.number(0), index.number(depth), index.number(together), SmallVector<Value>(sums));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value step = i32.of(loop.getInductionVar());
  SmallVector<SmallVector<Value>> x = read(left(), leftStage, step), y = read(right(), rightStage, step);
  SmallVector<Value> next = llvm::to_vector(ValueRange(loop.getRegionIterArgs()));
  for (int64_t s = 0; s < together; ++s) {
    Value at = index.add(loop.getInductionVar(), s);
    for (int64_t i = 0; i < left().count; ++i)
      for (int64_t j = 0; j < right().count; ++j) {
        Value &sum = next[i * right().count + j];
        sum = accumulate(at, x[s][i], y[s][j], sum);
      }
  }
  b.create<scf::YieldOp>(loc, next);
  llvm::copy(loop.getResults(), sums.begin());
}
