//===- WarpgroupPlan.h - products by warpgroups, from bulk copies ---------===//
#ifndef STRATA_CODEGEN_GPU_WARPGROUPPLAN_H
#define STRATA_CODEGEN_GPU_WARPGROUPPLAN_H

#include "../LoopNest.h"
#include "Codegen/TileChoice.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace strata {

/// What swizzling mixes at most, in bytes.
inline constexpr int64_t kLongestLine = 128;

/// An instruction wgmma: 64 rows, `columns` of the plan, and 32 bytes of steps of each.
struct WarpgroupInstruction {
  mlir::NVVM::WGMMATypes left, right, sum;
  mlir::Type sumType;
  int64_t elementBytes;

  int64_t steps() const { return 32 / elementBytes; }
};

/// A dimension of a tensor map: numbers of loops times factors say where in it an element lies.
struct MapDimension {
  struct Part {
    int loop;
    int64_t factor;
  };
  llvm::SmallVector<Part, 1> parts;
  Extent size, stride;       ///< stride in elements
  int64_t box = 1, step = 1; ///< elements of it that one copy takes, and how far they are from each other
};

/// An operand as bulk copies see it: a box of a tensor of up to five dimensions, the one of neighbours first.
struct BulkOperand {
  llvm::SmallVector<MapDimension, 5> dimensions;
  bool across;                      ///< a line in shared memory is a step with its rows, not a row with its steps
  llvm::SmallVector<int> loops;     ///< that count its rows (or columns), the fastest one of a tile first
  llvm::SmallVector<int64_t> boxes; ///< how far a tile goes along each of them: powers of two
  int64_t tile() const {
    int64_t product = 1;
    for (int64_t box : boxes)
      product *= box;
    return product;
  }
};

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
  int64_t leftBytes() const { return rows() * depth * instruction.elementBytes; }
  int64_t stageBytes() const { return (rows() + columns()) * depth * instruction.elementBytes; }
  /// Of a line in shared memory, within which copies swizzle.
  int64_t lineBytes(const BulkOperand &operand) const {
    return operand.across ? kLongestLine : depth * instruction.elementBytes;
  }
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

/// Nothing where the nest is no product that wgmma computes, where an operand is no box that a bulk copy takes, or
/// where most of a tile would be empty. May create operations that compute sizes. With a tile that somebody has chosen
/// (`choice`): nothing where it is not possible.
std::optional<WarpgroupPlan> planWarpgroups(mlir::OpBuilder &b, mlir::Location loc, const LoopNest &nest, bool tf32,
                                            const TileChoice *choice = nullptr);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_WARPGROUPPLAN_H
