//===- DeviceMemory.h - buffers of the GPU --------------------------------===//
//
// A buffer in device memory has the memory space #gpu.address_space<global>.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_GPU_DEVICEMEMORY_H
#define STRATA_CODEGEN_GPU_DEVICEMEMORY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinTypes.h"

namespace strata {

inline bool isDeviceMemory(mlir::Type type) {
  auto memref = mlir::dyn_cast<mlir::MemRefType>(type);
  auto space = memref ? mlir::dyn_cast_or_null<mlir::gpu::AddressSpaceAttr>(memref.getMemorySpace())
                      : mlir::gpu::AddressSpaceAttr();
  return space && space.getValue() == mlir::gpu::AddressSpace::Global;
}

inline mlir::MemRefType inDeviceMemory(mlir::MemRefType type) {
  return mlir::MemRefType::Builder(type).setMemorySpace(
      mlir::gpu::AddressSpaceAttr::get(type.getContext(), mlir::gpu::AddressSpace::Global));
}

inline mlir::MemRefType inHostMemory(mlir::MemRefType type) {
  return mlir::MemRefType::Builder(type).setMemorySpace(mlir::Attribute());
}

/// The attribute of functions that the runtime provides for buffers on both
/// sides: "input" (the device's copy of an input, or the caller's own buffer
/// there), "host_input" (the host's), "result" (what the caller gets of a result),
/// "to_host" (the host's copy of a device buffer, up to date), "host_wrote" (that
/// copy was changed), "constant" (a constant's copy on the device), "graph_begin"
/// and "graph_end" (around work that is recorded), "timer_start" and "timer_stop"
/// (around work whose time is taken).
inline constexpr llvm::StringLiteral kDeviceCall = "strata.gpu";

/// Why a call of a kernel stays on the host, in words.
inline constexpr llvm::StringLiteral kOnHost = "strata.on_host";

/// What a launched kernel is, in words, where its nodes do not say it.
inline constexpr llvm::StringLiteral kKernelNote = "strata.kernel_note";

/// Bytes that an element takes in memory.
inline int64_t bytesPerElement(mlir::MemRefType type) {
  mlir::Type element = type.getElementType();
  if (auto complex = mlir::dyn_cast<mlir::ComplexType>(element))
    return 2 * llvm::divideCeil(complex.getElementType().getIntOrFloatBitWidth(), 8);
  return element.isIndex() ? 8 : llvm::PowerOf2Ceil(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
}

/// Why the GPU cannot run a kernel, in words; nothing if it can.
std::optional<std::string> whyNotOnDevice(mlir::func::FuncOp kernel);

/// Moves each memref.dealloc right behind the last use of its buffer.
void freeBuffersEarly(mlir::func::FuncOp function);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_DEVICEMEMORY_H
