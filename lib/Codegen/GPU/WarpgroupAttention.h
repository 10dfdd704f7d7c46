//===- WarpgroupAttention.h - attention by warpgroups -----------*- C++ -*-===//
#ifndef STRATA_CODEGEN_GPU_WARPGROUPATTENTION_H
#define STRATA_CODEGEN_GPU_WARPGROUPATTENTION_H

#include "AttentionNest.h"
#include "WarpgroupPlan.h"

namespace strata {

/// How to compute an attention: blocks of one warpgroup that copies and `consumers` that have 64 rows each.
struct WarpgroupAttention {
  AttentionNest all;
  WarpgroupInstruction instruction;
  BulkOperand queries, keys, values; ///< of the last, rows are what the results' columns are
  llvm::SmallVector<int> batch;
  int64_t consumers = 1, stages = 0;
  int64_t together = 1; ///< blocks that share a multiprocessor

  int64_t rows() const { return consumers * 64; }
  int64_t tileKeys() const { return keys.numbers; }
  int64_t threads() const { return (consumers + 1) * 128; }
  int64_t stageBytes() const { return keys.bytes() + values.bytes(); }
  int64_t sharedBytes() const;
};

/// Nothing where the GPU has no wgmma for it, where an operand is no box that a bulk copy takes, or where most of a
/// tile would be empty. Creates operations that compute sizes.
std::optional<WarpgroupAttention> planWarpgroupAttention(mlir::OpBuilder &b, Attention &a, const AttentionTile &tile);

/// Gives the function three more parameters, the tensor maps of Q, K and V, and emits what a thread does. Blocks are
/// numbered by block_id x: tiles of rows fastest, then batch.
void emitWarpgroupAttention(mlir::OpBuilder &b, mlir::gpu::GPUFuncOp function, Attention &a,
                            const WarpgroupAttention &plan);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_WARPGROUPATTENTION_H
