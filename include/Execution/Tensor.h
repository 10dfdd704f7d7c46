//===- Tensor.h - a tensor in memory ----------------------------*- C++ -*-===//
#ifndef STRATA_EXECUTION_TENSOR_H
#define STRATA_EXECUTION_TENSOR_H

#include "Runtime/strata.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace strata {

/// A view of elements with its type and shape, and whatever keeps them alive.
/// Elements lie as in strata.h: the types below a byte take one byte each,
/// strings are strata_string. It may also be a sequence, a map (keys and
/// values) or an empty optional: then `elements` are what it holds.
struct Tensor {
  strata_dtype dtype = STRATA_UNDEFINED;
  std::vector<int64_t> shape;
  /// In elements; empty: row-major without gaps. Results are always row-major.
  std::vector<int64_t> strides;
  void *data = nullptr;
  std::shared_ptr<void> owner;
  std::vector<Tensor> elements;
  /// Where `data` is, as strata_tensor has it; 0 is the host.
  int deviceType = 0, deviceId = 0;

  bool isContainer() const { return dtype >= STRATA_SEQUENCE; }
  /// A tensor of strings, which are copied.
  static Tensor ofStrings(std::vector<int64_t> shape, const std::vector<std::string> &strings);
  static Tensor ofElements(strata_dtype dtype, std::vector<Tensor> elements);

  /// Zeroed memory for that type and shape; data is null if there is not
  /// enough memory.
  static Tensor allocate(strata_dtype dtype, std::vector<int64_t> shape);

  int64_t size() const {
    int64_t count = 1;
    for (int64_t dim : shape)
      count *= dim;
    return count;
  }
  uint64_t bytes() const { return size() * strata_dtype_size(dtype); }
};

} // namespace strata

#endif // STRATA_EXECUTION_TENSOR_H
