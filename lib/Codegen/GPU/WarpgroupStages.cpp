//===- WarpgroupStages.cpp - what warpgroups copy and multiply ------------===//
#include "WarpgroupStages.h"
#include "SharedTile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace strata;

/// The swizzle's pattern is one of eight lines.
static constexpr int64_t patternLines = 8;

static Value equal(OpBuilder &b, Location loc, Value x, Value y) {
  return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, x, y);
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

Value StageRing::at(Value stage) { return addressAt(b, loc, memory, i32.mul(stage, stageBytes)); }
Value StageRing::full(Value stage) { return addressAt(b, loc, barriers, i32.mul(stage, 8)); }
Value StageRing::empty(Value stage) { return addressAt(b, loc, barriers, i32.add(i32.mul(stage, 8), 8 * stages)); }

void StageRing::makeBarriers(int64_t arrivals) {
  for (int64_t stage = 0; stage < stages; ++stage) {
    b.create<NVVM::MBarrierInitSharedOp>(loc, full(i32.number(stage)), i32.number(1), Value());
    b.create<NVVM::MBarrierInitSharedOp>(loc, empty(i32.number(stage)), i32.number(arrivals), Value());
  }
}

void strata::makeBarriers(OpBuilder &b, Location loc, Value thread, ArrayRef<StageRing *> rings, int64_t arrivals,
                          ValueRange maps) {
  Integers i32{b, loc, b.getI32Type()};
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(b.create<scf::IfOp>(loc, equal(b, loc, thread, i32.number(0))).thenBlock());
    for (StageRing *ring : rings)
      ring->makeBarriers(arrivals);
    b.create<NVVM::FenceMbarrierInitOp>(loc);
    b.create<NVVM::FenceProxyOp>(loc, NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async_shared),
                                 NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
    for (Value map : maps)
      b.create<NVVM::PrefetchTensorMapOp>(loc, map, Value());
  }
  b.create<gpu::BarrierOp>(loc);
}

void StageRing::waitFor(Value barrier, Value parity) {
  b.create<NVVM::MBarrierTryWaitParitySharedOp>(loc, barrier, parity, i32.number(10000000));
}

Turn StageRing::next(Turn turn) {
  Value after = i32.add(turn.stage, 1), wraps = equal(b, loc, after, i32.number(stages));
  return {b.create<arith::SelectOp>(loc, wraps, i32.number(0), after),
          i32.exclusiveOr(turn.parity, b.create<arith::ExtUIOp>(loc, i32.type, wraps))};
}

Value StageRing::expect(Turn turn, int64_t bytes) {
  waitFor(empty(turn.stage), turn.parity);
  Value barrier = full(turn.stage);
  b.create<NVVM::MBarrierArriveExpectTxSharedOp>(loc, barrier, i32.number(bytes), Value());
  return barrier;
}

