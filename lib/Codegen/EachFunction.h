//===- EachFunction.h - patterns, on all functions at once ------*- C++ -*-===//
#ifndef STRATA_CODEGEN_EACHFUNCTION_H
#define STRATA_CODEGEN_EACHFUNCTION_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Threading.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace strata {

/// Applies patterns that change nothing outside of the function, on all cores. Equal blocks stay apart: MLIR 19 mixes
/// up the arguments of those that it merges.
inline llvm::LogicalResult applyToEachFunction(mlir::ModuleOp module, const mlir::FrozenRewritePatternSet &patterns) {
  llvm::SmallVector<mlir::Operation *> functions;
  for (mlir::Operation &op : *module.getBody())
    if (op.getNumRegions())
      functions.push_back(&op);
  mlir::GreedyRewriteConfig config;
  config.enableRegionSimplification = mlir::GreedySimplifyRegionLevel::Normal;
  return mlir::failableParallelForEach(module.getContext(), functions, [&](mlir::Operation *function) {
    return mlir::applyPatternsAndFoldGreedily(function, patterns, config);
  });
}

} // namespace strata

#endif // STRATA_CODEGEN_EACHFUNCTION_H
