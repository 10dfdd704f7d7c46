//===- TiledContraction.h - matrix products and convolutions --------------===//
#ifndef STRATA_CODEGEN_GPU_TILEDCONTRACTION_H
#define STRATA_CODEGEN_GPU_TILEDCONTRACTION_H

#include "TensorCores.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace strata {

/// A block of threads computes `rows` x `columns` results, `depth` steps of the reduction at a time from shared memory,
/// which has room for `stages` of them: one is computed while the others arrive.
struct ContractionTile {
  int64_t rows, columns, depth, stages;
  int64_t partRows, partColumns;           ///< of a thread, or of a warp where there is an instruction for it
  std::optional<MatrixInstruction> matrix; ///< tensor cores
  bool async = true;                       ///< copies to shared memory run by themselves

  int64_t threads() const { return (rows / partRows) * (columns / partColumns) * (matrix ? 32 : 1); }
};

/// The loops by what they walk: only the first input (rows), only the second
/// (columns), both or none (batch), and the reduction.
struct ContractionLoops {
  llvm::SmallVector<int> rows, columns, batch, depth;
};

/// How to compute the nest in tiles; nothing where that does not pay or the nest
/// is no sum of a function of two inputs. Tensor cores and asynchronous copies are NVIDIA's (`nvidia`); `tf32`: f32 may
/// go to tensor cores.
std::optional<ContractionTile> chooseTile(LoopNest &nest, bool nvidia, bool tf32);

/// Blocks are numbered by block_id x: columns fastest, then rows, then batch.
void emitContraction(mlir::OpBuilder &b, mlir::gpu::GPUFuncOp function, LoopNest &nest, const ContractionTile &tile);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_TILEDCONTRACTION_H
