//===- EqualSizes.h - sizes that turn out to be one value -------*- C++ -*-===//
//
// A broadcast between unknown sizes reads its operands at places that the run computes. Where the sizes turn out to be
// those of the loops, it reads them as any other operation does; and what is resized to them stays as it is.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_EQUALSIZES_H
#define STRATA_CODEGEN_EQUALSIZES_H

#include "mlir/IR/PatternMatch.h"

namespace strata {

/// Behind a check that two sizes are equal they are one value: a constant, or the one that was there first.
void useSizeChecks(mlir::Operation *function);

/// Behind `value` and the checks of sizes that follow it: what is made of it here may turn out to have the sizes that
/// were checked, and must not run if they are others.
void setInsertionPointBehindChecks(mlir::OpBuilder &b, mlir::Value value);

/// What a body reads at 0 where a size is one, it reads at the loop's place where that size is the loop's; tensors that
/// are read by the loops' own places alone are operands; tensors that are resampled to their own sizes are the result.
void populateEqualSizePatterns(mlir::RewritePatternSet &patterns);

} // namespace strata

#endif // STRATA_CODEGEN_EQUALSIZES_H
