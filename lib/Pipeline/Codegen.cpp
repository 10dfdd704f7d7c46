//===- Codegen.cpp - the phases from the seam to the LLVM dialect ---------===//
#include "Codegen/GPUPasses.h"
#include "Codegen/Passes.h"
#include "Codegen/Target.h"
#include "NarrowFloats.h"
#include "Pipeline/Pipeline.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace strata;

void strata::buildFusedPhase(OpPassManager &pm, const CompileOptions &options) {
  if (!options.gpu.empty())
    pm.addPass(createKeepRoundings());
  pm.addPass(createInlinerPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createGeneralize());
  TargetFacts facts = describeTarget(options);
  // Behind this pass, constants of one number are written into bodies.
  ExpandMathOptions math;
  math.device = !options.gpu.empty();
  math.fusedProducts = facts.fma || math.device;
  math.knownNumbers = true;
  pm.addPass(createExpandMath(math));
  // Units that multiply matrices read weights from memory.
  if (!options.gpu.empty() || options.precision == Precision::BF16) {
    ExpandWeightsOptions expand;
    expand.blockSums = !options.gpu.empty();
    pm.addNestedPass<func::FuncOp>(createExpandWeights(expand));
  }
  // Conversions fuse with what makes their operands.
  if (options.precision == Precision::BF16) {
    // What is of f16 is f32 to what follows.
    WidenProductsOptions widen;
    widen.f16 = true;
    pm.addNestedPass<func::FuncOp>(createWidenProducts(widen));
    NarrowProductsOptions narrow;
    copyTarget(narrow, facts);
    narrow.winograd = options.winograd;
    pm.addNestedPass<func::FuncOp>(createNarrowProducts(narrow));
  } else if (options.precision == Precision::F16) {
    NarrowWeightsOptions narrow;
    copyTarget(narrow, facts);
    pm.addNestedPass<func::FuncOp>(createNarrowWeights(narrow));
  }
  if (options.optLevel == 0)
    return;
  if (options.gpu.empty()) {
    if (options.precision == Precision::INT8) {
      // A matrix unit's sums of blocks of bytes would wait for their scales.
      if (facts.bf16Tiles) {
        NarrowProductsOptions narrow;
        copyTarget(narrow, facts);
        narrow.computed = true;
        pm.addNestedPass<func::FuncOp>(createNarrowProducts(narrow));
      }
      pm.addNestedPass<func::FuncOp>(createQuantiseData());
    }
    pm.addNestedPass<func::FuncOp>(createPackNibbles());
    WidenProductsOptions widen;
    widen.f16 = true;
    widen.bf16 = !facts.bf16Tiles && !facts.bf16Dots;
    pm.addNestedPass<func::FuncOp>(createWidenProducts(widen));
    if (facts.byteDots && !facts.int8Tiles)
      pm.addNestedPass<func::FuncOp>(createUnsignProducts());
  }
  ChannelsLastOptions channels;
  copyTarget(channels, facts);
  channels.movesPixels = !options.gpu.empty();
  if (options.gpu.empty())
    pm.addNestedPass<func::FuncOp>(createPlaceParts());
  if (options.gpu.empty() && options.winograd)
    pm.addNestedPass<func::FuncOp>(createSplitGroups());
  pm.addNestedPass<func::FuncOp>(createChannelsLast(channels));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  FuseElementwiseOptions fuse;
  fuse.packsWeights = options.gpu.empty();
  pm.addNestedPass<func::FuncOp>(createFuseElementwise(fuse));
  if (options.gpu.empty()) {
    pm.addNestedPass<func::FuncOp>(createPrepareAttention());
    if (options.precision == Precision::BF16) {
      PadKeysOptions pad;
      copyTarget(pad, facts);
      pm.addNestedPass<func::FuncOp>(createPadKeys(pad));
    }
    pm.addNestedPass<func::FuncOp>(createDeferDivision());
  }
  // Behind what keeps bytes between the products.
  if (options.gpu.empty() && facts.pairDots && !facts.byteDots && !facts.int8Tiles) {
    WidenProductsOptions widen;
    widen.bytes = true;
    widen.bytePairs = addsBytePairs(facts);
    pm.addNestedPass<func::FuncOp>(createWidenProducts(widen));
  }
}

