//===- ExternalData.h - tensors in files beside the model -------*- C++ -*-===//
//
// Data may lie only in the model's folder: absolute paths, `..` and symbolic
// links that lead out of it are refused. Files are mapped once.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_IMPORT_EXTERNALDATA_H
#define STRATA_LIB_IMPORT_EXTERNALDATA_H

#include "ModelBytes.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace strata::importer {

class ExternalData {
public:
  /// `folder` is empty if the model has none.
  explicit ExternalData(llvm::StringRef folder) : folder(folder) {}

  /// The `size` bytes that `tensor` refers to, and the file that they lie in.
  llvm::FailureOr<std::pair<SharedBytes, llvm::StringRef>> find(const proto::TensorProto &tensor, uint64_t size,
                                                                const Trace &trace);

  /// The whole file that `tensor` refers to.
  llvm::FailureOr<SharedBytes> file(const proto::TensorProto &tensor, const Trace &trace);

private:
  struct Range {
    uint64_t end;
    std::string tensor;
  };
  struct File {
    SharedBytes bytes;
    /// SHA-1, once a tensor names one to compare with.
    std::string digest;
    std::map<uint64_t, Range> used;
  };
  llvm::FailureOr<File *> open(llvm::StringRef location, const Trace &trace);

  std::string folder;
  llvm::StringMap<File> files;
};

} // namespace strata::importer

#endif // STRATA_LIB_IMPORT_EXTERNALDATA_H
