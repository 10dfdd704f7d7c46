//===- DeviceMath.h - mathematical functions of the GPU -------------------===//
#ifndef STRATA_CODEGEN_GPU_DEVICEMATH_H
#define STRATA_CODEGEN_GPU_DEVICEMATH_H

#include "mlir/IR/Operation.h"

namespace strata {

/// Whether there is device code for an operation of the math dialect.
bool isDeviceMath(mlir::Operation *op);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_DEVICEMATH_H
