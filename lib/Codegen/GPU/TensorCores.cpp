//===- TensorCores.cpp - products of small matrices by a warp -------------===//
//
// In bytes the fragments of all element types are the same: lane l holds, of 8
// rows by 16 bytes, bytes l % 4 * 4 to + 3 of row l / 4, which is what ldmatrix
// loads. Of a tile whose lines are steps, ldmatrix transposes elements of 16 bits;
// those of 32 are as many as the lanes' registers, and loaded one by one.
//
//===----------------------------------------------------------------------===//
#include "TensorCores.h"
#include "Integers.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace strata;

static constexpr int64_t stepBytes = 32; // of one instruction

std::optional<MatrixInstruction> strata::matchMatrixInstruction(const ProductSum &product, bool tf32) {
  Type element = product.elements[0], sum = product.sum;
  if (element != product.elements[1])
    return std::nullopt;
  auto named = [&](const char *shape, StringRef types) {
    return MatrixInstruction{("llvm.nvvm.mma." + Twine(shape) + ".row.col." + types).str(), element, sum};
  };
  if (element.isF16() && sum.isF32())
    return named("m16n8k16", "f32.f32");
  if (element.isBF16() && sum.isF32())
    return named("m16n8k16", "bf16");
  if (element.isF32() && sum.isF32() && tf32)
    return named("m16n8k8", "tf32");
  if (element.isInteger(8) && sum.isInteger(32)) {
    StringRef left = product.isUnsigned[0] ? "u8" : "s8", right = product.isUnsigned[1] ? "u8" : "s8";
    return named("m16n8k32", left == right ? left.str() : (left + "." + right).str());
  }
  return std::nullopt;
}

WarpProduct::WarpProduct(OpBuilder &b, Location loc, const MatrixInstruction &instruction, SharedTile *left,
                         SharedTile &right, int64_t rows, int64_t columns)
    : b(b), loc(loc), instruction(instruction), rows(rows), columns(columns), left{left, rows / 16, {}},
      right{&right, columns / 16, {}} {}

int64_t WarpProduct::stepsOf(Type element) { return stepBytes * 8 / element.getIntOrFloatBitWidth(); }

std::pair<int64_t, int64_t> WarpProduct::placeOf(int64_t sum) const {
  int64_t tile = sum / 4, across = columns / 8;
  return {tile / across * 16 + sum % 4 / 2 * 8, tile % across * 8 + sum % 2};
}
Value WarpProduct::rowOf(OpBuilder &b, Location loc, Value lane) {
  return Integers{b, loc, b.getI32Type()}.div(lane, 4);
}
Value WarpProduct::columnOf(OpBuilder &b, Location loc, Value lane) {
  Integers i32{b, loc, b.getI32Type()};
  return i32.mul(i32.rem(lane, 4), 2);
}

/// Of the four matrices of 8 lines by 16 bytes that the lanes point to, eight each, the second has either the next
/// lines (`linesFirst`) or the next bytes, the third the other.
void WarpProduct::prepare(Fragments &fragments, Value lane, Value first, bool linesFirst) {
  Integers i32{b, loc, b.getI32Type()};
  SharedTile &tile = *fragments.tile;
  if (tile.isLoadedSingly()) {
    // Eight numbers of the lanes, by half groups; in chunks of four.
    Value number = i32.add(first, i32.div(lane, 4));
    Value line = i32.mul(i32.rem(lane, 4), tile.isReadInPairs() ? 2 : 1);
    for (int64_t half = 0; half < 2 * fragments.groups; ++half)
      fragments.places.push_back(i32.add(tile.offset(line, i32.add(i32.div(number, 4), half * 2)),
                                         i32.mul(i32.rem(number, 4), tile.elementBytes())));
    return;
  }
  Value second = i32.rem(i32.div(lane, 8), 2), third = i32.div(lane, 16);
  Value line = i32.add(i32.rem(lane, 8), i32.mul(linesFirst ? second : third, 8)), chunk = linesFirst ? third : second;
  if (tile.alongDepth()) {
    for (int64_t step = 0; step < tile.pitch() / stepBytes; ++step)
      fragments.places.push_back(tile.offset(i32.add(first, line), i32.add(chunk, step * 2)));
    return;
  }
  for (int64_t group = 0; group < fragments.groups; ++group)
    fragments.places.push_back(tile.offset(line, i32.add(i32.add(i32.div(first, 8), chunk), group * 2)));
}

void WarpProduct::prepare(Value lane, Value row, Value column) {
  // Registers go by rows, then by steps on the left, by steps, then by columns on the right.
  if (left.tile)
    prepare(left, lane, row, left.tile->alongDepth());
  prepare(right, lane, column, !right.tile->alongDepth());
}

/// To 11 significant bits, halves away from zero.
Value WarpProduct::rounded(Value number) {
  return b.create<LLVM::CallIntrinsicOp>(loc, b.getI32Type(), StringRef("llvm.nvvm.f2tf32.rna"), number).getResult(0);
}

