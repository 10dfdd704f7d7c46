//===- DeviceMath.h - mathematical functions of the GPU -------------------===//
#ifndef STRATA_CODEGEN_GPU_DEVICEMATH_H
#define STRATA_CODEGEN_GPU_DEVICEMATH_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
}

namespace strata {

/// Whether there is device code for an operation of the math dialect.
bool isDeviceMath(mlir::Operation *op);

/// Links what the kernels call of the device library (Library/DeviceLibrary.c), whose bitcode is given.
llvm::Error linkDeviceLibrary(llvm::Module &kernels, llvm::ArrayRef<unsigned char> library);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_DEVICEMATH_H
