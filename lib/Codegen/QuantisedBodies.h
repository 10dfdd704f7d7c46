//===- QuantisedBodies.h - what quantised values need not be computed -*- C++ -*-===//
#ifndef STRATA_CODEGEN_QUANTISEDBODIES_H
#define STRATA_CODEGEN_QUANTISEDBODIES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace strata {

/// What is quantised behind a pool of maxima, or where elements are moved or repeated, is quantised before: these work on
/// integers then. Tells whether anything has changed.
bool keepQuantised(mlir::Operation *root);

/// Bodies that quantise and dequantise in turn stay in f32 where the value is an integer anyway.
void simplifyQuantisedBodies(mlir::Operation *root);

/// For vectors of x86 and their like: exact quotients and roundings of quantised numbers in few instructions.
/// `packs`: integers are narrowed by saturation.
void quantiseFast(mlir::Operation *root, bool fma, bool packs);

/// Whether `producer` makes narrow integers, or bf16, of the sums of a product, and is best computed with these.
bool finishesSums(mlir::linalg::GenericOp producer, mlir::linalg::GenericOp consumer);

} // namespace strata

#endif // STRATA_CODEGEN_QUANTISEDBODIES_H
