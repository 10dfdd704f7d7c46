//===- FusedRows.h - operations that run row by row together ----*- C++ -*-===//
#ifndef STRATA_CODEGEN_FUSEDROWS_H
#define STRATA_CODEGEN_FUSEDROWS_H

#include "ConstantExpressions.h"
#include "FuseRows.h"
#include "RowCopies.h"
#include "llvm/ADT/MapVector.h"

namespace strata {

/// Rows of a block without products, if they are short.
constexpr int64_t kMostRows = 16;

/// By row of the group, the loop of an operation.
using RowLoops = llvm::SmallVector<unsigned>;

inline mlir::AffineMap mapOf(mlir::OpOperand &operand) {
  return mlir::cast<mlir::linalg::GenericOp>(operand.getOwner()).getMatchingIndexingMap(&operand);
}
inline mlir::AffineMap mapOf(mlir::OpResult result) {
  auto op = mlir::cast<mlir::linalg::GenericOp>(result.getOwner());
  return op.getMatchingIndexingMap(op.getDpsInitOperand(result.getResultNumber()));
}

/// What one elementwise operation alone makes of a reduction becomes a part of it.
inline bool isPartOfReduction(mlir::OpResult result) {
  return result.hasOneUse() && mlir::cast<mlir::linalg::GenericOp>(result.getOwner()).getNumReductionLoops();
}

class FusedRows {
public:
  FusedRows(mlir::linalg::GenericOp seed, const ConstantExpressions &constants,
            const llvm::DenseSet<mlir::Operation *> &taken, const RowLimits &limits);

  /// The members, as one loop over blocks of rows, or two. Fails where they cannot be moved together, or need not.
  llvm::LogicalResult fuse();
  auto members() const { return llvm::make_first_range(loops); }

private:
  using GenericOp = mlir::linalg::GenericOp;
  /// By result, another one.
  using Places = llvm::DenseMap<mlir::OpResult, mlir::OpResult>;
  using Bounds = llvm::SmallVector<mlir::OpFoldResult>;

  llvm::MapVector<GenericOp, RowLoops> loops; ///< of the members
  const ConstantExpressions &constants;
  const llvm::DenseSet<mlir::Operation *> &taken;
  const RowLimits &limits;
  llvm::SmallVector<int64_t> extents; ///< of the rows
  bool hasProduct = false;

  // Which operations.
  bool isMember(mlir::Operation *op) const {
    return op && mlir::isa<GenericOp>(op) && loops.count(mlir::cast<GenericOp>(op));
  }
  bool add(GenericOp op, llvm::ArrayRef<unsigned> rows);
  bool isSuitable(GenericOp op, llvm::ArrayRef<unsigned> rows) const;
  bool agrees(GenericOp op, llvm::ArrayRef<unsigned> rows) const;
  bool isRowProduct(GenericOp op, llvm::ArrayRef<unsigned> rows) const;
  bool dependsOnMember(mlir::Operation *op, llvm::DenseMap<mlir::Operation *, bool> &known) const;
  bool wouldEncloseOthers(GenericOp op) const;
  void grow();
  bool sweepsOften() const;

  // How many rows at once (RowBlocks.cpp).
  int64_t usualElements(int64_t known, unsigned unknown) const;
  int64_t rowBytes(const Places *shared = nullptr) const;
  std::optional<int64_t> contiguousRow() const;
  bool isAround(int64_t outer, int64_t inner) const;
  llvm::SmallVector<int64_t> blocks(const Places &shared) const;
  std::optional<unsigned> peeledRow(llvm::ArrayRef<int64_t> block) const;
  mlir::Value rowsThatFit(mlir::OpBuilder &b, mlir::Location loc, int64_t block) const;

  // The loop.
  llvm::SmallVector<GenericOp> inOrder() const;
  Places sharePlaces(llvm::ArrayRef<GenericOp> order) const;
  llvm::LogicalResult moveUsersBehind(llvm::ArrayRef<GenericOp> order) const;
  /// What all loops over the rows have in common.
  struct Plan {
    llvm::SmallVector<GenericOp> order;
    llvm::SmallVector<mlir::OpResult> results; ///< that others use
    Places before, after;                      ///< of a result, the one whose place it takes, and the other way round
    llvm::DenseMap<mlir::OpOperand *, std::pair<mlir::Value, mlir::AffineMap>> copied; ///< before the loop
    llvm::DenseMap<mlir::OpOperand *, RowCopy> copies;                                 ///< in the loop
  };
  /// Which rows: so many behind the first ones, how many at once, and at most. `isWhole`: always so many.
  struct Range {
    Bounds first, counts, steps, most;
    bool isWhole = false;
  };
  mlir::ValueRange emitLoop(mlir::OpBuilder &b, mlir::Location loc, const Plan &plan, const Range &range,
                            mlir::ValueRange destinations) const;
};

} // namespace strata

#endif // STRATA_CODEGEN_FUSEDROWS_H
