//===- TensorCores.h - products of small matrices by a warp ---------------===//
#ifndef STRATA_CODEGEN_GPU_TENSORCORES_H
#define STRATA_CODEGEN_GPU_TENSORCORES_H

#include "../ProductSums.h"
#include "SharedTile.h"

#include <string>

namespace strata {

/// An instruction mma.sync: 16 rows, 8 columns, and 32 bytes of steps of each.
struct MatrixInstruction {
  std::string name; ///< LLVM's
  mlir::Type element, sum;
};

/// The instruction that computes the product; nothing if there is none. With `tf32` products of f32 are rounded to 11
/// bits first.
std::optional<MatrixInstruction> matchMatrixInstruction(const ProductSum &product, bool tf32);

/// A warp's share of a block's tile: `rows` x `columns` sums, four in a thread for each 16 x 8.
class WarpProduct {
public:
  /// Without a left tile (null) its registers are given.
  WarpProduct(mlir::OpBuilder &b, mlir::Location loc, const MatrixInstruction &instruction, SharedTile *left,
              SharedTile &right, int64_t rows, int64_t columns);

  /// Where the fragments lie of the warp's rows from `row` on and its columns from `column` on (i32).
  void prepare(mlir::Value lane, mlir::Value row, mlir::Value column);

  int64_t numSums() const { return rows * columns / 32; }
  /// The sum's row and column in the warp's share, but for the lane's part.
  std::pair<int64_t, int64_t> placeOf(int64_t sum) const;
  /// The lane's part (i32).
  static mlir::Value rowOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value lane);
  static mlir::Value columnOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value lane);

  /// Adds the products of the tiles in a stage (!llvm.ptr<3>, where each begins).
  void accumulate(mlir::Value left, mlir::Value right, llvm::MutableArrayRef<mlir::Value> sums);

  /// The four registers of a lane for 16 rows (or two times 8 columns) by the steps of one instruction.
  using Registers = llvm::SmallVector<mlir::Value>;
  /// Of each 16 rows.
  llvm::SmallVector<Registers> loadLeft(mlir::Value left, int64_t step);
  /// Adds the products of the steps of one instruction.
  void accumulate(llvm::ArrayRef<Registers> left, mlir::Value right, int64_t step,
                  llvm::MutableArrayRef<mlir::Value> sums);

  /// Registers of 16 rows from sums of such, of which an instruction takes as many columns as steps. Of 32 bits, the
  /// steps of the other side are read in pairs.
  Registers asLeft(llvm::ArrayRef<mlir::Value> sums, int64_t step);
  /// The same of elements of 16 bits (vector<2 x element>).
  static Registers pairsAsLeft(mlir::OpBuilder &b, mlir::Location loc, mlir::Type element,
                               llvm::ArrayRef<mlir::Value> sums, int64_t step);

  /// The number of steps that an instruction takes.
  static int64_t stepsOf(mlir::Type element);

private:
  struct Fragments {
    SharedTile *tile;
    int64_t groups;                        ///< of 16 rows or columns
    llvm::SmallVector<mlir::Value> places; ///< of each group or half of one, or of each 32 bytes of steps
  };
  void prepare(Fragments &fragments, mlir::Value lane, mlir::Value first, bool linesFirst);
  mlir::Value rounded(mlir::Value number);
  Registers load(const Fragments &fragments, mlir::Value stage, int64_t group, int64_t step);

  mlir::OpBuilder &b;
  mlir::Location loc;
  const MatrixInstruction &instruction;
  int64_t rows, columns;
  Fragments left, right;
};

} // namespace strata

#endif // STRATA_CODEGEN_GPU_TENSORCORES_H
