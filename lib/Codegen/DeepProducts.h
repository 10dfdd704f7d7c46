//===- DeepProducts.h - products in parts of their depth --------*- C++ -*-===//
#ifndef STRATA_CODEGEN_DEEPPRODUCTS_H
#define STRATA_CODEGEN_DEEPPRODUCTS_H

#include "Codegen/Target.h"
#include "ConstantExpressions.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace strata {

/// A product of many rows with a constant matrix so deep that what one tile reads of it does not stay in the cache
/// becomes a chain of products of parts, each of which adds to what the one before has. Gives the parts, or `op`.
llvm::SmallVector<mlir::linalg::GenericOp> splitDeepProduct(mlir::linalg::GenericOp op, const TargetFacts &target,
                                                            const ConstantExpressions &constants);

} // namespace strata

#endif // STRATA_CODEGEN_DEEPPRODUCTS_H
