//===- TiledContraction.h - matrix products and convolutions --------------===//
#ifndef STRATA_CODEGEN_GPU_TILEDCONTRACTION_H
#define STRATA_CODEGEN_GPU_TILEDCONTRACTION_H

#include "../LoopNest.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace strata {

/// A block of threads computes `rows` x `columns` results, each thread
/// `threadRows` x `threadColumns` of them, `depth` steps of the reduction at a
/// time from shared memory.
struct ContractionTile {
  int64_t rows = 64, columns = 64, depth = 16, threadRows = 4, threadColumns = 4;

  int64_t threads() const { return (rows / threadRows) * (columns / threadColumns); }
};

/// The loops by what they walk: only the first input (rows), only the second
/// (columns), both or none (batch), and the reduction.
struct ContractionLoops {
  llvm::SmallVector<int> rows, columns, batch, depth;
};

/// How to compute the nest in tiles; nothing where that does not pay or the nest
/// is no sum of a function of two inputs.
std::optional<ContractionTile> chooseTile(LoopNest &nest);

/// Blocks are numbered by block_id x: columns fastest, then rows, then batch.
void emitContraction(mlir::OpBuilder &b, mlir::gpu::GPUFuncOp function, LoopNest &nest, const ContractionTile &tile);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_TILEDCONTRACTION_H
