//===- Codegen.cpp - LLVM dialect to object code --------------------------===//

#include "Codegen.h"
#include "EmulateInstructions.h"
#include "PromoteTiles.h"
#include "ShareStarts.h"
#include "Target.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/MergeFunctions.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;

namespace strata {

/// Loops whose sums fill most of the registers, and which multiply them with one number each: LLVM would unroll short
/// ones, keep the numbers of several steps, and spill.
static void keepTiles(LoopInfo &loops, const TargetTransformInfo &costs) {
  unsigned registers = costs.getNumberOfRegisters(costs.getRegisterClassForType(/*Vector=*/true));
  for (Loop *loop : loops.getLoopsInPreorder()) {
    auto isSum = [](PHINode &phi) { return phi.getType()->isVectorTy(); };
    auto isNumber = [](Instruction &instruction) {
      auto *shuffle = dyn_cast<ShuffleVectorInst>(&instruction);
      return shuffle && shuffle->isZeroEltSplat();
    };
    auto spreads = [&](BasicBlock *block) { return any_of(*block, isNumber); };
    if (2 * count_if(loop->getHeader()->phis(), isSum) > registers && any_of(loop->blocks(), spreads))
      loop->setLoopAlreadyUnrolled();
  }
}

/// The instructions of a loop if it and those inside were unrolled completely. Where that is too many, a loop around
/// others is marked as one that stays: LLVM takes a row that is filled for one instruction, unrolls the nest around it,
/// and schedules thousands of stores as one block, which takes the second power of their number.
static uint64_t keepNests(Loop &loop, ScalarEvolution &counts) {
  constexpr uint64_t most = 1024;
  uint64_t instructions = 0;
  for (BasicBlock *block : loop.blocks())
    instructions += block->size();
  for (Loop *inner : loop) {
    for (BasicBlock *block : inner->blocks())
      instructions -= block->size();
    instructions = SaturatingAdd(instructions, keepNests(*inner, counts));
  }
  instructions = SaturatingMultiply<uint64_t>(instructions, std::max(1u, counts.getSmallConstantTripCount(&loop)));
  if (!loop.isInnermost() && instructions > most)
    loop.setLoopAlreadyUnrolled();
  return instructions;
}

/// Marks loops that LLVM should not unroll.
static void keepLoops(Function &function, TargetMachine &machine) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  if (loops.empty())
    return;
  keepTiles(loops, machine.getTargetTransformInfo(function));
  TargetLibraryInfoImpl library(machine.getTargetTriple());
  TargetLibraryInfo functions(library, &function);
  AssumptionCache assumptions(function);
  ScalarEvolution counts(function, functions, assumptions, dominators, loops);
  for (Loop *loop : loops)
    keepNests(*loop, counts);
}

/// A call is nothing beside a kernel; one function of all kernels would take LLVM far longer than the kernels one by
/// one. What is as small as a call is inlined before the module is cut into parts, unless there are very many calls.
static void chooseInlined(Module &module) {
  constexpr unsigned instructions = 50, instructionsInAll = 5000;
  SmallVector<Function *> small;
  unsigned inlined = 0;
  for (Function &function : module) {
    if (function.isDeclaration() || !function.hasLocalLinkage())
      continue;
    unsigned count = function.getInstructionCount();
    if (function.size() == 1 && count <= instructions) {
      small.push_back(&function);
      inlined += count * function.getNumUses();
    } else {
      function.addFnAttr(Attribute::NoInline);
    }
  }
  for (Function *function : small)
    function->addFnAttr(inlined <= instructionsInAll ? Attribute::AlwaysInline : Attribute::NoInline);
}

