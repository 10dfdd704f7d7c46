//===- Target.cpp - what code generation wants to know of the target ------===//
#include "Pipeline/CompileOptions.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"

using namespace strata;

CompileOptions strata::resolveTarget(CompileOptions options) {
  bool host = options.targetTriple.empty();
  if (host)
    options.targetTriple = llvm::sys::getDefaultTargetTriple();
  if (!host || !options.targetCPU.empty())
    return options;
  options.targetCPU = llvm::sys::getHostCPUName().str();
  llvm::SubtargetFeatures features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features.AddFeature(feature.first(), feature.second);
  std::string asked = options.targetFeatures;
  options.targetFeatures = features.getString();
  if (!asked.empty())
    options.targetFeatures += "," + asked;
  return options;
}

TargetFacts strata::describeTarget(const CompileOptions &given) {
  static const bool initialized = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    return true;
  }();
  (void)initialized;
  CompileOptions options = resolveTarget(given);
  TargetFacts facts;
  llvm::Triple triple(options.targetTriple);
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(options.targetTriple, error);
  if (!target)
    return facts;
  std::unique_ptr<llvm::MCSubtargetInfo> info(target->createMCSubtargetInfo(
      options.targetTriple, options.targetCPU, options.targetFeatures));
  if (!info)
    return facts;
  auto has = [&](const char *feature) { return info->checkFeatures(feature); };
  if (triple.isX86()) {
    facts.fma = has("+fma");
    if (has("+avx512f") && has("+avx512vl")) {
      facts.vectorBits = 512;
      facts.registers = 32;
    } else if (has("+avx2")) {
      facts.vectorBits = 256;
    }
  } else if (triple.isAArch64()) {
    facts.fma = true;
    facts.registers = 32;
  }
  return facts;
}
