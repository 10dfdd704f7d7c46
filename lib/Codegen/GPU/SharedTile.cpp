//===- SharedTile.cpp - an operand's part of a tile in shared memory ------===//
#include "SharedTile.h"
#include "Divisors.h"
#include "Integers.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace strata;

static constexpr int64_t chunkBytes = 16, banksBytes = 128;

Value strata::addressAt(OpBuilder &b, Location loc, Value pointer, Value bytes) {
  return b.create<LLVM::GEPOp>(loc, pointer.getType(), b.getI8Type(), pointer, bytes);
}
Value strata::addressAt(OpBuilder &b, Location loc, Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  return b.create<LLVM::GEPOp>(loc, pointer.getType(), b.getI8Type(), pointer, LLVM::GEPArg(int32_t(bytes)));
}
Value strata::dynamicSharedMemory(OpBuilder &b, Location loc, gpu::GPUFuncOp function) {
  constexpr llvm::StringLiteral name = "dynamic_shared";
  constexpr int64_t alignment = 1024; // where the widest swizzle's pattern begins
  auto module = function->getParentOfType<gpu::GPUModuleOp>();
  auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!global) {
    OpBuilder top(module.getBody(), module.getBody()->begin());
    global =
        top.create<LLVM::GlobalOp>(loc, LLVM::LLVMArrayType::get(b.getI8Type(), 0), /*isConstant=*/false,
                                   LLVM::Linkage::External, name, Attribute(), alignment, NVVM::kSharedMemorySpace);
  }
  return b.create<LLVM::AddressOfOp>(loc, global);
}
Value strata::pointerTo(OpBuilder &b, Location loc, Value buffer, unsigned addressSpace) {
  Value address = b.create<memref::ExtractAlignedPointerAsIndexOp>(loc, buffer);
  address = b.create<arith::IndexCastOp>(loc, b.getI64Type(), address);
  return b.create<LLVM::IntToPtrOp>(loc, LLVM::LLVMPointerType::get(b.getContext(), addressSpace), address);
}

SharedTile::SharedTile(StageEmitter &stages, const Access &access, ArrayRef<int> numberLoops, ArrayRef<int> stepLoops,
                       TileShape shape)
    : stages(stages), b(stages.b), loc(stages.loc), access(access), numberLoops(numberLoops), stepLoops(stepLoops),
      shape(shape), bytesOfElement(llvm::divideCeil(access.element.getIntOrFloatBitWidth(), 8)) {
  bool numbersAreNeighbours = access.strides[numberLoops.back()].is(1),
       stepsAreNeighbours = access.strides[stepLoops.back()].is(1);
  // ldmatrix can transpose elements of 16 bits; those of 32 are loaded one by one.
  linesAreNumbers = shape.lines != TileShape::Lines::asInMemory ? shape.lines == TileShape::Lines::numbers
                    : shape.matrix                              ? bytesOfElement == 1 || !numbersAreNeighbours
                                                                : stepsAreNeighbours;
  lines = linesAreNumbers ? shape.numbers : shape.depth;
  lineElements = linesAreNumbers ? shape.depth : shape.numbers;
  if (linesAreNumbers ? stepsAreNeighbours : numbersAreNeighbours)
    chunk = widestCopy(linesAreNumbers ? stepLoops : numberLoops);
  else
    neighboursAreLines = linesAreNumbers ? numbersAreNeighbours : stepsAreNeighbours;
  chunk = std::min(chunk, std::max<int64_t>(1, lines * lineElements / shape.threads));
  isWide = chunk * bytesOfElement >= 4;
  if (!isWide) // Several are stored at once.
    chunk = std::min<int64_t>(4 / bytesOfElement, std::max<int64_t>(1, lines * lineElements / shape.threads));
}

/// How many elements along the last of `loops`, whose stride is 1, and those that continue it in memory, can always be
/// copied at once: runs of so many start at multiples of their size.
int64_t SharedTile::widestCopy(ArrayRef<int> loops) const {
  int64_t run = 1;
  SmallVector<int> inRun;
  for (int loop : llvm::reverse(loops)) {
    const Extent &size = stages.nest.loops[loop].size;
    if (!access.strides[loop].is(run) || !size.isKnown())
      break;
    run *= size.known;
    inRun.push_back(loop);
  }
  int64_t common = run | (access.offset ? divisorOf(access.offset) : 0) | (chunkBytes / bytesOfElement);
  for (auto [i, stride] : llvm::enumerate(access.strides)) {
    if (llvm::is_contained(inRun, static_cast<int>(i)))
      continue;
    common |= divisorOf(stride);
  }
  return common & -common;
}

Value SharedTile::offset(Value line, Value chunk) const {
  Integers i32{b, loc, b.getI32Type()};
  int64_t perLine = pitch() / chunkBytes;
  // Without ldmatrix a line of rows is read by neighbours at once.
  bool swizzled = (linesAreNumbers || shape.matrix) && perLine > 1;
  if (swizzled && isLoadedSingly()) {
    // Lanes of four lines read eight neighbours of each.
    chunk = i32.exclusiveOr(chunk, i32.mul(i32.rem(i32.div(line, isReadInPairs() ? 2 : 1), 4), 2));
  } else if (swizzled) {
    int64_t linesInBanks = std::max<int64_t>(1, banksBytes / pitch());
    Value key = i32.rem(i32.div(line, linesInBanks), std::min<int64_t>(perLine, banksBytes / chunkBytes));
    chunk = i32.exclusiveOr(chunk, key);
  }
  return i32.add(i32.mul(line, pitch()), i32.mul(chunk, chunkBytes));
}

