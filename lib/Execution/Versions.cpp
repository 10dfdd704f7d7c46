//===- Versions.cpp - versions of a model for known sizes -----------------===//

#include "Codegen/ShareConstants.h"
#include "Dialect/ONNX/Transforms/Passes.h"
#include "Execution/Specialize.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace strata {

llvm::Expected<std::vector<ShapeSet>> parseShapeSets(llvm::ArrayRef<std::string> sets) {
  std::vector<ShapeSet> result;
  for (llvm::StringRef text : sets) {
    SmallVector<llvm::StringRef> sizes;
    text.split(sizes, ',', -1, /*KeepEmpty=*/!text.empty());
    llvm::Expected<ShapeSet> set = parseShapeSet(sizes);
    if (!set)
      return set.takeError();
    result.push_back(std::move(*set));
  }
  return result;
}

static std::string describe(const ShapeSet &set) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(set, os, [&](const auto &entry) { os << entry.first << "=" << entry.second; });
  return text;
}

static size_t knownSizes(const VersionModule &version) {
  size_t count = 0;
  for (const std::vector<int64_t> &shape : version.shapes)
    count += llvm::count_if(shape, [](int64_t size) { return size >= 0; });
  return count;
}

LogicalResult prepareForVersions(ModuleOp module, const CompileOptions &options) {
  if (!options.gpu.empty())
    return module.emitError("versions for known sizes are for the CPU, not for a GPU");
  if (phaseOf(module) != Phase::Import)
    return module.emitError() << "a model can have versions for known sizes as long as it has its operators; this one "
                                 "is at phase '"
                              << nameOf(phaseOf(module)) << "'";
  // A version's results take the place of the general code's, which have the ranks that are assumed for all sizes.
  WalkResult open = module.walk([](Operation *op) {
    return llvm::any_of(op->getResultTypes(), llvm::IsaPred<UnrankedTensorType>) ? WalkResult::interrupt()
                                                                                 : WalkResult::advance();
  });
  if (!open.wasInterrupted())
    return success();
  PassManager passes(module.getContext());
  passes.addPass(createInferShapesPass({/*assumeRanks=*/true}));
  return passes.run(module);
}

FailureOr<std::vector<VersionModule>> makeVersions(ModuleOp module, ArrayRef<ShapeSet> sets,
                                                   const CompileOptions &options) {
  std::vector<VersionModule> versions;
  if (sets.empty())
    return versions;
  if (failed(prepareForVersions(module, options)))
    return failure();
  for (const ShapeSet &set : sets) {
    FailureOr<InputShapes> shapes = shapesFor(module, set);
    if (failed(shapes))
      return failure();
    for (const VersionModule &other : versions)
      if (other.shapes == *shapes)
        return module.emitError() << "two sets of sizes say the same: " << other.sizes;
    versions.push_back({module.clone(), *shapes, describe(set)});
    specializeInputs(*versions.back().module, *shapes);
  }
  llvm::stable_sort(versions,
                    [](const VersionModule &a, const VersionModule &b) { return knownSizes(a) > knownSizes(b); });
  return versions;
}

LogicalResult lowerVersion(ModuleOp module, const CompileOptions &options, llvm::function_ref<bool(StringRef)> known,
                           const Progress &progress, llvm::function_ref<bool()> stop) {
  for (Phase phase : {Phase::Linalg, Phase::Tiled, Phase::Buffers, Phase::LLVM}) {
    if (failed(lowerTo(module, phase, options, progress)) || (stop && stop()))
      return failure();
    if (phase == Phase::Tiled)
      shareConstants(module, known);
  }
  return success();
}

Progress progressOf(const Progress &progress, const std::string &sizes) {
  if (!progress || sizes.empty())
    return progress;
  return [progress, sizes](llvm::StringRef phase, bool ended, double seconds) {
    progress((phase + " of " + sizes).str(), ended, seconds);
  };
}

bool hasUnknownSizes(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  return main && llvm::any_of(main.getArgumentTypes(), [](Type type) {
           auto shaped = dyn_cast<RankedTensorType>(type);
           return shaped && !shaped.hasStaticShape();
         });
}

} // namespace strata
