//===- NestEmitter.h - vector code for a loop nest --------------*- C++ -*-===//
#ifndef STRATA_CODEGEN_NESTEMITTER_H
#define STRATA_CODEGEN_NESTEMITTER_H

#include "NestPlan.h"

namespace strata {

struct WeightPanel;

/// Whether iterations of so many nanoseconds each are worth more than one thread, and how many make one task.
struct TaskSize {
  bool split;
  int64_t grain;
};
TaskSize taskSize(double iterationNs, int64_t iterations, const NestOptions &options);

/// On a loop that becomes a function of its own, which the thread that comes to it runs: what it keeps in registers
/// does not take them from what stands around it.
constexpr const char kApart[] = "strata.apart";

/// Emits the nest as register-tiled vector loops at the builder's position; the outermost loops as one scf.parallel
/// where there is enough work. Returns the estimated time in nanoseconds.
/// With a `panel`, the second input of the reduction reads it: filled for each block of lanes, for all rows.
double emitLoopNest(mlir::OpBuilder &b, mlir::Location loc, LoopNest &nest, const NestOptions &options,
                    WeightPanel *panel = nullptr);

/// Code for up to `few` rows and for more, of which only the run tells how many there are. Returns the time of the
/// latter.
double emitFewOrMany(mlir::OpBuilder &b, mlir::Location loc, mlir::Value rows, int64_t few,
                     llvm::function_ref<void()> emitFew, llvm::function_ref<double()> emitMany);

/// The same as emitLoopNest of products of blocks (BlockDots.h), or of any nest: where a matrix unit adds them, an
/// unknown number of rows has code for few of them beside it.
double emitBlocks(mlir::OpBuilder &b, mlir::Location loc, LoopNest &nest, const NestOptions &options);

} // namespace strata

#endif // STRATA_CODEGEN_NESTEMITTER_H
