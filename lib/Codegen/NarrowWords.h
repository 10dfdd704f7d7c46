//===- NarrowWords.h - weights of few bits in words of 32 -------*- C++ -*-===//
#ifndef STRATA_CODEGEN_NARROWWORDS_H
#define STRATA_CODEGEN_NARROWWORDS_H

#include "ComputedWeights.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace strata {

/// A product's weights that are constant bytes, less perhaps other bytes, as floats.
struct NarrowCodes {
  ComputedWeights weights;
  mlir::Value real;
  mlir::BlockArgument bytes, zero; ///< of the body; null: one number
  int64_t zeroPoint;               ///< that number
  bool isUnsigned;
  unsigned terms; ///< the loop of the reduction along the data's last dimension
  unsigned bits;  ///< 4 where all bytes and zero points are numbers of four bits, else 8

  /// What makes all bytes numbers from 0 on.
  int64_t offset() const { return isUnsigned ? 0 : 1 << (bits - 1); }
  /// How many of them a word has.
  int64_t perWord() const { return 32 / bits; }
  /// An input that `real` is multiplied with; null: it is not, or with another thing.
  mlir::BlockArgument scale() const;
};

/// Of a product of tensors whose terms are whole words.
std::optional<NarrowCodes> matchNarrowCodes(mlir::linalg::GenericOp op);

/// The words of `codes` as a tensor in the place of the bytes; term `t` of a word begins at bit `placeOf`(t).
mlir::Value makeWords(mlir::OpBuilder &b, mlir::Location loc, mlir::Value bytes, unsigned dim, const NarrowCodes &codes,
                      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Value)> placeOf);

/// Number `term` of a word, of which it has `bits` from bit `place` on.
mlir::Value readWord(mlir::OpBuilder &b, mlir::Location loc, mlir::Value word, mlir::Value place, unsigned bits);

} // namespace strata

#endif // STRATA_CODEGEN_NARROWWORDS_H