mlir::FailureOr<std::unique_ptr<Module>> translateToLLVM(mlir::ModuleOp module, LLVMContext &context,
                                                         TargetMachine &machine, const CompileOptions &options) {
  std::unique_ptr<Module> result = mlir::translateModuleToLLVMIR(module, context, options.modelName);
  if (!result)
    return mlir::failure();
  result->setTargetTriple(machine.getTargetTriple().str());
  result->setDataLayout(machine.createDataLayout());
  result->setPICLevel(PICLevel::BigPIC);
  for (Function &function : *result) {
    if (function.isDeclaration())
      continue;
    // Every function says its target, so that LLVM's cost models see it.
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    if (machine.getTargetTriple().isX86())
      function.addFnAttr("prefer-vector-width", "512");
    function.setDoesNotThrow();
    if (Error error = checkTiles(function))
      return module.emitError(toString(std::move(error)));
    if (emulatedCPU(options).empty())
      promoteTiles(function);
    else
      emulateInstructions(function);
    keepLoops(function, machine);
  }
  chooseInlined(*result);
  if (GlobalVariable *table = result->getNamedGlobal(options.modelName + "_constants")) {
    table->setInitializer(nullptr);
    table->setLinkage(GlobalValue::ExternalLinkage);
    // Through the GOT: the JIT's table may be anywhere.
    table->setVisibility(GlobalValue::DefaultVisibility);
    table->setDSOLocal(false);
    table->setConstant(true);
  }
  std::string message;
  raw_string_ostream os(message);
  if (verifyModule(*result, &os))
    return module.emitError("the LLVM IR is not valid: ") << message;
  return result;
}

namespace {
/// LLVM's pass manager with its analyses, for one module.
struct Optimizer {
  explicit Optimizer(TargetMachine &machine, unsigned level) : builder(&machine) {
    static const OptimizationLevel levels[] = {OptimizationLevel::O0, OptimizationLevel::O1, OptimizationLevel::O2,
                                               OptimizationLevel::O3};
    this->level = levels[std::min(level, 3u)];
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(sccs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, sccs, modules);
  }

  /// What has to see the whole module.
  void merge(Module &module) {
    ModulePassManager passes;
    if (level == OptimizationLevel::O0) {
      passes = builder.buildO0DefaultPipeline(level);
    } else {
      // Layers of equal shape have equal kernels; once is enough.
      passes.addPass(MergeFunctionsPass());
      passes.addPass(AlwaysInlinerPass());
      passes.addPass(GlobalDCEPass());
    }
    passes.run(module, modules);
  }

  /// What works function by function, or nearly so.
  void optimize(Module &module) {
    if (level == OptimizationLevel::O0)
      return;
    builder.buildModuleSimplificationPipeline(level, ThinOrFullLTOPhase::None).run(module, modules);
    builder.buildModuleOptimizationPipeline(level, ThinOrFullLTOPhase::None).run(module, modules);
    FunctionPassManager addresses;
    addresses.addPass(LoopSimplifyPass());
    addresses.addPass(ShareStartsPass());
    createModuleToFunctionPassAdaptor(std::move(addresses)).run(module, modules);
  }

  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager sccs;
  ModuleAnalysisManager modules;
  PassBuilder builder;
  OptimizationLevel level;
};
} // namespace

void optimize(Module &module, TargetMachine &machine, unsigned level) {
  Optimizer optimizer(machine, level);
  optimizer.merge(module);
  optimizer.optimize(module);
}

Error emitCode(Module &module, TargetMachine &machine, CodeGenFileType type, raw_pwrite_stream &os) {
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, os, nullptr, type))
    return createStringError("LLVM cannot write this kind of file for %s", machine.getTargetTriple().str().c_str());
  passes.run(module);
  return Error::success();
}

using Object = std::unique_ptr<MemoryBuffer>;

static Expected<Object> emitObject(Module &module, TargetMachine &machine) {
  SmallVector<char, 0> bytes;
  raw_svector_ostream os(bytes);
  if (Error error = emitCode(module, machine, CodeGenFileType::ObjectFile, os))
    return std::move(error);
  return std::make_unique<SmallVectorMemoryBuffer>(std::move(bytes), module.getName(),
                                                   /*RequiresNullTerminator=*/false);
}

