//===- Cache.h - compiled models are kept in a folder -----------*- C++ -*-===//
#ifndef STRATA_EXECUTION_CACHE_H
#define STRATA_EXECUTION_CACHE_H

#include "Execution/Specialize.h"

namespace strata {

/// The path of a model's shared library in `folder`, which is made if need be; the library may not be there yet. Its
/// name is the hash of what the model is made of, the options, the versions, the target (this machine's CPU if no
/// other) and the compiler itself. Failures are diagnostics.
mlir::FailureOr<std::string> cachedLibrary(mlir::MLIRContext &context, const ModelSource &source,
                                           const CompileOptions &options, llvm::StringRef folder,
                                           const SpecializeOptions &specialize = {});

} // namespace strata

#endif // STRATA_EXECUTION_CACHE_H
