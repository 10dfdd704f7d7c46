//===- WarpgroupPlan.h - products by warpgroups, from bulk copies ---------===//
#ifndef STRATA_CODEGEN_GPU_WARPGROUPPLAN_H
#define STRATA_CODEGEN_GPU_WARPGROUPPLAN_H

#include "../ProductSums.h"
#include "BulkOperand.h"
#include "Codegen/TileChoice.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace strata {

/// An instruction wgmma: 64 rows, `columns` of the plan, and 32 bytes of steps of each.
struct WarpgroupInstruction {
  mlir::NVVM::WGMMATypes left, right, sum;
  mlir::Type sumType;
  int64_t elementBytes;

  int64_t steps() const { return 32 / elementBytes; }
};

/// The instruction that computes the product; nothing if there is none. With `tf32` products of f32 are rounded.
std::optional<WarpgroupInstruction> matchWarpgroupInstruction(const ProductSum &product, bool tf32);

/// How to compute a nest: blocks of one warpgroup that copies and `consumers` that multiply.
struct WarpgroupPlan {
  LoopNest nest;
  WarpgroupInstruction instruction;
  BulkOperand left, right;
  llvm::SmallVector<int> batch;
  llvm::SmallVector<int> outerDepth; ///< loops of the reduction but for `depthLoop`
  int depthLoop;                     ///< of which a stage has `depth` steps
  int64_t depth, stages, consumers;
  int64_t together; ///< blocks that share a multiprocessor

  int64_t rows() const { return left.tile(); }
  int64_t columns() const { return right.tile(); }
  int64_t threads() const { return (consumers + 1) * 128; }
  TileChoice choice() const {
    return {TileChoice::Warpgroups, rows(), columns(), rows() / consumers, columns(), depth, stages};
  }
  int64_t stageBytes() const { return left.bytes() + right.bytes(); }
  /// Stages, and two barriers of 8 bytes for each.
  int64_t sharedBytes() const { return stages * (stageBytes() + 16); }
};

/// A tile of sums that a block may have, its rows shared among `consumers` warpgroups.
struct WarpgroupTile {
  int64_t rows, columns, consumers;
  int64_t partRows() const { return rows / consumers; }
};
inline constexpr WarpgroupTile kWarpgroupTiles[] = {{128, 256, 2}, {256, 128, 2}, {128, 128, 2}, {128, 64, 2},
                                                    {64, 256, 1},  {64, 128, 1},  {64, 64, 1}};

/// How often loops are walked together, where one whose size only the run tells counts as so much.
int64_t likelySize(const LoopNest &nest, llvm::ArrayRef<int> loops, int64_t ifUnknown = 1024);

/// Nothing where the nest is no product that wgmma computes, where an operand is no box that a bulk copy takes, or
/// where most of a tile would be empty. May create operations that compute sizes. With a tile that somebody has chosen
/// (`choice`): nothing where it is not possible.
std::optional<WarpgroupPlan> planWarpgroups(mlir::OpBuilder &b, mlir::Location loc, const LoopNest &nest, bool tf32,
                                            const TileChoice *choice = nullptr);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_WARPGROUPPLAN_H