void StageRing::release(Value lane, Value stage, Value condition) {
  condition = both(b, loc, equal(b, loc, lane, i32.number(0)), condition);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(b.create<scf::IfOp>(loc, condition).thenBlock());
  b.create<NVVM::MBarrierArriveSharedOp>(loc, b.getI64Type(), empty(stage));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void strata::copyTile(OpBuilder &b, Location loc, const BulkOperand &operand, Value map, ArrayRef<Value> at, Value to,
                      Value barrier) {
  Integers i32{b, loc, b.getI32Type()};
  SmallVector<Value> coordinates;
  for (const MapDimension &dimension : operand.dimensions) {
    Value sum;
    for (const MapDimension::Part &part : dimension.parts)
      if (at[part.loop]) {
        Value term = i32.mul(i32.of(at[part.loop]), part.factor);
        sum = sum ? i32.add(sum, term) : term;
      }
    coordinates.push_back(sum ? sum : i32.number(0));
  }
  for (int64_t i = 0; i < operand.copies(); ++i) {
    SmallVector<Value> moved(coordinates);
    moved[0] = i32.add(moved[0], i * operand.lineElements());
    b.create<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(loc, addressAt(b, loc, to, i * operand.copyBytes()), map,
                                                             moved, barrier, ValueRange(), Value(), Value(), Value());
  }
}

SmallVector<Value> strata::addTensorMaps(gpu::GPUFuncOp function, int64_t count) {
  Builder b(function.getContext());
  SmallVector<Type> types(function.getArgumentTypes());
  SmallVector<Value> maps;
  for (int64_t i = 0; i < count; ++i) {
    Type pointer = LLVM::LLVMPointerType::get(b.getContext());
    maps.push_back(function.getBody().front().insertArgument(types.size(), pointer, function.getLoc()));
    types.push_back(pointer);
  }
  function.setFunctionType(b.getFunctionType(types, {}));
  function->setAttr(kTensorMaps, b.getI64IntegerAttr(count));
  return maps;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void strata::divideWork(OpBuilder &b, Location loc, Value thread, function_ref<void()> copy,
                        function_ref<void(Value)> compute) {
  Integers i32{b, loc, b.getI32Type()};
  // The same for all lanes of a warp, which the compiler does not know of itself.
  Value group = b.create<NVVM::ShflOp>(loc, i32.type, i32.number(-1), i32.div(thread, 128), i32.number(0),
                                       i32.number(31), NVVM::ShflKind::idx, UnitAttr());
  auto branch = b.create<scf::IfOp>(loc, equal(b, loc, group, i32.number(0)), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  copy();
  b.setInsertionPointToStart(branch.elseBlock());
  compute(i32.add(group, -1));
}

/// Of 64 bits: the address and two distances in units of 16 bytes; the swizzle, of 128 or 64 bytes. Where lines are
/// rows, groups of eight follow each other; where they are steps, groups of eight steps do, and the next rows are a
/// copy further.
TileDescriptor::TileDescriptor(OpBuilder &b, Location loc, const BulkOperand &operand, Value address)
    : b(b), loc(loc), operand(operand) {
  constexpr uint64_t unit = 16;
  uint64_t swizzle = uint64_t(kLongestLine / operand.lineBytes) << 62;
  uint64_t leading = operand.across ? operand.copyBytes() / unit : 1, stride = patternLines * operand.lineBytes / unit;
  Integers i64{b, loc, b.getI64Type()};
  Value bits = b.create<LLVM::PtrToIntOp>(loc, i64.type, address);
  bits = b.create<arith::AndIOp>(loc, bits, i64.number(0x3ffff));
  bits = b.create<arith::ShRUIOp>(loc, bits, i64.number(4));
  first = b.create<arith::OrIOp>(loc, bits, i64.number(int64_t(leading << 16 | stride << 32 | swizzle)));
}

Value TileDescriptor::at(int64_t group, int64_t step) {
  // Of 64 rows a copy has its lines, or is what the lines hold of 64 rows of 16 bits.
  int64_t inLine = operand.lineElements();
  int64_t bytes = operand.across ? group * 64 / inLine * operand.copyBytes() + step * operand.lineBytes
                                 : group * 64 * operand.lineBytes + step / inLine * operand.copyBytes() +
                                       step % inLine * operand.elementBytes;
  return Integers{b, loc, b.getI64Type()}.add(first, bytes / 16);
}

Type WarpgroupProduct::type() const {
  SmallVector<Type> types(columns / 2, instruction.sumType);
  return LLVM::LLVMStructType::getLiteral(b.getContext(), types);
}

Value WarpgroupProduct::noSums() const { return b.create<LLVM::ZeroOp>(loc, type()); }

Value WarpgroupProduct::multiply(Value sums, TileDescriptor &left, int64_t group, TileDescriptor &right,
                                 int64_t step) const {
  MLIRContext *context = b.getContext();
  auto layout = [&](bool row) {
    return NVVM::MMALayoutAttr::get(context, row ? NVVM::MMALayout::row : NVVM::MMALayout::col);
  };
  auto typeOf = [&](NVVM::WGMMATypes type) { return NVVM::WGMMATypesAttr::get(context, type); };
  auto one = NVVM::WGMMAScaleInAttr::get(context, NVVM::WGMMAScaleIn::one);
  auto scale = NVVM::WGMMAScaleOutAttr::get(context, sums ? NVVM::WGMMAScaleOut::one : NVVM::WGMMAScaleOut::zero);
  if (!sums)
    sums = b.create<LLVM::UndefOp>(loc, type());
  return b.create<NVVM::WgmmaMmaAsyncOp>(loc, type(), sums, left.at(group, step), right.at(0, step),
                                         NVVM::MMAShapeAttr::get(context, 64, columns, instruction.steps()),
                                         typeOf(instruction.left), typeOf(instruction.right), typeOf(instruction.sum),
                                         scale, one, one, layout(!left.isAcross()), layout(right.isAcross()),
                                         NVVM::MMAIntOverflowAttr());
}

/// MLIR's operation has both sides in shared memory.
Value WarpgroupProduct::multiply(Value sums, ArrayRef<Value> left, TileDescriptor &right, int64_t step) const {
  int64_t count = columns / 2;
  SmallVector<Value> operands = unpack(sums);
  llvm::append_range(operands, left);
  operands.push_back(right.at(0, step));
  auto list = [](int64_t begin, int64_t end) {
    std::string text;
    for (int64_t i = begin; i < end; ++i)
      text += (i == begin ? "$" : ", $") + std::to_string(i);
    return text;
  };
  // Operands are numbered behind the results, those that begin as results do, too.
  int64_t registers = 2 * count;
  StringRef element = NVVM::stringifyWGMMATypes(instruction.left);
  std::string text =
      ("{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n" + Twine(columns) + "k16.f32." +
       element + "." + element + " {" + list(0, count) + "}, {" + list(registers, registers + 4) + "}, $" +
       Twine(registers + 4) + ", p, 1, 1, " + (right.isAcross() ? "1" : "0") + "; }")
          .str();
  std::string constraints;
  for (int64_t i = 0; i < count; ++i)
    constraints += "=f,";
  for (int64_t i = 0; i < count; ++i)
    constraints += std::to_string(i) + ",";
  return b
      .create<LLVM::InlineAsmOp>(loc, type(), operands, text, constraints + "r,r,r,r,l", /*has_side_effects=*/true,
                                 /*is_align_stack=*/false, LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

SmallVector<Value> WarpgroupProduct::unpack(Value sums) const {
  SmallVector<Value> values;
  for (int64_t i = 0; i < columns / 2; ++i)
    values.push_back(b.create<LLVM::ExtractValueOp>(loc, sums, i));
  return values;
}

Value WarpgroupProduct::pack(ArrayRef<Value> sums) const {
  Value all = b.create<LLVM::UndefOp>(loc, type());
  for (auto [i, sum] : llvm::enumerate(sums))
    all = b.create<LLVM::InsertValueOp>(loc, all, sum, i);
  return all;
}
