//===- AttentionNest.h - the loops and stages of an attention ---*- C++ -*-===//
#ifndef STRATA_CODEGEN_GPU_ATTENTIONNEST_H
#define STRATA_CODEGEN_GPU_ATTENTIONNEST_H

#include "Attention.h"
#include "StageEmitter.h"

namespace strata {

/// The nest of all loops, and what the kernel reads and writes.
struct AttentionNest {
  LoopNest nest;
  Stage scores, values;
  std::optional<Stage> score, finish;
  Access weights; ///< where they would be; only in shared memory
  int keyLoop, depthLoop, widthLoop;

  AttentionNest(mlir::OpBuilder &b, Attention &a, const AttentionTile &tile);
  Stage &last() { return finish ? *finish : values; }
  const Access &queriesOf(const Attention &a) const { return scores.inputs[a.query]; }
  const Access &keysOf(const Attention &a) const { return scores.inputs[1 - a.query]; }
  const Access &valuesOf(const Attention &a) const { return values.inputs[1 - a.probability]; }
  /// Whether scores are finished with what is read for each key.
  bool readsForKeys() const;

  /// The number of iterations of all of `loops`.
  mlir::Value product(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<int> loops) const;
};

/// What the sums of a row are multiplied with, whose largest score is `maximum` and whose exponentials, of what the
/// scores have less than that, have the sum `total`.
mlir::Value weightOfRow(mlir::OpBuilder &b, mlir::Location loc, Attention &a, mlir::Value maximum, mlir::Value total);

/// What the scores of a row are lessened by: its maximum; 0 where that is -inf, nothing having been seen.
mlir::Value shiftOfRow(mlir::OpBuilder &b, mlir::Location loc, mlir::Value maximum);

/// The value (f32) of the lane whose number differs by this bit.
mlir::Value exchange(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, int64_t distance);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_ATTENTIONNEST_H
