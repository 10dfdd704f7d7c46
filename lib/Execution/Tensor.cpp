//===- Tensor.cpp - a tensor in memory ------------------------------------===//

#include "Execution/Tensor.h"
#include "Memory.h"

namespace strata {

Tensor Tensor::allocate(strata_dtype dtype, std::vector<int64_t> shape) {
  Tensor result;
  result.dtype = dtype;
  result.shape = std::move(shape);
  uint64_t bytes = strata_dtype_size(dtype);
  for (int64_t dim : result.shape)
    if (dim < 0 || __builtin_mul_overflow(bytes, uint64_t(dim), &bytes))
      return result;
  std::shared_ptr<char> memory = allocateConstant(bytes, 64);
  result.data = memory.get();
  result.owner = std::move(memory);
  return result;
}

Tensor Tensor::ofStrings(std::vector<int64_t> shape, const std::vector<std::string> &strings) {
  struct Storage {
    std::vector<std::string> bytes;
    std::vector<strata_string> strings;
  };
  auto storage = std::make_shared<Storage>();
  storage->bytes = strings;
  for (const std::string &string : storage->bytes)
    storage->strings.push_back({string.data(), string.size()});
  storage->strings.emplace_back(); // so that there is an address
  Tensor result;
  result.dtype = STRATA_STRING;
  result.shape = std::move(shape);
  result.data = storage->strings.data();
  result.owner = std::move(storage);
  return result;
}

Tensor Tensor::ofElements(strata_dtype dtype, std::vector<Tensor> elements) {
  Tensor result;
  result.dtype = dtype;
  if (dtype != STRATA_OPTIONAL)
    result.shape = {static_cast<int64_t>(elements.size())};
  result.elements = std::move(elements);
  return result;
}

} // namespace strata
