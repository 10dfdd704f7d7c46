//===- ConvertKernels.cpp - kernels to the LLVM dialect -------------------===//
//
// Upstream's passes allow no LLVM intrinsic that its own library has a function
// for, though the GPU has instructions for most.
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"
#include "DeviceTarget.h"
#include "WarpgroupStages.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUCommon/GPUCommonPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/DialectConversion.h"

namespace strata {
#define GEN_PASS_DEF_CONVERTTONVVM
#include "Codegen/Passes.h.inc"
#define GEN_PASS_DEF_CONVERTTOROCDL
#include "Codegen/GPUPasses.h.inc"
} // namespace strata

using namespace mlir;
using namespace strata;

/// Buffers start at allocations, or at places of the arena: aligned to 256 bytes. Tensor maps are passed by value.
static void describeParameters(LLVM::LLVMFuncOp function) {
  Builder b(function.getContext());
  auto maps = function->getAttrOfType<IntegerAttr>(kTensorMaps);
  unsigned buffers = function.getNumArguments() - (maps ? maps.getInt() : 0);
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (!isa<LLVM::LLVMPointerType>(type))
      continue;
    bool isMap = i >= buffers;
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(isMap ? 64 : 256));
    if (!isMap)
      continue;
    function.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                        TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), 128)));
    function.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr());
  }
  function->removeAttr(kTensorMaps);
}

static LogicalResult convertKernels(gpu::GPUModuleOp kernels, const DeviceTarget &device) {
  MLIRContext *context = kernels.getContext();
  LLVMTypeConverter converter(context);
  populateGpuMemorySpaceAttributeConversions(converter,
                                             [&](gpu::AddressSpace space) { return device.addressSpace(space); });
  {
    // First, so that none is left for a function of the vendor's library.
    RewritePatternSet patterns(context);
    populateMathToLLVMConversionPatterns(converter, patterns);
    ConversionTarget target(*context);
    target.addLegalDialect<LLVM::LLVMDialect>();
    target.addIllegalDialect<math::MathDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *op) { return !isa<math::MathDialect>(op->getDialect()); });
    if (failed(applyPartialConversion(kernels, target, std::move(patterns))))
      return failure();
  }
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateComplexToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  device.populatePatterns(converter, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalDialect<NVVM::NVVMDialect, ROCDL::ROCDLDialect>();
  target.addLegalOp<gpu::GPUModuleOp, gpu::ModuleEndOp, UnrealizedConversionCastOp>();
  if (failed(applyFullConversion(kernels, target, std::move(patterns))))
    return failure();
  for (auto function : kernels.getOps<LLVM::LLVMFuncOp>())
    describeParameters(function);
  // LLVM 19 has no fast-math flags on these; arith's attribute stays behind.
  kernels.walk([](Operation *op) {
    if (isa<LLVM::FPExtOp, LLVM::FPTruncOp>(op))
      op->removeDiscardableAttr("fastmath");
  });
  return success();
}

namespace {
struct ConvertToNVVMPass : strata::impl::ConvertToNVVMBase<ConvertToNVVMPass> {
  void runOnOperation() override {
    if (failed(convertKernels(getOperation(), nvidiaTarget())))
      signalPassFailure();
  }
};

struct ConvertToROCDLPass : strata::impl::ConvertToROCDLBase<ConvertToROCDLPass> {
  void runOnOperation() override {
    if (failed(convertKernels(getOperation(), amdTarget())))
      signalPassFailure();
  }
};
} // namespace
