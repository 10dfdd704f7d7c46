//===- TensorFile.h - tensors in files --------------------------*- C++ -*-===//
//
// .npy and .npz as NumPy writes them, .pb as ONNX's test data has them
// (TensorProto). NumPy has no names for most of ml_dtypes' types and saves
// their bytes as void ("<V2", "<V1"): reading these needs to be told the type.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_EXECUTION_TENSORFILE_H
#define STRATA_EXECUTION_TENSORFILE_H

#include "Execution/Tensor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace strata {

struct NamedTensor {
  std::string name; ///< "" where the file gives none.
  Tensor tensor;
};

/// Reads all tensors of a .npy, .npz or .pb file. Elements stored as void get
/// the type `expected`, or bfloat16 for two bytes. Large .npy files are mapped.
llvm::Expected<std::vector<NamedTensor>> readTensors(llvm::StringRef path, strata_dtype expected = STRATA_UNDEFINED);

/// Writes row-major tensors; the file appears complete or not at all.
llvm::Error writeNpy(llvm::StringRef path, const Tensor &tensor);
llvm::Error writeNpz(llvm::StringRef path, llvm::ArrayRef<NamedTensor> tensors);

} // namespace strata

#endif // STRATA_EXECUTION_TENSORFILE_H
