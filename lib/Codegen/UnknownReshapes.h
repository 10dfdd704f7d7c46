//===- UnknownReshapes.h - reshapes between unknown sizes -------*- C++ -*-===//
//
// A dimension that is split into several whose sizes only the run tells, or joined of such, keeps apart what could be
// computed together; upstream's patterns take one unknown size for each dimension. Here the loops of one side become
// those of the other.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_UNKNOWNRESHAPES_H
#define STRATA_CODEGEN_UNKNOWNRESHAPES_H

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/PatternMatch.h"

namespace strata {

/// What each dimension becomes where one of them becomes several, or none, and all others stay.
std::optional<llvm::SmallVector<mlir::ReassociationIndices>> splitOne(llvm::ArrayRef<int64_t> from,
                                                                      llvm::ArrayRef<int64_t> to);

void populateUnknownReshapePatterns(mlir::RewritePatternSet &patterns);

} // namespace strata

#endif // STRATA_CODEGEN_UNKNOWNRESHAPES_H
