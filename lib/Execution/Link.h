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

/// Files beside the output (of a device or a pipe, where the system has such files) that are removed when this goes, or
/// when the process is interrupted.
class TemporaryFiles {
public:
  explicit TemporaryFiles(llvm::StringRef output) : output(output) {}
  ~TemporaryFiles();

  /// Whether there is something at `path` that is neither a file nor a directory.
  static bool isDevice(llvm::StringRef path);
  /// Creates an empty file; the error names the output that cannot be written.
  llvm::Expected<std::string> create(llvm::StringRef suffix);
  /// Creates a file with what `write` prints.
  llvm::Expected<std::string> write(llvm::StringRef suffix,
                                    llvm::function_ref<llvm::Error(llvm::raw_pwrite_stream &)> write);
  /// Gives a temporary file its final name, at once. A device or a pipe of that name is written to, not replaced.
  llvm::Error rename(const std::string &file, llvm::StringRef to);

private:
  std::string output;
  std::vector<std::string> files;
};

/// llvm::writeToOutput, which replaces a file at once and would replace a device or a pipe as well: those are written
/// to.
llvm::Error writeOutput(llvm::StringRef path, llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write);

/// Merges objects into one (ld -r).
llvm::Error linkRelocatable(llvm::ArrayRef<std::string> objects, llvm::StringRef output);
/// Links a shared object with the runtime, libm and libc of this process.
llvm::Error linkShared(llvm::ArrayRef<std::string> objects, llvm::StringRef soname, llvm::StringRef output);
llvm::Error writeStaticLibrary(llvm::ArrayRef<std::string> objects, llvm::StringRef modelName, llvm::StringRef output);

} // namespace strata

#endif // STRATA_LIB_EXECUTION_LINK_H
