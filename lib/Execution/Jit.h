//===- Jit.h - load object code into this process ---------------*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_JIT_H
#define STRATA_LIB_EXECUTION_JIT_H

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>
#include <vector>

namespace strata {

struct LoadedCode {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void (*main)(void **) = nullptr;
  void (*init)(void **) = nullptr; ///< Null if the code has none.
};

/// Links object code in memory. `table` becomes NAME_constants; what the code
/// calls is looked for in the runtime, then in this process (libc, libm).
llvm::Expected<LoadedCode> loadCode(std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects,
                                    const llvm::DataLayout &layout, llvm::StringRef modelName, void **table);

/// The file of the runtime that this process uses.
std::string runtimeLibraryPath();
/// A part of the runtime that only code which calls it needs: a library beside
/// the runtime, on libraries that others shall not depend on.
struct RuntimePart {
  llvm::StringRef prefix; ///< What the names of its functions begin with.
  std::string path;
};
std::vector<RuntimePart> runtimeParts();

} // namespace strata

#endif // STRATA_LIB_EXECUTION_JIT_H
