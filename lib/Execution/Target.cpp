//===- Target.cpp - LLVM's description of the target ----------------------===//

#include "Target.h"
#include "Runtime/strata.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace llvm;

namespace strata {

static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeAllTargetInfos();
    InitializeAllTargets();
    InitializeAllTargetMCs();
    InitializeAllAsmPrinters();
    InitializeAllAsmParsers();
  });
}

/// An unknown CPU or feature makes LLVM print a warning and go on; a user
/// should rather hear about the typing error.
static Error checkNames(const Target &target, const Triple &triple, StringRef cpu, const SubtargetFeatures &features) {
  std::unique_ptr<MCSubtargetInfo> info(target.createMCSubtargetInfo(triple.str(), "", ""));
  if (!cpu.empty() && cpu != "generic" && !info->isCPUStringValid(cpu))
    return createStringError("unknown CPU '%s' for %s", cpu.str().c_str(), triple.getArchName().str().c_str());
  for (const std::string &feature : features.getFeatures()) {
    StringRef name = SubtargetFeatures::StripFlag(feature);
    if (none_of(info->getAllProcessorFeatures(), [&](const SubtargetFeatureKV &kv) { return name == kv.Key; }))
      return createStringError("unknown feature '%s' for %s", name.str().c_str(), triple.getArchName().str().c_str());
  }
  return Error::success();
}

Expected<std::unique_ptr<TargetMachine>> createTargetMachine(const CompileOptions &options) {
  initializeTargets();
  Triple triple(options.targetTriple.empty() ? sys::getProcessTriple() : Triple::normalize(options.targetTriple));
  bool isHostArch = triple.getArch() == Triple(sys::getProcessTriple()).getArch();
  std::string cpu = options.targetCPU;
  SubtargetFeatures features;
  if (cpu == "native" || (cpu.empty() && options.targetTriple.empty())) {
    if (!isHostArch)
      return createStringError("the CPU of this machine cannot be meant for %s", triple.str().c_str());
    cpu = sys::getHostCPUName().str();
    // The name may miss what a virtual machine hides, or claim what it lacks.
    for (const auto &feature : sys::getHostCPUFeatures())
      features.AddFeature(feature.getKey(), feature.getValue());
  } else if (cpu.empty()) {
    cpu = "generic";
  }
  if (triple.isX86())
    features.AddFeature("prefer-256-bit", false);
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple.str(), message);
  if (!target)
    return createStringError(message.c_str());
  SubtargetFeatures given(options.targetFeatures);
  if (Error error = checkNames(*target, triple, cpu, given))
    return std::move(error);
  if (Error error = checkNames(*target, triple, emulatedCPU(options), SubtargetFeatures()))
    return std::move(error);
  features.addFeaturesVector(given.getFeatures());
  auto level = static_cast<CodeGenOptLevel>(std::min(options.optLevel, 3u));
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple.str(), cpu, features.getString(), TargetOptions(), Reloc::PIC_, std::nullopt, level));
  if (!machine)
    return createStringError("LLVM cannot make code for '%s'", triple.str().c_str());
  return std::move(machine);
}

std::string describe(const TargetMachine &machine, const CompileOptions &options) {
  // x86's instruction sets by LLVM's names; others have no line.
  static const char *const sets[] = {
      "sse3",       "ssse3",       "sse4.1",     "sse4.2",     "popcnt",   "movbe",      "avx",
      "f16c",       "fma",         "bmi",        "bmi2",       "avx2",     "avxvnni",    "gfni",
      "avx512f",    "avx512cd",    "avx512bw",   "avx512dq",   "avx512vl", "avx512ifma", "avx512vbmi",
      "avx512vnni", "avx512vbmi2", "avx512bf16", "avx512fp16", "amx-tile", "amx-int8",   "amx-bf16"};
  std::string text = std::string("compiler: Strata ") + strata_version() + "\n";
  text += "triple: " + machine.getTargetTriple().str() + "\n";
  text += "cpu: " + machine.getTargetCPU().str() + "\n";
  if (!options.gpu.empty())
    text += "gpu: " + options.gpu + "\n";
  if (!machine.getTargetTriple().isX86())
    return text;
  SmallVector<StringRef> needs;
  for (const char *set : sets)
    if (machine.getMCSubtargetInfo()->checkFeatures(std::string("+") + set))
      needs.push_back(set);
  if (!needs.empty())
    text += "needs: " + join(needs, ",") + "\n";
  return text;
}

Error checkRuntime(const CompileOptions &options) {
  if (!StringRef(options.gpu).starts_with("gfx"))
    return Error::success();
  return createStringError("the runtime cannot run kernels of AMD's GPUs (%s): --emit=kernels writes them to a file",
                           options.gpu.c_str());
}

bool runsOnHost(const TargetMachine &machine) {
  const Triple &triple = machine.getTargetTriple();
  if (triple.getArch() != Triple(sys::getProcessTriple()).getArch() || !triple.isOSLinux())
    return false;
  // What the target may use must not be what the host lacks.
  const MCSubtargetInfo *target = machine.getMCSubtargetInfo();
  for (const auto &feature : sys::getHostCPUFeatures())
    if (!feature.getValue() && target->checkFeatures("+" + feature.getKey().str()))
      return false;
  return true;
}

} // namespace strata
