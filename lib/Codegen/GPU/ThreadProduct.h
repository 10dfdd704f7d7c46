//===- ThreadProduct.h - a thread's part of a product of two tiles --------===//
#ifndef STRATA_CODEGEN_GPU_THREADPRODUCT_H
#define STRATA_CODEGEN_GPU_THREADPRODUCT_H

#include "SharedTile.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace strata {

/// What the body of a sum of products gives for these elements of its inputs, in their order, and the sum so far.
mlir::Value addProduct(mlir::OpBuilder &b, mlir::linalg::GenericOp sums, mlir::Value left, mlir::Value right,
                       mlir::Value sum);

/// A thread's sums of a tile of results, which it computes without tensor cores.
class ThreadProduct {
public:
  struct Side {
    SharedTile &tile;
    mlir::Type element;
    int64_t count, threads; ///< rows (or columns) of a thread; threads along them
    mlir::Value number{};   ///< of the thread among them (i32)
    int64_t width = 0;      ///< elements of a read

    /// Which row of the tile the thread's row `i` is, beside its first one: next to each other as far as they are read
    /// at once, else far from each other, so that neighbouring threads read neighbours.
    int64_t placeOf(int64_t i) const {
      return tile.alongDepth() ? i * threads : i / width * width * threads + i % width;
    }
    /// So many rows of the thread are next to each other.
    int64_t run() const { return tile.alongDepth() ? 1 : width; }
    mlir::Value first(mlir::OpBuilder &b, mlir::Location loc) const;
  };

  ThreadProduct(mlir::OpBuilder &b, mlir::Location loc, Side left, Side right);

  /// Threads that follow each other (i32) have columns that follow each other.
  void prepare(mlir::Value thread);

  const Side &left() const { return sides[0]; }
  const Side &right() const { return sides[1]; }

  /// The next sum, of the number of a step (index), an element of either side and the sum so far.
  using Accumulate = llvm::function_ref<mlir::Value(mlir::Value, mlir::Value, mlir::Value, mlir::Value)>;
  /// Adds `depth` steps of the tiles in a stage (!llvm.ptr<3>, where each begins); a row's sums follow each other.
  void accumulate(mlir::Value left, mlir::Value right, int64_t depth, llvm::MutableArrayRef<mlir::Value> sums,
                  Accumulate accumulate);

private:
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> read(const Side &side, mlir::Value stage, mlir::Value step);

  mlir::OpBuilder &b;
  mlir::Location loc;
  Side sides[2];
  int64_t together = 1; ///< steps
};

} // namespace strata

#endif // STRATA_CODEGEN_GPU_THREADPRODUCT_H