void SharedTile::prepare(Value thread, Value first, Value size, ArrayRef<Value> batchAt) {
  Integers index{b, loc, b.getIndexType()}, i32{b, loc, b.getI32Type()};
  base = pointerTo(b, loc, access.base, NVVM::kGlobalMemorySpace);
  chunks.clear();
  int64_t perLine = lineElements / chunk, fast = threadsOfLine();
  assert((shape.threads % fast == 0 || fast % shape.threads == 0) && "threads copy whole lines, or parts of one");
  // Threads have several lines at once, or a line is theirs several times.
  int64_t linesAtOnce = std::max<int64_t>(1, shape.threads / fast), turns = std::max<int64_t>(1, fast / shape.threads);
  Value lowest = index.rem(thread, fast), high = index.div(thread, fast);
  for (int64_t i = 0; i < lines * perLine / shape.threads; ++i) {
    Value low = index.add(lowest, i % turns * shape.threads), slow = index.add(high, i / turns * linesAtOnce);
    Value line = neighboursAreLines ? low : slow, inLine = index.mul(neighboursAreLines ? slow : low, chunk);
    Chunk mine;
    int64_t inChunk = chunkBytes / bytesOfElement;
    mine.to = i32.add(offset(i32.of(line), i32.of(index.div(inLine, inChunk))),
                      i32.mul(i32.of(index.rem(inLine, inChunk)), bytesOfElement));
    for (int64_t e = 0; e < (isWide ? 1 : chunk); ++e) {
      Value along = index.add(inLine, e);
      Value number = index.add(first, linesAreNumbers ? line : along);
      SmallVector<Value> at(batchAt);
      delinearize(b, loc, number, stages.nest, numberLoops, at);
      mine.elements.push_back(
          {stages.position(access, at), size ? index.less(number, size) : Value(), linesAreNumbers ? along : line});
    }
    chunks.push_back(std::move(mine));
  }
}

void SharedTile::copyWide(Value position, Value inside, Value to) {
  Integers i32{b, loc, b.getI32Type()};
  int64_t bytes = chunk * bytesOfElement;
  Value offset = b.create<arith::IndexCastOp>(loc, b.getI64Type(), position);
  Value from = b.create<LLVM::GEPOp>(loc, base.getType(), access.element, base, offset);
  if (!shape.async) {
    Type vector = VectorType::get(chunk, access.element);
    if (inside)
      from = b.create<arith::SelectOp>(loc, inside, from, base);
    Value loaded = b.create<LLVM::LoadOp>(loc, vector, from, bytes);
    if (inside)
      loaded = b.create<arith::SelectOp>(loc, inside, loaded, b.create<arith::ConstantOp>(loc, b.getZeroAttr(vector)));
    b.create<LLVM::StoreOp>(loc, loaded, to, bytes);
    return;
  }
  // 16 bytes need not stay in the first cache: other threads of the block do not read them.
  std::string name = std::string("llvm.nvvm.cp.async.") + (bytes == 16 ? "cg" : "ca") + ".shared.global." +
                     std::to_string(bytes) + (inside ? ".s" : "");
  SmallVector<Value> operands{to, from};
  if (inside) {
    operands[1] = b.create<arith::SelectOp>(loc, inside, from, base);
    operands.push_back(b.create<arith::SelectOp>(loc, inside, i32.number(bytes), i32.number(0)));
  }
  b.create<LLVM::CallIntrinsicOp>(loc, TypeRange(), StringRef(name), operands);
}

void SharedTile::copy(Value begin, Value end, Value stage) {
  Integers index{b, loc, b.getIndexType()};
  Access steps = access;
  steps.offset = {};
  const Extent &innermost = stages.nest.loops[stepLoops.back()].size;
  // The tile's steps are numbers of one loop: the others' are the same for all threads.
  bool oneLoop = stepLoops.size() == 1 || (innermost.isKnown() && innermost.known % shape.depth == 0);
  auto positionOf = [&](Value step) {
    SmallVector<Value> at(stages.nest.loops.size());
    delinearize(b, loc, step, stages.nest, stepLoops, at);
    return stages.position(steps, at);
  };
  Value common = oneLoop ? positionOf(begin) : Value();
  Value stride = stages.materialize(access.strides[stepLoops.back()]);
  Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(access.element));
  for (const Chunk &mine : chunks) {
    SmallVector<Value> elements;
    Value to = addressAt(b, loc, stage, mine.to);
    for (const Element &element : mine.elements) {
      Value step = index.add(begin, element.step);
      Value position =
          index.add(element.position, oneLoop ? index.add(common, index.mul(element.step, stride)) : positionOf(step));
      Value inside = both(b, loc, element.inside, end ? index.less(step, end) : Value());
      if (isWide) {
        copyWide(position, inside, to);
        continue;
      }
      if (!inside) {
        elements.push_back(b.create<memref::LoadOp>(loc, access.base, position));
        continue;
      }
      auto guarded = b.create<scf::IfOp>(loc, TypeRange(access.element), inside, /*withElse=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(guarded.thenBlock());
      Value loaded = b.create<memref::LoadOp>(loc, access.base, position);
      b.create<scf::YieldOp>(loc, loaded);
      b.setInsertionPointToStart(guarded.elseBlock());
      b.create<scf::YieldOp>(loc, zero);
      elements.push_back(guarded.getResult(0));
    }
    if (isWide)
      continue;
    Value whole = elements[0];
    if (elements.size() > 1) {
      Integers i32{b, loc, b.getI32Type()};
      whole = b.create<LLVM::UndefOp>(loc, VectorType::get(elements.size(), access.element));
      for (auto [i, element] : llvm::enumerate(elements))
        whole = b.create<LLVM::InsertElementOp>(loc, whole, element, i32.number(i));
    }
    b.create<LLVM::StoreOp>(loc, whole, to, elements.size() * bytesOfElement);
  }
}
