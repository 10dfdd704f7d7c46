//===- WeightsObject.h - constants as a relocatable object ------*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_WEIGHTSOBJECT_H
#define STRATA_LIB_EXECUTION_WEIGHTSOBJECT_H

#include "Constants.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

namespace strata {

/// The symbol of constant `index`.
std::string constantSymbol(llvm::StringRef modelName, size_t index);

/// Writes an ELF object whose read-only data are the constants that `include` selects, each under its symbol. The bytes
/// go from where they are straight to the file; without `contents` there is only room for them in the linked file: a
/// linker holds all of its input and all of its output in memory. `eflags` must be those of the code that it is linked
/// with.
llvm::Error writeWeightsObject(llvm::raw_ostream &os, const llvm::Triple &triple, uint32_t eflags,
                               llvm::StringRef modelName, llvm::ArrayRef<Constant> constants,
                               llvm::function_ref<bool(size_t)> include, bool contents);

/// The room in what was linked from an object without contents becomes the memory of computed constants, so that they
/// need none of their own. Null where the file system does not allow it.
llvm::Expected<std::unique_ptr<FileMemory>> mapWeights(llvm::StringRef file, llvm::MutableArrayRef<Constant> constants,
                                                       llvm::function_ref<bool(size_t)> include);

/// Writes the constants that are not there yet into that room. `include` as above.
llvm::Error fillWeights(llvm::StringRef file, llvm::ArrayRef<Constant> constants,
                        llvm::function_ref<bool(size_t)> include);

} // namespace strata

#endif // STRATA_LIB_EXECUTION_WEIGHTSOBJECT_H