void strata::buildTiledPhase(OpPassManager &pm, const CompileOptions &options) {
  if (options.optLevel == 0)
    return;
  TargetFacts facts = describeTarget(options);
  // The GPU's kernels read weights as they are, if in another order.
  if (options.gpu.empty()) {
    ReadGatheredOptions gathered;
    copyTarget(gathered, facts);
    pm.addNestedPass<func::FuncOp>(createReadGathered(gathered));
    WinogradOptions winograd;
    copyTarget(winograd, facts);
    if (options.winograd)
      pm.addNestedPass<func::FuncOp>(createWinograd(winograd));
    GroupReductionsOptions group;
    group.bf16 = facts.bf16Tiles || facts.bf16Dots;
    group.int8 = facts.int8Tiles || facts.byteDots || facts.pairDots;
    group.tiles = facts.int8Tiles || facts.bf16Tiles;
    pm.addNestedPass<func::FuncOp>(createGroupReductions(group));
    PackWeightsOptions pack;
    copyTarget(pack, facts);
    pm.addNestedPass<func::FuncOp>(createPackWeights(pack));
    if (facts.pairDots && facts.spareAdders && !facts.byteDots && !facts.int8Tiles)
      pm.addNestedPass<func::FuncOp>(createCrossProducts());
  } else {
    pm.addNestedPass<func::FuncOp>(createReorderFilters());
  }
  pm.addPass(createCSEPass());
  pm.addPass(createHoistConstants());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // Behind the hoisting: the init function's operations run once. Sizes of what is computed are sizes of inputs: they
  // do not wait for it.
  pm.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  FuseRowsOptions rows;
  copyTarget(rows, facts);
  if (!options.gpu.empty())
    pm.addNestedPass<func::FuncOp>(createFuseAttention());
  pm.addNestedPass<func::FuncOp>(options.gpu.empty() ? createFuseRows(rows) : createFuseDeviceRows());
  if (options.gpu.empty()) {
    FuseTransposesOptions transposes;
    copyTarget(transposes, facts);
    pm.addNestedPass<func::FuncOp>(createFuseTransposes(transposes));
  }
  pm.addPass(createCanonicalizerPass());
}

void strata::buildBuffersPhase(OpPassManager &pm, const CompileOptions &options) {
  pm.addPass(createConstantsToTable());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // No common subexpressions from here on: they would share destinations.
  pm.addPass(createPrepareSeam());
  // Producers write straight into the tensors that they are inserted into.
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizationOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.allowReturnAllocsFromLoops = true;
  bufferize.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::IdentityLayoutMap);
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  // Equal views become one, then copies of a view to itself vanish.
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCopiesToLinalg());
  pm.addNestedPass<func::FuncOp>(createLinalgGeneralizeNamedOpsPass());
  pm.addPass(createOutlineKernels());
  bufferization::buildBufferDeallocationPipeline(pm, {});
  pm.addPass(createBufferizationToMemRefPass());
  pm.addPass(createFreeEarly());
}

void strata::buildGPUPhase(OpPassManager &pm, const CompileOptions &options) {
  if (options.gpu.empty())
    return;
  // So that all that kernels compute is seen.
  pm.addPass(createConvertComplexToStandardPass());
  pm.addPass(createJoinFills());
  pm.addPass(createPlaceBuffers());
  // What lies between its kernels is a buffer of the arena, too.
  pm.addPass(createSplitAttention());
  pm.addPass(createPlanArena());
  pm.addPass(createMapKernels());
  pm.addPass(createCanonicalizerPass());
  if (options.explain)
    pm.addPass(createExplainPlacement());
  // A profile is of single nodes.
  if (!options.profile)
    pm.addPass(createRecordGraphs());
}

void strata::buildVectorPhase(OpPassManager &pm, const CompileOptions &options) {
  TargetFacts facts = describeTarget(options);
  // While elements are scalars: of vectors, it would also narrow those of f64.
  pm.addNestedPass<func::FuncOp>(math::createMathLegalizeToF32());
  if (options.optLevel > 0) {
    EmitKernelsOptions kernels;
    copyTarget(kernels, facts);
    kernels.threads = options.threads;
    pm.addNestedPass<func::FuncOp>(createEmitKernels(kernels));
  }
  // Loops of few steps are unrolled, others have one step: their numbers become constants.
  ExpandMathOptions math;
  math.powerScaling = facts.powerScaling;
  math.fusedProducts = facts.fma;
  pm.addPass(createExpandMath(math));
  // Clones of the deallocation, and kernels without a vector form.
  pm.addNestedPass<func::FuncOp>(createCopiesToLinalg());
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  pm.addPass(createOutlineTasks());
}

/// The kernels of the GPU down to what the artifact holds.
static void addKernelPasses(OpPassManager &pm, const CompileOptions &options) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createLowerDeviceMath());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createConvertSCFToCFPass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(llvm::StringRef(options.gpu).starts_with("gfx") ? createConvertToROCDL() : createConvertToNVVM());
  // What LLVM has no intrinsics for is PTX.
  kernels.addPass(createConvertNVVMToLLVMPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  SerializeKernelsOptions serialize;
  serialize.chip = options.gpu;
  serialize.optLevel = options.optLevel;
  serialize.format = std::string(nameOf(options.gpuFormat));
  pm.addPass(createSerializeKernels(serialize));
}

