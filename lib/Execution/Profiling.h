//===- Profiling.h - time per node ------------------------------*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_PROFILING_H
#define STRATA_LIB_EXECUTION_PROFILING_H

#include "mlir/IR/BuiltinOps.h"

namespace strata {

/// Writes on each kernel of known sizes how much work it is: `strata.operations` on numbers, and `strata.bytes` that it
/// has to read and write at least once. For modules after the buffers phase.
void noteWork(mlir::ModuleOp module);

/// Brackets the code of each node in @main with the runtime's profiling hooks;
/// for modules between the vector and the LLVM phase. Calls of kernels also tell
/// it the work that was noted.
///
///   memref.copy ...  loc("a")     strata_rt_profile_begin(0, "a")
///   scf.for ...      loc("a")     memref.copy ...
///   scf.for ...      loc("b")     scf.for ...
///                                 strata_rt_profile_end(0)
///                                 strata_rt_profile_begin(1, "b") ...
void insertProfiling(mlir::ModuleOp module);

} // namespace strata

#endif // STRATA_LIB_EXECUTION_PROFILING_H
