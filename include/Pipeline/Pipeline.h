//===- Pipeline.h - the phases of a compilation ---------------------------===//
//
// One function per phase; strata-opt runs each as --strata-<phase>-phase.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_PIPELINE_PIPELINE_H
#define STRATA_PIPELINE_PIPELINE_H

#include "Pipeline/CompileOptions.h"

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace strata {

/// Every operator to its newest version.
void buildUpgradePhase(mlir::OpPassManager &pm, const CompileOptions &options);
/// Types refined, shape computations folded.
void buildShapesPhase(mlir::OpPassManager &pm, const CompileOptions &options);
/// Operators to the seam.
void buildLinalgPhase(mlir::OpPassManager &pm, const CompileOptions &options);
/// From imported operators to the seam: the three phases above.
void buildFrontendPipeline(mlir::OpPassManager &pm, const CompileOptions &options);

/// linalg on tensors: named operations to generic, channels last, elementwise
/// chains fused.
void buildFusedPhase(mlir::OpPassManager &pm, const CompileOptions &options);
/// Weights packed in the tiles of the kernels that read them, constant expressions
/// moved to the init function.
void buildTiledPhase(mlir::OpPassManager &pm, const CompileOptions &options);
/// Tensors to buffers; buffers freed after their last use.
void buildBuffersPhase(mlir::OpPassManager &pm, const CompileOptions &options);
/// With options.gpu: buffers to device memory, kernels to functions of the GPU.
void buildGPUPhase(mlir::OpPassManager &pm, const CompileOptions &options);
/// linalg on buffers to register-tiled vector loops, outer loops to tasks of the
/// thread pool.
void buildVectorPhase(mlir::OpPassManager &pm, const CompileOptions &options);
/// Everything to the LLVM dialect, with the entry ABI of docs/architecture.md.
void buildLLVMPhase(mlir::OpPassManager &pm, const CompileOptions &options);

/// From the seam to the LLVM dialect: all phases above.
void buildCodegenPipeline(mlir::OpPassManager &pm, const CompileOptions &options);

/// Registers --strata-<phase>-phase and --strata-codegen for strata-opt.
void registerPipelines();

/// The dialects of the seam and below, with the interfaces that the pipelines
/// need (bufferisation, tiling, translation-free).
void registerCodegenDialects(mlir::DialectRegistry &registry);

} // namespace strata

#endif // STRATA_PIPELINE_PIPELINE_H
