//===- AttentionParts.h - keys of one query among several blocks *- C++ -*-===//
//
// Where rows are few, there are fewer blocks than a GPU has multiprocessors. Then
// several blocks have the same rows and a part of the keys each, and a second
// kernel joins what they have: of each row and part, the sums of V, and the marks,
// which are the largest score and the sum of the exponentials.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_GPU_ATTENTIONPARTS_H
#define STRATA_CODEGEN_GPU_ATTENTIONPARTS_H

#include "Attention.h"

namespace strata {

/// The attribute of a function: which of the two kernels it is, "parts" or "join". Its last two arguments are the
/// buffers between them.
inline constexpr llvm::StringLiteral kAttentionParts = "strata.attention_parts";

/// How many parts of the keys there are at most; 1 where dividing them does not pay.
int64_t chooseKeyParts(const Attention &attention, const AttentionTile &tile);

/// So many parts of so many keys (index), the last of which may be shorter.
struct KeyParts {
  mlir::Value count, length;
};
/// How the run's keys are divided where there would be `blocks` blocks; the same on the host and in both kernels.
KeyParts divideKeys(mlir::OpBuilder &b, mlir::Location loc, const AttentionTile &tile, mlir::Value blocks,
                    mlir::Value keys);

/// Arguments of both kernels, contiguous, of f32.
struct PartBuffers {
  mlir::Value sums;  ///< [batch * rows, parts, width]
  mlir::Value marks; ///< [batch * rows, parts, 2]

  void storeSums(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> at,
                 llvm::ArrayRef<mlir::Value> values) const;
  void storeMarks(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> at, mlir::Value maximum,
                  mlir::Value total) const;
};

/// A block of the second kernel has a row.
inline constexpr int64_t kJoinThreads = 128;
void emitAttentionJoin(mlir::OpBuilder &b, mlir::gpu::GPUFuncOp function, Attention &attention,
                       const AttentionTile &tile, const PartBuffers &buffers);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_ATTENTIONPARTS_H
