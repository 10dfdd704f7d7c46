//===- BlockDots.h - products of quantised data, block by block -*- C++ -*-===//
//
// Data and weights are integers with scales for each block of the reduction:
//
//   y[m, n] = sum_b f[m, b] s[b, n] sum_j q[m, b, j] (c[b, j, n] - z[b, n])
//
// The inner sum is one of integers, of which vectors add four products of bytes at
// once. Of the zero points, sum_j q z = z[b, n] t[m, b], where t are sums of the data.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_BLOCKDOTS_H
#define STRATA_CODEGEN_BLOCKDOTS_H

#include "NarrowWords.h"

namespace strata {

/// Where a term of a word begins: of bytes one after the other; of four bits, those of a word's bytes' lower halves,
/// then those of their upper ones.
mlir::Value placeInBytes(mlir::OpBuilder &b, mlir::Location loc, mlir::Value term, unsigned bits);

/// Terms that share a factor f: a block of the weights' scale or part of it; 0: the product is none that data is
/// quantised for.
int64_t termsOfFactor(mlir::linalg::GenericOp op, const NarrowCodes &codes);

/// Inputs of such an operation; -1: there is none.
struct BlockDots {
  unsigned data, words, factor;         ///< q, c in words of 32 bits, f
  int scale = -1, sums = -1, zero = -1; ///< s, t, z
  int64_t zeroPoint = 0;                ///< if all are equal
  unsigned bits = 8;                    ///< of c
};

/// The codes of vectors of words, of `bits` each, as bytes: those that come first in each word, then the others.
llvm::SmallVector<mlir::Value> bytesOfWords(mlir::OpBuilder &b, mlir::Location loc, mlir::Value words, unsigned bits);

/// Whether a matrix unit may read the codes with the zero point taken off, as signed bytes.
bool foldsZeroPoint(const BlockDots &dots);

std::optional<BlockDots> matchBlockDots(mlir::linalg::GenericOp op);

/// The operation's body, whose last two loops of the reduction are words of a block and terms of a word.
void buildBlockDots(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange args, const BlockDots &dots,
                    unsigned wordLoop, unsigned termLoop);

} // namespace strata

#endif // STRATA_CODEGEN_BLOCKDOTS_H
