//===- Attention.h - products around a softmax as one kernel --------------===//
//
// softmax(Q * K^T) * V is a chain of operations whose shape says all: two
// products, and between them a maximum, exponentials, their sum and weights along
// the same rows. Names of operators play no part.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_GPU_ATTENTION_H
#define STRATA_CODEGEN_GPU_ATTENTION_H

#include "TensorCores.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace strata {

/// The attribute of an operation of an attention: what it does in it.
inline constexpr llvm::StringLiteral kAttention = "strata.attention";

/// The operations, on tensors or on buffers.
struct Attention {
  mlir::linalg::GenericOp scores;      ///< Q * K^T
  mlir::linalg::GenericOp score;       ///< of each score: its scale, bias, mask; may be null
  mlir::linalg::GenericOp maximum;     ///< of each row
  mlir::linalg::GenericOp exponential; ///< of what a score has less than the maximum
  mlir::linalg::GenericOp sum;
  mlir::linalg::GenericOp inverse; ///< of the sum; may be null
  mlir::linalg::GenericOp weight;  ///< the exponential times the inverse, or by the sum
  mlir::linalg::GenericOp values;  ///< weights * V
  mlir::linalg::GenericOp finish;  ///< of each result; may be null

  // By loops of `scores`.
  llvm::SmallVector<int> batch, rows;
  int key = -1, depth = -1;
  // Of other operations' loops, which one of `scores` they are; what `values` has beside them comes behind.
  llvm::SmallVector<int> scoreLoops, valueLoops, finishLoops;
  unsigned query = 0, probability = 0; ///< which inputs of the products are Q and the weights

  /// Those that there are, in order, with their names.
  llvm::SmallVector<std::pair<llvm::StringRef, mlir::linalg::GenericOp>> ops() const;
  mlir::linalg::GenericOp last() const { return finish ? finish : values; }

  mlir::OpOperand &queries() const { return *mlir::linalg::GenericOp(scores).getDpsInputOperand(query); }
  mlir::OpOperand &keys() const { return *mlir::linalg::GenericOp(scores).getDpsInputOperand(1 - query); }
  mlir::OpOperand &valuesOperand() const {
    return *mlir::linalg::GenericOp(values).getDpsInputOperand(1 - probability);
  }
};

/// A score is -inf for keys from `number` + `offset` on, or (`isLower`) for those below. `number` is of the body of
/// `score`: a sum of the loop of the first rows and of what is the same for all scores.
struct KeyBound {
  mlir::Value number;
  int64_t offset;
  bool isLower;
};
llvm::SmallVector<KeyBound> findKeyBounds(const Attention &attention);

/// The attention that ends in a product of weights and V, on tensors.
std::optional<Attention> findAttention(mlir::linalg::GenericOp values);

/// Whether it may be computed elsewhere as a whole: all in one block, with results that nobody else reads, and sums
/// that start with nothing.
bool canMove(const Attention &attention);

/// Whether there are other keys than those of the queries' own tokens, however many there are of either.
bool isCache(mlir::Value keys, int64_t count);

/// What takes the place of a result of an attention's operations, in other sizes along one dimension.
struct Remade {
  mlir::Value tensor;
  unsigned dim;
};
using RemadeValues = llvm::DenseMap<mlir::Value, Remade>;

/// The loop of an operation behind the scores that walks that dimension of what was remade before.
unsigned remadeLoop(mlir::linalg::GenericOp op, const RemadeValues &before);

/// A destination like `init`, filled as it is, in other sizes.
mlir::Value placeLike(mlir::OpBuilder &b, mlir::Location loc, mlir::Value init,
                      llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// The operation once more, with `size` iterations of a loop: it reads what was remade before, and of an operand from
/// elsewhere, which the loop walks along dimension `dim`, what `resized` makes of it.
mlir::linalg::GenericOp remake(mlir::OpBuilder &b, mlir::linalg::GenericOp op, unsigned loop, mlir::OpFoldResult size,
                               const RemadeValues &before,
                               llvm::function_ref<mlir::Value(mlir::Value given, unsigned dim)> resized);

/// Where K and V are repeated, for the heads of Q that share them, the operations read what is not. Gives the product
/// with V, now of other operations; null if nothing is repeated.
mlir::linalg::GenericOp shareRepeatedHeads(const Attention &attention);

/// An operand of a structured operation is read where it lies, in whatever order.
void readThroughTransposes(mlir::OpOperand &operand);

/// The number that a tensor is filled with; null if it is no fill.
mlir::Value filledWith(mlir::Value tensor);

/// The tensor without numbers that is filled, or a destination by itself.
mlir::tensor::EmptyOp destinationBehind(mlir::Value init);

/// The attention that a loop of one iteration holds, on buffers.
std::optional<Attention> matchAttention(mlir::scf::ForallOp loop);
std::optional<Attention> matchAttention(mlir::Block &body);

/// What a body gives, and what a value of one is before it is widened or rounded.
mlir::Value yielded(mlir::linalg::GenericOp op);
mlir::Value withoutConversions(mlir::Value value);

/// The input of `op` that is the result of `producer`; null if none or several are.
mlir::OpOperand *inputFrom(mlir::linalg::GenericOp op, mlir::linalg::GenericOp producer);

/// A block of threads has `rows` queries, and `keys` keys at a time.
struct AttentionTile {
  int64_t rows, keys;
  int64_t depth, width; ///< of a head of Q and K, and of V, filled up with zeros
  int64_t partRows;     ///< of a thread, or of a warp where there is an instruction for it
  std::optional<MatrixInstruction> matrix;
  bool async;         ///< copies to shared memory run by themselves
  bool ahead = false; ///< a tile of V starts with the one of K, as no other warp computes in the meantime
  int64_t parts = 1;  ///< of the keys, at most, each with blocks of its own

  mlir::Type weightType; ///< in shared memory; those of tensor cores stay in the registers that they are computed in

  static constexpr int64_t threadsOfRow = 8; ///< without tensor cores
  int64_t threads() const { return rows / partRows * (matrix ? 32 : threadsOfRow); }
  int64_t queryBytes, keyBytes, valueBytes, weightBytes; ///< in shared memory
  int64_t bytes() const { return queryBytes + keyBytes + valueBytes + weightBytes; }
};

/// How to compute it as one kernel on the module's GPU; nothing where that is not possible or does not pay.
std::optional<AttentionTile> chooseAttentionTile(const Attention &attention);

struct PartBuffers;

/// Emits what a thread does. Blocks are numbered by block_id x: rows fastest, then parts of the keys, then batch. With
/// buffers, a block leaves there what its part of the keys gives.
void emitAttention(mlir::OpBuilder &b, mlir::gpu::GPUFuncOp function, Attention &attention, const AttentionTile &tile,
                   const PartBuffers *buffers = nullptr);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_ATTENTION_H
