//===- Link.h - objects to one file -----------------------------*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_LINK_H
#define STRATA_LIB_EXECUTION_LINK_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <string>
#include <vector>

namespace strata {

/// Files beside the output that are removed when this goes, or when the
/// process is interrupted.
class TemporaryFiles {
public:
  explicit TemporaryFiles(llvm::StringRef output) : output(output) {}
  ~TemporaryFiles();

  /// Creates an empty file; the error names the output that cannot be written.
  llvm::Expected<std::string> create(llvm::StringRef suffix);
  /// Creates a file with what `write` prints.
  llvm::Expected<std::string> write(llvm::StringRef suffix,
                                    llvm::function_ref<llvm::Error(llvm::raw_pwrite_stream &)> write);
  /// Gives a temporary file its final name, at once.
  llvm::Error rename(const std::string &file, llvm::StringRef to);

private:
  std::string output;
  std::vector<std::string> files;
};

/// Merges objects into one (ld -r).
llvm::Error linkRelocatable(llvm::ArrayRef<std::string> objects, llvm::StringRef output);
/// Links a shared object with the runtime, libm and libc of this process.
llvm::Error linkShared(llvm::ArrayRef<std::string> objects, llvm::StringRef soname, llvm::StringRef output);
llvm::Error writeStaticLibrary(llvm::ArrayRef<std::string> objects, llvm::StringRef modelName, llvm::StringRef output);

} // namespace strata

#endif // STRATA_LIB_EXECUTION_LINK_H
