//===- PairProducts.h - products of 16-bit integers, added in pairs -*- C++ -*-===//
#ifndef STRATA_CODEGEN_PAIRPRODUCTS_H
#define STRATA_CODEGEN_PAIRPRODUCTS_H

#include "mlir/IR/Builders.h"

namespace strata {

/// sum[i] + x[2i] y[2i] + x[2i + 1] y[2i + 1] in i32, of vectors of n i32 and 2n i16. What is added to one sum after
/// another stays in this order.
mlir::Value addPairProducts(mlir::OpBuilder &b, mlir::Location loc, mlir::Value sum, mlir::Value x, mlir::Value y);

/// The same of products (x + v) (y + w), whose sums need no more than 16 bits: `x` and `y` are those of one row, `v`
/// and `w` those of each vector of `sums`.
void addCrossedProducts(mlir::OpBuilder &b, mlir::Location loc, llvm::MutableArrayRef<mlir::Value> sums, mlir::Value x,
                        mlir::Value y, mlir::ValueRange v, mlir::ValueRange w);

/// sum[i] + x[4i] y[4i] + .. + x[4i + 3] y[4i + 3], of vectors of 4, 8 or 16 i32 and of as many words of four bytes,
/// those of `x` unsigned and those of `y` signed, by x86's instruction (VNNI).
mlir::Value addByteProducts(mlir::OpBuilder &b, mlir::Location loc, mlir::Value sum, mlir::Value x, mlir::Value y);

/// x[2i] y[2i] + x[2i + 1] y[2i + 1] of 4 or 8 such words, as twice as many i16, which they fit.
mlir::Value multiplyBytePairs(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y);

/// sum[i] + pairs[2i] + pairs[2i + 1].
mlir::Value addPairs(mlir::OpBuilder &b, mlir::Location loc, mlir::Value sum, mlir::Value pairs);

/// What addByteProducts computes, of such pairs.
mlir::Value addBytePairs(mlir::OpBuilder &b, mlir::Location loc, mlir::Value sum, mlir::Value x, mlir::Value y);

/// x[2i] + x[2i + 1].
mlir::Value addNeighbours(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

/// 32 bits of two i16, as a vector of them, in every pair of a vector of `pairs`.
mlir::Value spreadPair(mlir::OpBuilder &b, mlir::Location loc, mlir::Value pair, int64_t pairs);

} // namespace strata

#endif // STRATA_CODEGEN_PAIRPRODUCTS_H
