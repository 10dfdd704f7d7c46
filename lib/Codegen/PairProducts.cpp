//===- PairProducts.cpp - products of 16-bit integers, added in pairs -----===//
//
// x86 has an instruction for the products and the sum of each pair, and another one
// adds it to the sums. LLVM would turn the sums of several steps around, add their
// products first, and keep these in memory; it does not look into assembly.
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
