//===- Target.cpp - what code generation wants to know of the target ------===//
#include "Codegen/Target.h"
#include "Pipeline/CompileOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCSchedule.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"

#include <cstdlib>
#include <unistd.h>

using namespace strata;

llvm::StringRef strata::emulatedCPU(const CompileOptions &options) {
  const char *name = std::getenv("STRATA_EMULATE_CPU");
  return name && options.targetTriple.empty() && options.targetCPU.empty() ? name : "";
}

CompileOptions strata::resolveTarget(CompileOptions options) {
  if (options.targetCPU == "native") // as none
    options.targetCPU.clear();
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

static constexpr llvm::StringLiteral formatNames[] = {"auto", "ptx", "cubin", "bitcode"};

llvm::StringRef strata::nameOf(GpuFormat format) { return formatNames[static_cast<int>(format)]; }

std::optional<GpuFormat> strata::parseGpuFormat(llvm::StringRef name) {
  for (auto [i, known] : llvm::enumerate(formatNames))
    if (name == known)
      return static_cast<GpuFormat>(i);
  return std::nullopt;
}

static constexpr llvm::StringLiteral precisionNames[] = {"f32", "bf16", "f16", "int8", "tf32"};

llvm::StringRef strata::nameOf(Precision precision) { return precisionNames[static_cast<int>(precision)]; }

std::optional<Precision> strata::parsePrecision(llvm::StringRef name) {
  for (auto [i, known] : llvm::enumerate(precisionNames))
    if (name == known)
      return static_cast<Precision>(i);
  return std::nullopt;
}

bool strata::parseTarget(llvm::StringRef target, CompileOptions &options) {
  auto [name, chip] = target.split(':');
  if (name == "cpu") {
    options.gpu.clear();
    return chip.empty();
  }
  // What LLVM 19 knows; sm_80 is the first with all instructions that kernels use.
  static constexpr llvm::StringLiteral nvidia[] = {"sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a"};
  static constexpr llvm::StringLiteral amd[] = {"gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100"};
  if (target == "cuda") {
    chip = nvidia[0];
    options.gpuFormat = GpuFormat::PTX; // any GPU: the driver compiles it for the one that is there
  }
  options.gpu = chip.str();
  return (name == "cuda" && llvm::is_contained(nvidia, chip)) || (name == "rocm" && llvm::is_contained(amd, chip));
}

/// What the operating system knows of the caches of this machine.
static void measureHost(TargetFacts &facts) {
  auto set = [](int64_t &field, int name) {
    if (long bytes = sysconf(name); bytes > 0)
      field = bytes;
  };
  set(facts.nearCacheBytes, _SC_LEVEL1_DCACHE_SIZE);
  set(facts.cacheBytes, _SC_LEVEL2_CACHE_SIZE);
  set(facts.lineBytes, _SC_LEVEL1_DCACHE_LINESIZE);
}

static unsigned opcodeOf(const llvm::MCInstrInfo &instructions, llvm::StringRef name) {
  unsigned opcode = 0;
  while (opcode < instructions.getNumOpcodes() && instructions.getName(opcode) != name)
    ++opcode;
  return opcode;
}

/// Whether LLVM's description of the CPU lets additions of 16-bit integers begin twice as often as products of pairs.
static bool hasSpareAdders(const llvm::MCSubtargetInfo &subtarget, const llvm::MCInstrInfo &instructions) {
  const llvm::MCSchedModel &model = subtarget.getSchedModel();
  // The same for every CPU: the tables are searched once.
  static const unsigned opcodes[] = {opcodeOf(instructions, "VPMADDWDYrr"), opcodeOf(instructions, "VPADDWYrr")};
  double cycles[2];
  for (auto [cycle, opcode] : llvm::zip(cycles, opcodes)) {
    if (!model.hasInstrSchedModel() || opcode == instructions.getNumOpcodes())
      return false;
    const llvm::MCSchedClassDesc *kind = model.getSchedClassDesc(instructions.get(opcode).getSchedClass());
    if (!kind->isValid() || kind->isVariant())
      return false;
    cycle = llvm::MCSchedModel::getReciprocalThroughput(subtarget, *kind);
  }
  return cycles[0] >= 2 * cycles[1];
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
  bool emulates = !emulatedCPU(given).empty();
  if (emulates) {
    options.targetCPU = emulatedCPU(given);
    options.targetFeatures = given.targetFeatures;
  }
  TargetFacts facts;
  // What the operating system knows of this machine holds for it alone.
  if (options.targetCPU == llvm::sys::getHostCPUName() && options.targetTriple == llvm::sys::getDefaultTargetTriple())
    measureHost(facts);
  llvm::Triple triple(options.targetTriple);
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(options.targetTriple, error);
  if (!target)
    return facts;
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target->createMCSubtargetInfo(options.targetTriple, options.targetCPU, options.targetFeatures));
  if (!info)
    return facts;
  auto has = [&](const char *feature) { return info->checkFeatures(feature); };
  if (triple.isX86()) {
    facts.fma = has("+fma");
    if (has("+avx512f") && has("+avx512vl")) {
      facts.vectorBits = 512;
      facts.powerScaling = !emulates;
      facts.registers = 32;
    } else if (has("+avx2")) {
      facts.vectorBits = 256;
    }
    // Wider ones have an instruction that truncates.
    facts.integerPacks = facts.vectorBits < 512;
    facts.gathers = facts.partLoads = has("+avx2");
    facts.f16Loads = has("+f16c") || has("+avx512f");
    bool tiles = has("+amx-tile") && facts.vectorBits == 512;
    facts.bf16Tiles = tiles && has("+amx-bf16") && has("+avx512bf16");
    facts.int8Tiles = tiles && has("+amx-int8");
    facts.byteDots = has("+avxvnni") || (has("+avx512vnni") && has("+avx512vl"));
    // Of the widest vectors.
    facts.pairDots = facts.vectorBits < 512 || has("+avx512bw");
    if (facts.vectorBits == 512 && !has("+avx512vnni"))
      facts.byteDots = false;
    facts.bf16Dots = facts.vectorBits == 512 && has("+avx512bf16");
    // Vectors of 512 bits in two halves. (LLVM says it of processors that have no halves, too.)
    if (facts.vectorBits == 512 && options.targetCPU == "znver4")
      facts.fmaPerCycle = 1;
    if (facts.vectorBits == 256) {
      std::unique_ptr<llvm::MCInstrInfo> instructions(target->createMCInstrInfo());
      facts.spareAdders = hasSpareAdders(*info, *instructions);
    }
  } else if (triple.isAArch64()) {
    facts.fma = true;
    facts.f16Loads = true;
    facts.registers = 32;
  }
  return facts;
}
