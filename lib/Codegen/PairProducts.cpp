//===- PairProducts.cpp - products of 16-bit integers, added in pairs -----===//
//
// x86 has an instruction for the products and the sum of each pair, and another one
// adds it to the sums. LLVM would turn the sums of several steps around, add their
// products first, and keep these in memory; it does not look into assembly. Of sums
// that are multiplied, it would also mix the instructions of several vectors: where these come in pairs of one kind,
// both halves of the units have the same to do.
//
//===----------------------------------------------------------------------===//
#include "PairProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

static Value everySecond(OpBuilder &b, Location loc, Value x, int64_t first) {
  SmallVector<int64_t> which;
  for (int64_t i = first, e = cast<VectorType>(x.getType()).getNumElements(); i < e; i += 2)
    which.push_back(i);
  return b.create<vector::ShuffleOp>(loc, x, x, which);
}

Value strata::addNeighbours(OpBuilder &b, Location loc, Value x) {
  return b.create<arith::AddIOp>(loc, everySecond(b, loc, x, 0), everySecond(b, loc, x, 1));
}

Value strata::spreadPair(OpBuilder &b, Location loc, Value pair, int64_t pairs) {
  Value word = b.create<vector::BitCastOp>(loc, VectorType::get({1}, b.getI32Type()), pair);
  Value words = b.create<vector::BroadcastOp>(loc, VectorType::get({pairs}, b.getI32Type()),
                                              b.create<vector::ExtractOp>(loc, word, 0));
  return b.create<vector::BitCastOp>(loc, VectorType::get({2 * pairs}, b.getI16Type()), words);
}

Value strata::addPairProducts(OpBuilder &b, Location loc, Value sum, Value x, Value y) {
  int64_t count = cast<VectorType>(x.getType()).getNumElements();
  StringRef name = count == 32   ? "llvm.x86.avx512.pmaddw.d.512"
                   : count == 16 ? "llvm.x86.avx2.pmadd.wd"
                   : count == 8  ? "llvm.x86.sse2.pmadd.wd"
                                 : "";
  if (name.empty()) {
    auto wide = VectorType::get({count}, b.getI32Type());
    Value product =
        b.create<arith::MulIOp>(loc, b.create<arith::ExtSIOp>(loc, wide, x), b.create<arith::ExtSIOp>(loc, wide, y));
    return b.create<arith::AddIOp>(loc, sum, addNeighbours(b, loc, product));
  }
  Value products =
      b.create<LLVM::CallIntrinsicOp>(loc, sum.getType(), b.getStringAttr(name), ValueRange{x, y}).getResult(0);
  // Only the target's vectors of 256 bits have this form of the instruction for sure, and too few registers to spare.
  if (count != 16)
    return b.create<arith::AddIOp>(loc, sum, products);
  auto dialect = LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT);
  return b
      .create<LLVM::InlineAsmOp>(loc, sum.getType(), ValueRange{sum, products}, "vpaddd $2, $1, $0", "=x,x,x",
                                 /*has_side_effects=*/false, /*is_align_stack=*/false, dialect,
                                 /*operand_attrs=*/nullptr)
      .getResult(0);
}

Value strata::addByteProducts(OpBuilder &b, Location loc, Value sum, Value x, Value y) {
  auto type = cast<VectorType>(sum.getType());
  std::string name = ("llvm.x86.avx512.vpdpbusd." + Twine(32 * type.getNumElements())).str();
  return b.create<LLVM::CallIntrinsicOp>(loc, type, b.getStringAttr(name), ValueRange{sum, x, y}).getResult(0);
}

Value strata::multiplyBytePairs(OpBuilder &b, Location loc, Value x, Value y) {
  int64_t lanes = cast<VectorType>(x.getType()).getNumElements();
  bool wide = lanes == 8;
  auto bytes = VectorType::get({4 * lanes}, b.getI8Type()), pairs = VectorType::get({2 * lanes}, b.getI16Type());
  Value operands[] = {b.create<vector::BitCastOp>(loc, bytes, x), b.create<vector::BitCastOp>(loc, bytes, y)};
  StringRef name = wide ? "llvm.x86.avx2.pmadd.ub.sw" : "llvm.x86.ssse3.pmadd.ub.sw.128";
  return b.create<LLVM::CallIntrinsicOp>(loc, pairs, b.getStringAttr(name), operands).getResult(0);
}

Value strata::addPairs(OpBuilder &b, Location loc, Value sum, Value pairs) {
  auto type = cast<VectorType>(pairs.getType());
  Value ones = b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, int16_t(1)));
  return addPairProducts(b, loc, sum, pairs, ones);
}

Value strata::addBytePairs(OpBuilder &b, Location loc, Value sum, Value x, Value y) {
  return addPairs(b, loc, sum, multiplyBytePairs(b, loc, x, y));
}

void strata::addCrossedProducts(OpBuilder &b, Location loc, MutableArrayRef<Value> sums, Value x, Value y, ValueRange v,
                                ValueRange w) {
  size_t vector = 0;
  // The data's registers become the second vector's sums. As it has side effects, LLVM does not load what comes next
  // before it, for which there would be no register.
  static constexpr const char two[] = "vpaddw $10, $4, $2\n"
                                      "vpaddw $12, $5, $3\n"
                                      "vpaddw $11, $4, $4\n"
                                      "vpaddw $13, $5, $5\n"
                                      "vpmaddwd $2, $3, $2\n"
                                      "vpmaddwd $4, $5, $4\n"
                                      "vpaddd $2, $0, $0\n"
                                      "vpaddd $4, $1, $1";
  auto type = cast<VectorType>(x.getType());
  if (type.getNumElements() == 16)
    for (; vector + 2 <= sums.size(); vector += 2) {
      Type sum = sums[vector].getType();
      auto results = LLVM::LLVMStructType::getLiteral(b.getContext(), {sum, sum, type, type, type, type});
      Value operands[] = {sums[vector], sums[vector + 1], x, y, v[vector], v[vector + 1], w[vector], w[vector + 1]};
      auto dialect = LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT);
      Value made = b.create<LLVM::InlineAsmOp>(loc, results, operands, two, "=x,=x,=&x,=&x,=&x,=&x,0,1,4,5,x,x,x,x",
                                               /*has_side_effects=*/true, /*is_align_stack=*/false, dialect,
                                               /*operand_attrs=*/nullptr)
                       .getResult(0);
      for (int64_t i : {0, 1})
        sums[vector + i] = b.create<LLVM::ExtractValueOp>(loc, made, i);
    }
  for (; vector < sums.size(); ++vector)
    sums[vector] = addPairProducts(b, loc, sums[vector], b.create<arith::AddIOp>(loc, x, v[vector]),
                                   b.create<arith::AddIOp>(loc, y, w[vector]));
}
