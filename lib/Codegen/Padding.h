//===- Padding.h - taps of a window that lie in the padding -----*- C++ -*-===//
#ifndef STRATA_CODEGEN_PADDING_H
#define STRATA_CODEGEN_PADDING_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace strata {

/// Along one dimension, a window's tap `tap` at `position` reads element position * stride + tap * dilation, which lies
/// in the data, and not in zeros around it, if it is `low` or one of the `size` behind that.
struct PaddedLoop {
  int position, tap; ///< loops; position may be -1 for one that is always 0
  int64_t stride, dilation, low, size;

  bool isInside(int64_t at, int64_t tapNumber) const {
    int64_t element = at * stride + tapNumber * dilation - low;
    return element >= 0 && element < size;
  }
  /// Of so many positions and taps, the share whose elements lie in the data.
  double share(int64_t positions, int64_t taps) const;
};

/// position * stride + tap * dilation, of a parallel loop and a reduction; nothing is known of padding.
std::optional<PaddedLoop> matchWindow(mlir::AffineExpr expr, llvm::ArrayRef<mlir::utils::IteratorType> kinds);

/// Notes in an attribute of `op`, a convolution of an image padded with zeros, with finite weights, which taps need not
/// be computed; not where it would be few.
void markPadding(mlir::linalg::GenericOp op);

/// What is noted, by the dimensions of `op`.
llvm::SmallVector<PaddedLoop> getPaddedLoops(mlir::Operation *op);

void setPaddedLoops(mlir::Operation *op, llvm::ArrayRef<PaddedLoop> loops);

} // namespace strata

#endif // STRATA_CODEGEN_PADDING_H
