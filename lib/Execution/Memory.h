//===- Memory.h - memory of constants and tensors ---------------*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_MEMORY_H
#define STRATA_LIB_EXECUTION_MEMORY_H

#include <cstdint>
#include <memory>

namespace strata {

/// Zeroed memory at a multiple of 64 bytes, with huge pages where it is large.
std::shared_ptr<char> allocateConstant(uint64_t bytes, uint64_t alignment);

} // namespace strata

#endif // STRATA_LIB_EXECUTION_MEMORY_H
