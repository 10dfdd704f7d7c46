//===- Cache.h - compiled models are kept in a folder -----------*- C++ -*-===//
#ifndef STRATA_EXECUTION_CACHE_H
#define STRATA_EXECUTION_CACHE_H

#include "Execution/Specialize.h"

namespace strata {

/// The path of an imported module's shared library in `folder`, which is made if need be. Its name is the hash of the
/// module, its weights, the options, the versions, the target (this machine's CPU if no other) and the compiler itself;
/// if there is no such file, the module is compiled into it. Two processes may do so at once: a file appears complete
/// or not at all. Nothing is ever deleted. The module's weights stay if versions are to be compiled in the background.
/// Failures are diagnostics.
mlir::FailureOr<std::string> cachedLibrary(mlir::ModuleOp module, const CompileOptions &options, llvm::StringRef folder,
                                           const SpecializeOptions &specialize = {}, const Progress &progress = {});

} // namespace strata

#endif // STRATA_EXECUTION_CACHE_H
