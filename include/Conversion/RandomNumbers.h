//===- RandomNumbers.h - random numbers as arithmetic -----------*- C++ -*-===//
//
// Philox4x32-10 written in arith operations: a number depends on its element's
// index and on the key of its node, on nothing else, so that every order of
// evaluation, on any device, gives the same bits. docs/random-numbers.md defines
// every step.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_CONVERSION_RANDOMNUMBERS_H
#define STRATA_CONVERSION_RANDOMNUMBERS_H

#include "Conversion/LinalgBuilder.h"
#include <array>
#include <optional>

namespace strata::draw {

/// The four 32-bit words of an element's block.
using Words = std::array<mlir::Value, 4>;

/// The 64-bit key of a node: its seed (which a session may let advance), or one made of the session's seed, the run and
/// the node's number. Evaluated once per evaluation of the node.
mlir::Value makeKey(LinalgBuilder &b, int64_t node, std::optional<uint64_t> seed);

/// Philox4x32-10 of the counter (`index`, 0) under `key`.
Words makeBlock(mlir::ImplicitLocOpBuilder &b, mlir::Value index, mlir::Value key);

/// An f64 in [0, 1) of 53 bits, from the words `first` and `first + 1`. Exact.
mlir::Value makeUniform(mlir::ImplicitLocOpBuilder &b, const Words &words, unsigned first = 0);

/// An f64 of the standard normal distribution, by Box and Muller from all four words. Only +, -, *, / and square roots
/// of IEEE 754 are used.
mlir::Value makeNormal(mlir::ImplicitLocOpBuilder &b, const Words &words);

/// Elementwise over `operands`, tensors of the sizes `sizes`: `body` gets the block of the element and its operands and
/// returns one scalar per result type.
llvm::SmallVector<mlir::Value>
makeElements(LinalgBuilder &b, llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Value key, mlir::ValueRange operands,
             llvm::ArrayRef<mlir::Type> elements,
             llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ImplicitLocOpBuilder &b, const Words &words,
                                                               mlir::ValueRange scalars)>
                 body);

} // namespace strata::draw

#endif // STRATA_CONVERSION_RANDOMNUMBERS_H
