//===- TensorFile.h - the formats by themselves -----------------*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_TENSORFILE_H
#define STRATA_LIB_EXECUTION_TENSORFILE_H

#include "Execution/TensorFile.h"
#include "llvm/Support/raw_ostream.h"

namespace strata {

/// The tensor that `bytes` hold in NumPy's format; it keeps `owner` alive if
/// it refers to them.
llvm::Expected<Tensor> parseNpy(llvm::StringRef bytes, strata_dtype expected, std::shared_ptr<void> owner);
/// Everything before the elements.
void printNpyHeader(llvm::raw_ostream &os, const Tensor &tensor);
void printNpy(llvm::raw_ostream &os, const Tensor &tensor);

llvm::Expected<std::vector<NamedTensor>> parseNpz(llvm::StringRef bytes, strata_dtype expected,
                                                  std::shared_ptr<void> owner);
llvm::Error printNpz(llvm::raw_ostream &os, llvm::ArrayRef<NamedTensor> tensors);

llvm::Expected<NamedTensor> parseTensorProto(llvm::StringRef bytes, strata_dtype expected);

} // namespace strata

#endif // STRATA_LIB_EXECUTION_TENSORFILE_H