void strata::buildLLVMPhase(OpPassManager &pm, const CompileOptions &options) {
  TargetFacts facts = describeTarget(options);
  pm.addPass(createLowerAsserts());
  // Narrow floats are computed in f32, complex numbers in their parts.
  OpPassManager &narrow = pm.nest<func::FuncOp>();
  narrow.addPass(createConvertComplexToStandardPass());
  narrow.addPass(createEmulateNarrowFloats());
  if (!options.gpu.empty())
    addKernelPasses(pm, options);
  ApproximateMathOptions math;
  math.powerScaling = facts.powerScaling;
  math.fusedProducts = facts.fma;
  math.integerPacks = facts.integerPacks;
  math.bf16Dots = facts.bf16Dots;
  pm.addPass(createApproximateMath(math));
  // Function by function: all cores work on them.
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(memref::createExpandOpsPass());
  functions.addPass(memref::createExpandStridedMetadataPass());
  functions.addPass(createLowerAffinePass());
  // Behind it nothing merges blocks: MLIR 19 mixes up their arguments.
  functions.addPass(createLowerSCF());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  ConvertToLLVMOptions llvm;
  llvm.modelName = options.modelName;
  llvm.vectorBits = facts.vectorBits;
  pm.addPass(createConvertToLLVM(llvm));
  OpPassManager &converted = pm.nest<LLVM::LLVMFuncOp>();
  converted.addPass(createReconcileUnrealizedCastsPass());
  converted.addPass(createCanonicalizerPass());
  converted.addPass(createCSEPass());
}

void strata::buildCodegenPipeline(OpPassManager &pm, const CompileOptions &options) {
  buildFusedPhase(pm, options);
  buildTiledPhase(pm, options);
  buildBuffersPhase(pm, options);
  buildGPUPhase(pm, options);
  buildVectorPhase(pm, options);
  buildLLVMPhase(pm, options);
}

namespace {
/// CompileOptions as options of a textual pipeline.
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<std::string> name{*this, "name", llvm::cl::desc("prefix of the symbols"), llvm::cl::init("model")};
  Option<unsigned> optLevel{*this, "opt-level", llvm::cl::desc("0 to 3"), llvm::cl::init(3)};
  Option<bool> threads{*this, "threads", llvm::cl::desc("split large loops"), llvm::cl::init(true)};
  Option<std::string> triple{*this, "triple", llvm::cl::desc("target triple")};
  Option<std::string> cpu{*this, "cpu", llvm::cl::desc("target CPU")};
  Option<std::string> features{*this, "features", llvm::cl::desc("target features")};
  Option<std::string> precision{*this, "precision", llvm::cl::desc("f32, bf16, f16, int8 or tf32"),
                                llvm::cl::init("f32")};
  Option<std::string> gpu{*this, "gpu", llvm::cl::desc("sm_NN: run kernels on it")};
  Option<std::string> gpuFormat{*this, "gpu-format", llvm::cl::desc("auto, ptx, cubin, bitcode"),
                                llvm::cl::init("auto")};

  CompileOptions get() const {
    CompileOptions options;
    options.modelName = name;
    options.optLevel = optLevel;
    options.threads = threads;
    options.targetTriple = triple;
    options.targetCPU = cpu;
    options.targetFeatures = features;
    options.precision = parsePrecision(precision).value_or(Precision::F32);
    options.gpu = gpu;
    options.gpuFormat = parseGpuFormat(gpuFormat).value_or(GpuFormat::Auto);
    return options;
  }
};
} // namespace

void strata::registerPipelines() {
  using Build = void (*)(OpPassManager &, const CompileOptions &);
  auto add = [](StringRef name, StringRef description, Build build) {
    PassPipelineRegistration<PipelineOptions>(
        name, description, [build](OpPassManager &pm, const PipelineOptions &options) { build(pm, options.get()); });
  };
  add("strata-upgrade-phase", "operators to their newest versions", buildUpgradePhase);
  add("strata-shapes-phase", "types refined, shape computations folded", buildShapesPhase);
  add("strata-linalg-phase", "operators to linalg", buildLinalgPhase);
  add("strata-frontend", "from imported operators to linalg", buildFrontendPipeline);
  add("strata-fused-phase", "linalg on tensors: layouts, packing, fusion", buildFusedPhase);
  add("strata-tiled-phase", "weights packed in tiles, constants to the init function", buildTiledPhase);
  add("strata-buffers-phase", "tensors to buffers", buildBuffersPhase);
  add("strata-gpu-phase", "kernels to functions of the GPU", buildGPUPhase);
  add("strata-vector-phase", "linalg on buffers to vector loops", buildVectorPhase);
  add("strata-llvm-phase", "to the LLVM dialect with the entry ABI", buildLLVMPhase);
  add("strata-codegen", "from the seam to the LLVM dialect", buildCodegenPipeline);
}