WarpProduct::Registers WarpProduct::load(const Fragments &fragments, Value stage, int64_t group, int64_t step) {
  SharedTile &tile = *fragments.tile;
  bool along = tile.alongDepth();
  if (tile.isLoadedSingly()) {
    SmallVector<Value> registers;
    for (int64_t i = 0; i < 4; ++i) {
      // The left side's second register has the next rows, the right side's the next steps.
      int64_t half = &fragments == &left ? i % 2 : i / 2, later = &fragments == &left ? i / 2 : i % 2;
      Value place = addressAt(b, loc, stage, fragments.places[group * 2 + half]);
      place = addressAt(b, loc, place, (step * 8 + later * (tile.isReadInPairs() ? 1 : 4)) * tile.pitch());
      registers.push_back(rounded(b.create<LLVM::LoadOp>(loc, b.getF32Type(), place)));
    }
    return registers;
  }
  Value place = addressAt(b, loc, stage, fragments.places[along ? step : group]);
  place = addressAt(b, loc, place, (along ? group : step) * 16 * tile.pitch());
  SmallVector<Type> words(4, b.getI32Type());
  Value loaded = b.create<NVVM::LdMatrixOp>(loc, LLVM::LLVMStructType::getLiteral(b.getContext(), words), place, 4,
                                            along ? NVVM::MMALayout::row : NVVM::MMALayout::col);
  SmallVector<Value> registers;
  for (int64_t i = 0; i < 4; ++i) {
    Value word = b.create<LLVM::ExtractValueOp>(loc, loaded, i);
    if (instruction.element.isF16())
      word = b.create<LLVM::BitcastOp>(loc, VectorType::get(2, b.getF16Type()), word);
    if (instruction.element.isF32())
      word = rounded(b.create<LLVM::BitcastOp>(loc, b.getF32Type(), word));
    registers.push_back(word);
  }
  return registers;
}

/// A lane's four sums of 8 columns are of rows 0 and 8, and of two columns that are next to each other: of 16 bits, as
/// many steps as a register holds.
WarpProduct::Registers WarpProduct::pairsAsLeft(OpBuilder &b, Location loc, Type element, ArrayRef<Value> sums,
                                                int64_t step) {
  StringRef rounding = element.isF16() ? "llvm.nvvm.ff2f16x2.rn" : "llvm.nvvm.ff2bf16x2.rn";
  Registers registers;
  for (int64_t i = 0; i < 4; ++i) {
    const Value *pair = &sums[step * 8 + i * 2];
    registers.push_back(
        b.create<LLVM::CallIntrinsicOp>(loc, VectorType::get(2, element), rounding, ValueRange{pair[1], pair[0]})
            .getResult(0));
  }
  return registers;
}

WarpProduct::Registers WarpProduct::asLeft(ArrayRef<Value> sums, int64_t step) {
  Type element = instruction.element;
  if (element.isF32())
    return {rounded(sums[step * 4]), rounded(sums[step * 4 + 2]), rounded(sums[step * 4 + 1]),
            rounded(sums[step * 4 + 3])};
  Registers registers = pairsAsLeft(b, loc, element, sums, step);
  if (element.isBF16())
    for (Value &pair : registers)
      pair = b.create<LLVM::BitcastOp>(loc, b.getI32Type(), pair);
  return registers;
}

void WarpProduct::accumulate(Value leftStage, Value rightStage, MutableArrayRef<Value> sums) {
  const SharedTile &tile = *left.tile;
  int64_t depth = tile.alongDepth() ? tile.pitch() : tile.bytes() / tile.pitch() * tile.elementBytes();
  for (int64_t step = 0; step < depth / stepBytes; ++step)
    accumulate(loadLeft(leftStage, step), rightStage, step, sums);
}

SmallVector<WarpProduct::Registers> WarpProduct::loadLeft(Value stage, int64_t step) {
  SmallVector<Registers> loaded;
  for (int64_t group = 0; group < left.groups; ++group)
    loaded.push_back(load(left, stage, group, step));
  return loaded;
}

void WarpProduct::accumulate(ArrayRef<Registers> x, Value rightStage, int64_t step, MutableArrayRef<Value> sums) {
  SmallVector<Type> types(4, instruction.sum);
  Type four = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  SmallVector<Registers> y;
  for (int64_t group = 0; group < right.groups; ++group)
    y.push_back(load(right, rightStage, group, step));
  for (int64_t j = 0; j < columns / 8; ++j)
    for (int64_t i = 0; i < left.groups; ++i) {
      Value *sum = &sums[(i * (columns / 8) + j) * 4];
      SmallVector<Value> operands(x[i]);
      llvm::append_range(operands, ArrayRef(y[j / 2]).slice(j % 2 * 2, 2));
      operands.append(sum, sum + 4);
      Value result = b.create<LLVM::CallIntrinsicOp>(loc, four, StringRef(instruction.name), operands).getResult(0);
      for (int64_t k = 0; k < 4; ++k)
        sum[k] = b.create<LLVM::ExtractValueOp>(loc, result, k);
    }
}
