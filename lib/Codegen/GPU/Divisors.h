//===- Divisors.h - what sizes and strides are multiples of -----*- C++ -*-===//
#ifndef STRATA_CODEGEN_GPU_DIVISORS_H
#define STRATA_CODEGEN_GPU_DIVISORS_H

#include "../LoopNest.h"

namespace strata {

/// A number that a value is always a multiple of; 0 of the constant 0.
int64_t divisorOf(mlir::Value value);
int64_t divisorOf(const Extent &extent);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_DIVISORS_H
