//===- StageEmitter.cpp - one operation of a nest at one point ------------===//
#include "StageEmitter.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace strata;

Value StageEmitter::index(int64_t number) { return b.create<arith::ConstantIndexOp>(loc, number); }

Value StageEmitter::materialize(const Extent &extent) { return extent.value ? extent.value : index(extent.known); }

Value StageEmitter::position(const Access &access, ArrayRef<Value> at) {
  Value sum = access.offset;
  auto add = [&](Value term) { sum = sum ? b.create<arith::AddIOp>(loc, sum, term).getResult() : term; };
  for (auto [stride, number] : llvm::zip(access.strides, at)) {
    if (stride.is(0) || !number)
      continue;
    add(stride.is(1) ? number : b.create<arith::MulIOp>(loc, number, materialize(stride)).getResult());
  }
  if (access.blockedLoop >= 0) {
    Value block = index(access.block), number = at[access.blockedLoop];
    add(b.create<arith::MulIOp>(loc, b.create<arith::DivUIOp>(loc, number, block), materialize(access.blockStride)));
    add(b.create<arith::RemUIOp>(loc, number, block));
  }
  return sum ? sum : index(0);
}

/// The element's position through the operation's own indexing map.
static SmallVector<Value> mapped(OpBuilder &b, Location loc, Stage &stage, OpOperand &operand, ArrayRef<Value> at) {
  SmallVector<OpFoldResult> dims;
  for (int loop : stage.loopOf)
    dims.push_back(loop < 0 || !at[loop] ? OpFoldResult(b.getIndexAttr(0)) : OpFoldResult(at[loop]));
  AffineMap map = stage.op.getMatchingIndexingMap(&operand);
  SmallVector<Value> result;
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    OpFoldResult value = affine::makeComposedFoldedAffineApply(b, loc, map.getSubMap({i}), dims);
    result.push_back(getValueOrCreateConstantIndexOp(b, loc, value));
  }
  return result;
}

static Access &accessOf(Stage &stage, unsigned number) {
  return number < stage.inputs.size() ? stage.inputs[number] : stage.outputs[number - stage.inputs.size()];
}

Value StageEmitter::load(Stage &stage, unsigned number, ArrayRef<Value> at) {
  Access &access = accessOf(stage, number);
  OpOperand &operand = stage.op->getOpOperand(number);
  if (!isa<MemRefType>(operand.get().getType()))
    return operand.get();
  if (!access.base)
    return b.create<memref::LoadOp>(loc, operand.get(), mapped(b, loc, stage, operand, at));
  Value value = b.create<memref::LoadOp>(loc, access.base, position(access, at));
  if (access.element.isInteger(1))
    value = b.create<arith::TruncIOp>(loc, access.element, value);
  return value;
}

void StageEmitter::store(Stage &stage, unsigned output, Value value, ArrayRef<Value> at) {
  Access &access = stage.outputs[output];
  OpOperand &operand = *stage.op.getDpsInitOperand(output);
  if (!access.base) {
    b.create<memref::StoreOp>(loc, value, operand.get(), mapped(b, loc, stage, operand, at));
    return;
  }
  if (access.element.isInteger(1))
    value = b.create<arith::ExtUIOp>(loc, b.getI8Type(), value);
  b.create<memref::StoreOp>(loc, value, access.base, position(access, at));
}

SmallVector<Value> StageEmitter::evaluate(Stage &stage, ArrayRef<Value> at, Value carried, ArrayRef<Value> outputs) {
  Block *body = stage.op.getBody();
  IRMapping mapping;
  unsigned inputs = stage.op.getNumDpsInputs();
  for (auto [i, argument] : llvm::enumerate(body->getArguments())) {
    if (argument.use_empty())
      continue;
    if (i >= inputs)
      mapping.map(argument, outputs[i - inputs]);
    else if (static_cast<int>(i) == stage.carried)
      mapping.map(argument, carried);
    else
      mapping.map(argument, load(stage, i, at));
  }
  for (Operation &op : body->without_terminator()) {
    if (auto number = dyn_cast<linalg::IndexOp>(op)) {
      int loop = stage.loopOf[number.getDim()];
      mapping.map(number.getResult(), loop < 0 || !at[loop] ? index(0) : at[loop]);
      continue;
    }
    Operation *copy = b.clone(op, mapping);
    // Inside of branches and loops of the body.
    copy->walk([&](linalg::IndexOp number) {
      int loop = stage.loopOf[number.getDim()];
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(number);
      number.replaceAllUsesWith(loop < 0 || !at[loop] ? index(0) : at[loop]);
      number.erase();
    });
  }
  SmallVector<Value> results;
  for (Value value : body->getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return results;
}

void StageEmitter::allowFusedMultiplyAdd(linalg::GenericOp op) {
  auto contract = arith::FastMathFlagsAttr::get(op.getContext(), arith::FastMathFlags::contract);
  op.getRegion().walk([&](Operation *inner) {
    if (isa<arith::MulFOp, arith::AddFOp, arith::SubFOp>(inner))
      inner->setAttr("fastmath", contract);
  });
}

void strata::delinearize(OpBuilder &b, Location loc, Value linear, const LoopNest &nest, ArrayRef<int> which,
                         SmallVectorImpl<Value> &at) {
  if (which.empty())
    return;
  // 32 bits are enough for most nests, and their divisions several times faster.
  int64_t total = 1;
  for (int loop : which) {
    const Extent &size = nest.loops[loop].size;
    if (!size.isKnown() || llvm::MulOverflow(total, std::max<int64_t>(size.known, 1), total) || total > INT32_MAX)
      total = INT64_MAX;
    if (total == INT64_MAX)
      break;
  }
  bool narrow = total <= INT32_MAX && which.size() > 1;
  Type type = narrow ? Type(b.getI32Type()) : Type(b.getIndexType());
  auto convert = [&](Value value, Type to) -> Value {
    return value.getType() == to ? value : b.create<arith::IndexCastUIOp>(loc, to, value).getResult();
  };
  Value rest = convert(linear, type);
  for (auto [i, loop] : llvm::enumerate(llvm::reverse(which))) {
    if (i + 1 == which.size()) {
      at[loop] = convert(rest, b.getIndexType());
      break;
    }
    const Extent &extent = nest.loops[loop].size;
    Value size = extent.isKnown() ? b.create<arith::ConstantOp>(loc, b.getIntegerAttr(type, extent.known)).getResult()
                                  : extent.value;
    at[loop] = convert(b.create<arith::RemUIOp>(loc, rest, size), b.getIndexType());
    rest = b.create<arith::DivUIOp>(loc, rest, size);
  }
}
