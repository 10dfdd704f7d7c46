//===- ThreadNest.h - a loop nest spread over threads ---------------------===//
#ifndef STRATA_CODEGEN_GPU_THREADNEST_H
#define STRATA_CODEGEN_GPU_THREADNEST_H

#include "../LoopNest.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace strata {

/// Threads of a block: `points` of the parallel loops, and for each of them
/// `slices` that share its reduction. Both are powers of two.
struct ThreadMapping {
  int64_t points = 256, slices = 1;
  /// Neighbouring threads are slices of one point (which then read neighbouring
  /// elements), not points.
  bool slicesAreNeighbours = false;
  /// Consecutive points of one thread, whose elements it loads and stores at once.
  int64_t together = 1;

  int64_t threads() const { return points * slices / together; }
};

/// The nest of `ops` as buildLoopNest makes it, or, where accesses are not
/// strided, one that reads and writes through the operations' indexing maps.
LoopNest buildDeviceNest(mlir::OpBuilder &b, llvm::ArrayRef<mlir::linalg::GenericOp> ops);

/// The mapping that suits the nest.
ThreadMapping chooseMapping(const LoopNest &nest);

/// Emits what one thread does. Blocks are numbered by block_id x, each has
/// `mapping.points` points of the parallel loops.
void emitThreads(mlir::OpBuilder &b, mlir::gpu::GPUFuncOp function, LoopNest &nest, const ThreadMapping &mapping);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_THREADNEST_H
