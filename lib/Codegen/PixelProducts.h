//===- PixelProducts.h - convolutions of single pixels ----------*- C++ -*-===//
//
// Their windows are one pixel: products of matrices, with the channels of an
// image as rows or as columns.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_CODEGEN_PIXELPRODUCTS_H
#define STRATA_LIB_CODEGEN_PIXELPRODUCTS_H

#include "Codegen/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace strata {

/// A convolution of input `data` with windows of one pixel, of which there are many: a product of matrices in either
/// layout, nearly as fast with vectors of pixels as with vectors of channels.
bool isPixelProduct(mlir::linalg::GenericOp op, unsigned data, const TargetFacts &target);

/// Finds pixel products that follow each other with nothing between them but elementwise operations. Vectors of
/// channels read and write an image in order; what has to be transposed for it are the ends of the chain. Those of the
/// chains whose images in between have as many channels as all ends.
llvm::SmallVector<mlir::linalg::GenericOp> findPixelChains(mlir::func::FuncOp function, const TargetFacts &target);

/// Finds pixel products whose results are padded, element by element, and nothing else: lines of pixels lie apart then,
/// and vectors along them end with each. Those whose lines are no whole vectors, whose filters fill theirs nearly, and
/// whose data has so few channels, which lie an image apart, that a line of each stays in the nearest cache.
llvm::SmallVector<mlir::linalg::GenericOp> findPaddedPixels(mlir::func::FuncOp function, const TargetFacts &target);

} // namespace strata

#endif // STRATA_LIB_CODEGEN_PIXELPRODUCTS_H
