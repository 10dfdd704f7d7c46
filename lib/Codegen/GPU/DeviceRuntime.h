//===- DeviceRuntime.h - launches and copies as calls of the runtime ------===//
#ifndef STRATA_CODEGEN_GPU_DEVICERUNTIME_H
#define STRATA_CODEGEN_GPU_DEVICERUNTIME_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Transforms/DialectConversion.h"

namespace strata {

/// Device buffers are plain pointers to the host's code; gpu.binary,
/// gpu.launch_func, copies and the functions of kDeviceCall become data and calls
/// of strata_rt_gpu_*.
void populateDeviceRuntimePatterns(mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_DEVICERUNTIME_H
