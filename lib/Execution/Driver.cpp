//===- Driver.cpp - from a file to a phase --------------------------------===//

#include "Execution/Driver.h"
#include "Codegen/GPUPasses.h"
#include "Codegen/NodeNames.h"
#include "Codegen/Target.h"
#include "Dialect/OperatorSets.h"
#include "Import/Import.h"
#include "Pipeline/Pipeline.h"
#include "Profiling.h"
#include "Target.h"
#include "Tuning.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include <chrono>

using namespace mlir;

namespace strata {

static constexpr llvm::StringLiteral kPhase = "strata.phase";

static constexpr const char *kPhaseNames[] = {"import",  "upgrade", "shapes", "linalg", "fused", "tiled",
                                              "buffers", "gpu",     "vector", "llvm",   "object"};

llvm::StringRef nameOf(Phase phase) { return kPhaseNames[static_cast<int>(phase)]; }

std::optional<Phase> parsePhase(llvm::StringRef name) {
  for (auto [i, known] : llvm::enumerate(kPhaseNames))
    if (name == known)
      return static_cast<Phase>(i);
  return std::nullopt;
}

/// The name of the ONNX node, or the place in a file, that a location stands
/// for.
static void printLocation(llvm::raw_ostream &os, Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    os << "node '" << name.getName().getValue() << "': ";
  } else if (auto file = dyn_cast<FileLineColLoc>(loc)) {
    os << file.getFilename().getValue();
    if (file.getLine())
      os << ":" << file.getLine() << ":" << file.getColumn();
    os << ": ";
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    if (!fused.getLocations().empty())
      printLocation(os, fused.getLocations().front());
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    printLocation(os, call.getCallee());
  }
}

void printDiagnostic(llvm::raw_ostream &os, Diagnostic &diagnostic) {
  printLocation(os, diagnostic.getLocation());
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    os << "error: ";
    break;
  case DiagnosticSeverity::Warning:
    os << "warning: ";
    break;
  default:
    os << "note: ";
    break;
  }
  diagnostic.print(os);
  os << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    printDiagnostic(os, note);
}

std::shared_ptr<MLIRContext> createContext() {
  DialectRegistry registry;
  registerCodegenDialects(registry);
  registerTranslationDialects(registry);
  registerOperatorSets(registry);
  auto context = std::make_shared<MLIRContext>(registry);
  context->printOpOnDiagnostic(false);
  context->getDiagEngine().registerHandler([](Diagnostic &diagnostic) { printDiagnostic(llvm::errs(), diagnostic); });
  return context;
}

static bool isOnnx(llvm::StringRef path) { return !path.ends_with(".mlir") && !path.ends_with(".mlirbc"); }

OwningOpRef<ModuleOp> loadModule(llvm::StringRef path, MLIRContext &context) {
  auto fail = [&](const llvm::Twine &message) {
    emitError(FileLineColLoc::get(&context, path, 0, 0)) << message;
    return OwningOpRef<ModuleOp>();
  };
  if (llvm::sys::fs::is_directory(path))
    return fail("is a directory, not a model");
  if (isOnnx(path))
    return importOnnxFile(path, &context);
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (std::error_code error = buffer.getError())
    return fail("cannot be read: " + error.message());
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), {});
  return parseSourceFile<ModuleOp>(sources, &context);
}

