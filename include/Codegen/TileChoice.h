//===- TileChoice.h - the tile of a product's kernel on a GPU --*- C++ -*-===//
//
// Which tile a block computes, and by what, follows from a heuristic
// (docs/gpu.md). Who has measured may choose otherwise: an attribute of the
// kernel's reduction, strata.tile = ["threads" | "warps" | "warpgroups", rows,
// columns, partRows, partColumns, depth, stages], says which.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_TILECHOICE_H
#define STRATA_CODEGEN_TILECHOICE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <array>

namespace strata {

/// How a block of a GPU's threads computes its part of a sum of products.
struct TileChoice {
  enum By { Threads, Warps, Warpgroups } by;
  int64_t rows, columns;         ///< of the block
  int64_t partRows, partColumns; ///< of one thread, warp or warpgroup
  int64_t depth;                 ///< steps of a stage
  int64_t stages;                ///< in shared memory; 0: as many as the heuristic would have, two at least

  std::array<int64_t, 6> numbers() const { return {rows, columns, partRows, partColumns, depth, stages}; }
  static TileChoice of(By by, llvm::ArrayRef<int64_t> numbers) {
    return {by, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
  }
  bool operator==(const TileChoice &other) const { return by == other.by && numbers() == other.numbers(); }
};

/// "threads", "warps", "warpgroups".
llvm::StringRef nameOf(TileChoice::By by);
std::optional<TileChoice::By> parseTileBy(llvm::StringRef name);

/// Writes a choice where `strata-map-kernels` looks for it. One that is not possible there is ignored, with a warning.
void setTileChoice(mlir::linalg::GenericOp reduction, const TileChoice &choice);

/// A kernel with a sum of products that a GPU computes in tiles.
struct TunableProduct {
  mlir::linalg::GenericOp reduction; ///< in the kernel
  TileChoice choice;                 ///< what is emitted now
  mlir::SmallVector<TileChoice> alternatives;
  double work; ///< iterations of all its loops
};

/// The sum of products of a kernel on buffers of known sizes, if a GPU runs it and it is worth measuring. `chip` is
/// NVIDIA's; `tf32` as in CompileOptions.
std::optional<TunableProduct> findTunableProduct(mlir::func::FuncOp kernel, llvm::StringRef chip, bool tf32);

/// Functions of the runtime, for modules at the phase `buffers`: () -> (), after which the time that the GPU takes is
/// counted, and () -> i64, the nanoseconds since then when all of it is done.
mlir::func::FuncOp declareTimerStart(mlir::ModuleOp module);
mlir::func::FuncOp declareTimerStop(mlir::ModuleOp module);

} // namespace strata

#endif // STRATA_CODEGEN_TILECHOICE_H
