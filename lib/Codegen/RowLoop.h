//===- RowLoop.h - a loop over blocks of rows becomes tasks -----*- C++ -*-===//
#ifndef STRATA_CODEGEN_ROWLOOP_H
#define STRATA_CODEGEN_ROWLOOP_H

#include "NestEmitter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace strata {

/// What the next iteration of a surrounding loop reads of a buffer lies so many elements behind.
using ReadAhead = llvm::SmallDenseMap<mlir::Value, Extent>;

/// Replaces the operations of one nest by its loops, where the last one is; returns the estimated time of a run in
/// nanoseconds. What has no strided form is left to upstream's scalar loops.
double emitNest(llvm::ArrayRef<mlir::linalg::GenericOp> ops, const NestOptions &options,
                const ReadAhead &ahead = ReadAhead());

/// The operations of a nest.
using NestOps = llvm::SmallVector<mlir::linalg::GenericOp>;

/// The nests of a loop's body, as strata-outline-kernels has numbered them.
llvm::SmallVector<NestOps> nestsOf(mlir::scf::ForallOp loop);

/// The nests of a kernel as they would be emitted, of a copy of it: to see a nest leaves operations behind.
struct KernelNests {
  struct Nest {
    LoopNest nest;
    mlir::linalg::GenericOp reduction; ///< of the kernel, if there is one
    bool inLoop;                       ///< over blocks of rows
  };
  mlir::OwningOpRef<mlir::ModuleOp> copy;
  std::vector<Nest> nests;
};
KernelNests viewNests(mlir::func::FuncOp kernel, const TargetFacts &target);

/// Buffers of the same size in every iteration, with what frees them, move from `body` in front of and behind `inner`.
void hoistScratch(mlir::Operation *inner, mlir::Block *body);

/// Iterations with the same first induction variables share what depends on nothing else, and make one task: where
/// there are so many tasks at least, so that threads have enough.
constexpr int64_t fewestSharedTasks = 8;

/// Replaces the loop by one over tasks with the nests of its body inside; each task has its own scratch buffers.
void emitRowLoop(mlir::scf::ForallOp loop, const NestOptions &options);

} // namespace strata

#endif // STRATA_CODEGEN_ROWLOOP_H