ModelSource sourceOf(const std::string &path) {
  auto write = [path](MLIRContext &context, llvm::raw_ostream &os) -> LogicalResult {
    if (isOnnx(path))
      return writeSources(path, &context, os);
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return emitError(FileLineColLoc::get(&context, path, 0, 0)) << "cannot be read: " << buffer.getError().message();
    os << (*buffer)->getBuffer();
    return success();
  };
  return {[path](MLIRContext &context) { return loadModule(path, context); }, write};
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

Phase phaseOf(ModuleOp module) {
  if (auto name = module->getAttrOfType<StringAttr>(kPhase))
    if (std::optional<Phase> phase = parsePhase(name.getValue()))
      return *phase;
  if (!module.lookupSymbol("main"))
    return Phase::LLVM;
  // Operators are of the operator sets' dialects, which the seam has not.
  WalkResult found = module.walk([](Operation *op) {
    llvm::StringRef dialect = op->getName().getDialectNamespace();
    bool isOperator = dialect == "onnx" || dialect == "tf" || dialect == "ov";
    return isOperator ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted() ? Phase::Import : Phase::Linalg;
}

void setPhase(ModuleOp module, Phase phase) {
  module->setAttr(kPhase, StringAttr::get(module.getContext(), nameOf(phase)));
}

static LogicalResult runPhase(ModuleOp module, Phase phase, const CompileOptions &options) {
  PassManager pm(module.getContext());
  // Operators are verified again behind each pass: what is known of shapes by then is part of what a model is told.
  pm.enableVerifier(options.verifyEach || phase <= Phase::Linalg);
  switch (phase) {
  case Phase::Upgrade:
    buildUpgradePhase(pm, options);
    break;
  case Phase::Shapes:
    buildShapesPhase(pm, options);
    break;
  case Phase::Linalg:
    buildLinalgPhase(pm, options);
    break;
  case Phase::Fused:
    buildFusedPhase(pm, options);
    break;
  case Phase::Tiled:
    buildTiledPhase(pm, options);
    break;
  case Phase::Buffers:
    buildBuffersPhase(pm, options);
    break;
  case Phase::GPU:
    buildGPUPhase(pm, options);
    break;
  case Phase::Vector:
    buildVectorPhase(pm, options);
    break;
  case Phase::LLVM:
    buildLLVMPhase(pm, options);
    break;
  default:
    break;
  }
  return failed(pm.run(module)) ? failure() : verify(module);
}

/// For the explanation at the end: passes may leave nothing of a node.
static void rememberNodes(ModuleOp module) {
  SmallVector<StringRef> names;
  module.walk([&](Operation *op) {
    if (op->getNumResults() && !op->hasTrait<OpTrait::ConstantLike>())
      collectNodeNames(op->getLoc(), names);
  });
  module->setAttr(kNodes, Builder(module.getContext()).getStrArrayAttr(names));
}

LogicalResult lowerTo(ModuleOp module, Phase phase, const CompileOptions &options, const Progress &progress) {
  Phase current = phaseOf(module);
  if (phase < current)
    return module.emitError() << "the module is at phase '" << nameOf(current) << "' already, which is after '"
                              << nameOf(phase) << "'";
  if (phase == Phase::GPU && options.gpu.empty())
    return module.emitError("phase 'gpu' needs a GPU as the target: --target=cuda");
  if (options.explain && current == Phase::Import)
    rememberNodes(module);
  bool isOfCpu = llvm::is_contained({Precision::BF16, Precision::F16, Precision::INT8}, options.precision);
  if (isOfCpu && !options.gpu.empty())
    return module.emitError("precision '") << nameOf(options.precision) << "' is for the CPU; a GPU has 'tf32'";
  if (options.precision == Precision::TF32 && !llvm::StringRef(options.gpu).starts_with("sm_"))
    return module.emitError("precision 'tf32' needs an NVIDIA GPU as the target");
  if (options.precision == Precision::BF16)
    if (TargetFacts facts = describeTarget(options); !facts.bf16Tiles && !facts.bf16Dots)
      return module.emitError("precision 'bf16' needs a CPU with avx512bf16 (such as cooperlake, znver4 and, with the "
                              "matrix unit amx-bf16, sapphirerapids), which the target lacks");
  if (options.precision == Precision::F16 && !describeTarget(options).f16Loads)
    return module.emitError("precision 'f16' needs a CPU whose vectors load f16 (on x86 f16c, as haswell, znver1 and "
                            "later have it), which the target lacks");
  if (options.precision == Precision::INT8)
    if (TargetFacts facts = describeTarget(options); !facts.byteDots && !addsBytePairs(facts))
      return module.emitError("precision 'int8' needs a CPU whose vectors add products of bytes (avx2, as haswell, "
                              "znver1 and later have it; with vectors of 512 bits avx512vnni, as cascadelake, znver4 "
                              "and later), which the target lacks");
  if (options.tuning.mode != Tuning::Off && llvm::StringRef(options.gpu).starts_with("gfx"))
    return module.emitError("--tune measures kernels of the CPU and of NVIDIA's GPUs; nothing here runs those of ")
           << options.gpu;
  while (current < phase && current < Phase::LLVM) {
    current = static_cast<Phase>(static_cast<int>(current) + 1);
    if (current == Phase::GPU && phase != Phase::GPU && options.gpu.empty())
      continue;
    // What passes of the GPU ask for.
    bool isForDevice = current == Phase::Tiled || current == Phase::GPU;
    if (isForDevice && !options.gpu.empty())
      module->setAttr(kChip, StringAttr::get(module.getContext(), options.gpu));
    if (isForDevice && options.precision == Precision::TF32)
      module->setAttr(kTensorFloat, UnitAttr::get(module.getContext()));
    // From here on @main's attributes may go.
    if (current == Phase::Fused && failed(attachInterface(module)))
      return failure();
    // Kernels are functions on buffers then.
    if (current == (options.gpu.empty() ? Phase::Vector : Phase::GPU) && options.tuning.mode != Tuning::Off &&
        options.optLevel > 0 && failed(tuneKernels(module, options, progress)))
      return failure();
    if (progress)
      progress(nameOf(current), false, 0);
    auto start = std::chrono::steady_clock::now();
    if (current == Phase::LLVM && options.profile)
      insertProfiling(module);
    if (failed(runPhase(module, current, options)))
      return failure();
    if (current == Phase::Buffers && options.profile)
      noteWork(module);
    setPhase(module, current);
    std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (progress)
      progress(nameOf(current), true, time.count());
  }
  return success();
}

llvm::Error checkOptions(const CompileOptions &options) {
  llvm::StringRef name = options.modelName;
  auto inIdentifier = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  if (name.empty() || llvm::isDigit(name.front()) || !llvm::all_of(name, inIdentifier))
    return llvm::createStringError("the name '%s' is not a C identifier", name.str().c_str());
  if (options.optLevel > 3)
    return llvm::createStringError("the optimisation level is 0 to 3, not %u", options.optLevel);
  return createTargetMachine(options).takeError();
}

} // namespace strata
