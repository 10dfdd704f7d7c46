//===- TiledContraction.h - matrix products and convolutions --------------===//
#ifndef STRATA_CODEGEN_GPU_TILEDCONTRACTION_H
#define STRATA_CODEGEN_GPU_TILEDCONTRACTION_H

#include "Codegen/TileChoice.h"
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
  int64_t stageBytes;

  int64_t threads() const { return (rows / partRows) * (columns / partColumns) * (matrix ? 32 : 1); }
  int64_t sharedBytes() const { return stages * stageBytes; }
  /// Beyond what a kernel may use of shared memory without asking, the launch asks for all of it.
  int64_t dynamicBytes() const { return sharedBytes() > kStaticSharedBytes ? sharedBytes() : 0; }
  TileChoice choice() const {
    return {matrix ? TileChoice::Warps : TileChoice::Threads, rows, columns, partRows, partColumns, depth, stages};
  }
  /// Of a side with so many rows or columns.
  TileShape shapeOf(int64_t numbers) const { return {numbers, depth, threads(), matrix.has_value(), async}; }
};

/// The loops by what they walk: only the first input (rows), only the second
/// (columns), both or none (batch), and the reduction.
struct ContractionLoops {
  llvm::SmallVector<int> rows, columns, batch, depth;
};

ContractionLoops contractionLoops(LoopNest &nest);
/// The product of these loops' sizes, where each that only the run tells counts as `ifUnknown`.
int64_t sizeOfLoops(const LoopNest &nest, llvm::ArrayRef<int> loops, int64_t ifUnknown);

/// How to compute the nest in tiles; nothing where that does not pay or the nest
/// is no sum of a function of two inputs. Tensor cores and asynchronous copies are NVIDIA's (`nvidia`); `tf32`: f32 may
/// go to tensor cores.
std::optional<ContractionTile> chooseTile(LoopNest &nest, bool nvidia, bool tf32);

/// The same with a tile that somebody else has chosen, of a GPU whose blocks may have `sharedBytes` of shared memory;
/// nothing where that is not possible.
std::optional<ContractionTile> takeTile(LoopNest &nest, bool nvidia, bool tf32, int64_t sharedBytes,
                                        const TileChoice &choice);

/// Blocks are numbered by block_id x: columns fastest, then rows, then batch.
void emitContraction(mlir::OpBuilder &b, mlir::gpu::GPUFuncOp function, LoopNest &nest, const ContractionTile &tile);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_TILEDCONTRACTION_H