/// The module as bitcode of parts of about equal size, the largest function in the first. What is local becomes visible
/// to the other parts, under a name that two models in one program do not share.
static std::vector<SmallVector<char, 0>> split(Module &module, unsigned count, StringRef modelName) {
  for (GlobalObject &global : module.global_objects())
    if (global.hasLocalLinkage()) {
      global.setName(modelName + "." + (global.hasName() ? global.getName() : "data"));
      global.setLinkage(GlobalValue::ExternalLinkage);
      global.setVisibility(GlobalValue::HiddenVisibility);
    }
  std::vector<std::pair<unsigned, const Function *>> functions;
  for (const Function &function : module)
    if (!function.isDeclaration())
      functions.emplace_back(function.getInstructionCount(), &function);
  stable_sort(functions, [](const auto &a, const auto &b) { return a.first > b.first; });
  // The largest of those that are left to the part with the least; data is in the first.
  DenseMap<const GlobalValue *, unsigned> partOf;
  std::vector<unsigned> sizes(count);
  for (auto [size, function] : functions) {
    unsigned to = std::min_element(sizes.begin(), sizes.end()) - sizes.begin();
    partOf[function] = to;
    sizes[to] += size;
  }
  std::vector<SmallVector<char, 0>> parts(count);
  for (unsigned i = 0; i < count; ++i) {
    ValueToValueMapTy mapping;
    auto isHere = [&](const GlobalValue *value) { return partOf.lookup(value) == i; };
    std::unique_ptr<Module> part = CloneModule(module, mapping, isHere);
    for (Function &function : make_early_inc_range(*part))
      if (function.isDeclaration() && function.use_empty())
        function.eraseFromParent();
    raw_svector_ostream os(parts[i]);
    WriteBitcodeToFile(*part, os);
  }
  return parts;
}

static Expected<Object> compilePart(ArrayRef<char> bitcode, const CompileOptions &options) {
  auto machine = createTargetMachine(options);
  if (!machine)
    return machine.takeError();
  LLVMContext context;
  auto module =
      parseBitcodeFile(MemoryBufferRef(StringRef(bitcode.data(), bitcode.size()), options.modelName), context);
  if (!module)
    return module.takeError();
  Optimizer(**machine, options.optLevel).optimize(**module);
  return emitObject(**module, **machine);
}

Expected<std::vector<Object>> compileToObjects(std::unique_ptr<Module> module, const CompileOptions &options,
                                               const std::atomic<bool> *stop) {
  // Below this a second part costs more than it gains.
  constexpr unsigned instructionsPerPart = 2500;
  auto machine = createTargetMachine(options);
  if (!machine)
    return machine.takeError();
  Optimizer(**machine, options.optLevel).merge(*module);
  unsigned threads = hardware_concurrency().compute_thread_count();
  // More parts than threads, because they are not equally large.
  unsigned count = std::min(module->getInstructionCount() / instructionsPerPart, 4 * threads);
  std::vector<Object> objects;
  if (count <= 1 || threads == 1) {
    Optimizer(**machine, options.optLevel).optimize(*module);
    auto object = emitObject(*module, **machine);
    if (!object)
      return object.takeError();
    objects.push_back(std::move(*object));
    return objects;
  }
  std::vector<SmallVector<char, 0>> parts = split(*module, count, options.modelName);
  module.reset();
  objects.resize(parts.size());
  std::vector<std::string> errors(parts.size());
  DefaultThreadPool pool;
  for (size_t i = 0; i < parts.size(); ++i)
    pool.async([&, i] {
      if (stop && *stop) {
        errors[i] = "compiling was stopped";
        return;
      }
      auto object = compilePart(parts[i], options);
      if (object)
        objects[i] = std::move(*object);
      else
        errors[i] = toString(object.takeError());
    });
  pool.wait();
  for (const std::string &error : errors)
    if (!error.empty())
      return createStringError("%s", error.c_str());
  return objects;
}

} // namespace strata
