//===- Jit.h - load object code into this process ---------------*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_JIT_H
#define STRATA_LIB_EXECUTION_JIT_H

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <vector>

namespace strata {

struct LoadedCode {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void (*main)(void **) = nullptr;
  void (*init)(void **) = nullptr; ///< Null if the code has none.
};

/// Links object code in memory. `table` becomes NAME_constants; what the code
/// calls is looked for in the runtime, then in this process (libc, libm).
llvm::Expected<LoadedCode>
loadCode(std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects,
         const llvm::DataLayout &layout, llvm::StringRef modelName,
         void **table);

/// The file of the runtime that this process uses.
std::string runtimeLibraryPath();
/// The library of regular expressions beside it, for code that calls it.
std::string regexLibraryPath();

} // namespace strata

#endif // STRATA_LIB_EXECUTION_JIT_H
