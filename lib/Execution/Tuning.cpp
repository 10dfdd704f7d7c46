//===- Tuning.cpp - plans of kernels chosen by measuring ------------------===//

#include "Tuning.h"
#include "MeasureKernel.h"
#include "Target.h"
#include "TuningFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <chrono>

using namespace mlir;

namespace strata {

namespace {
struct TunableKernel {
  func::FuncOp function;
  std::string key;
  std::string text; ///< for readers: its buffers
  double work;      ///< in a run of the model
};

/// How far from its start the tuning is.
class Stopwatch {
public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }

private:
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};
} // namespace

/// What the choice of a plan depends on besides the kernel. Sizes of caches are left out: a machine that compiles for
/// another one does not know them, and they differ with the CPU.
static std::string targetText(const CompileOptions &options, const TargetFacts &facts) {
  CompileOptions target = resolveTarget(options);
  return llvm::formatv("{0} {1}, vectors of {2} bits, {3} registers{4}{5}{6}{7}{8}",
                       llvm::Triple(target.targetTriple).getArchName(), target.targetCPU, facts.vectorBits,
                       facts.registers, facts.fma ? ", fma" : "", facts.byteDots ? ", byte dots" : "",
                       facts.pairDots ? ", pair dots" : "", facts.bf16Dots ? ", bf16 dots" : "",
                       options.threads ? "" : ", one thread")
      .str();
}

/// A hash of the target, the compiler and the kernel, whatever its name is.
static std::string keyOf(func::FuncOp kernel, llvm::StringRef target) {
  OwningOpRef<func::FuncOp> copy(kernel.clone());
  copy->setName("kernel");
  std::string text;
  llvm::raw_string_ostream os(text);
  os << target << "\nStrata " << strata_version() << "\n";
  (*copy)->print(os, OpPrintingFlags().useLocalScope());
  llvm::BLAKE3 hash;
  hash.update(os.str());
  return llvm::toHex(hash.final<16>(), /*LowerCase=*/true);
}

/// "37x100xf32, 5x100x16xf32, 37x70xf32"
static std::string buffersOf(func::FuncOp kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(kernel.getArgumentTypes(), os, [&](Type type) {
    auto buffer = cast<MemRefType>(type);
    for (int64_t size : buffer.getShape())
      os << size << 'x';
    os << buffer.getElementType();
  });
  return text;
}

/// The kernels of @main, those first that compute most. What the init function calls runs once.
static std::vector<TunableKernel> findTunableKernels(ModuleOp module, const CompileOptions &options,
                                                     const TargetFacts &facts, llvm::StringRef target) {
  llvm::StringMap<unsigned> calls;
  if (auto main = module.lookupSymbol<func::FuncOp>("main"))
    main.walk([&](func::CallOp call) { ++calls[call.getCallee()]; });
  std::vector<TunableKernel> kernels;
  for (auto kernel : module.getOps<func::FuncOp>()) {
    unsigned count = kernel->hasAttr("strata.kernel") ? calls.lookup(kernel.getName()) : 0;
    if (!count)
      continue;
    double work = 0;
    for (const TunableNest &nest : findTunableNests(kernel, facts, options.threads))
      work += nest.work * count;
    if (work)
      kernels.push_back({kernel, keyOf(kernel, target), buffersOf(kernel), work});
  }
  llvm::stable_sort(kernels, [](auto &a, auto &b) { return a.work > b.work; });
  return kernels;
}

/// False if the plans are of another number of nests.
static bool apply(func::FuncOp kernel, ArrayRef<PlanChoice> plans, const CompileOptions &options,
                  const TargetFacts &facts) {
  SmallVector<TunableNest> nests = findTunableNests(kernel, facts, options.threads);
  if (nests.size() != plans.size())
    return false;
  // What the model chooses anyway need not be said.
  for (auto [nest, plan] : llvm::zip(nests, plans))
    if (!(nest.choice == plan))
      setPlanChoice(nest.reduction, plan);
  return true;
}

/// Goes, nest by nest, from the model's choice to its best neighbour, and on from there.
static FailureOr<TuningResult> measure(func::FuncOp kernel, const CompileOptions &options, const TargetFacts &facts) {
  constexpr unsigned mostSteps = 3;
  constexpr double secondsPerStep = 1;
  TuningResult result;
  unsigned count = findTunableNests(kernel, facts, options.threads).size();
  OwningOpRef<func::FuncOp> best(kernel.clone());
  for (unsigned number = 0; number < count; ++number) {
    for (unsigned step = 0; step < mostSteps; ++step) {
      TunableNest nest = findTunableNests(*best, facts, options.threads)[number];
      // Every form is a copy with another plan of this nest; the first one is what there is.
      SmallVector<func::FuncOp> forms{*best};
      std::vector<OwningOpRef<func::FuncOp>> copies;
      for (const PlanChoice &choice : nest.alternatives) {
        setPlanChoice(nest.reduction, choice);
        forms.push_back(*copies.emplace_back(best->clone()));
      }
      setPlanChoice(nest.reduction, nest.choice);
      FailureOr<Measured> measured = measureForms(forms, options, secondsPerStep);
      if (failed(measured))
        return failure();
      // The machine may have become slower from step to step: what counts are ratios.
      if (result.before == 0)
        result.before = result.after = measured->before / 1e3;
      result.after *= measured->after / measured->before;
      if (measured->fastest == 0)
        break;
      best = std::move(copies[measured->fastest - 1]);
    }
  }
  for (const TunableNest &nest : findTunableNests(*best, facts, options.threads))
    result.plans.push_back(nest.choice);
  return result;
}

/// Whether what is measured here says something about the code.
static bool isForThisMachine(const CompileOptions &options) {
  CompileOptions target = resolveTarget(options);
  auto machine = createTargetMachine(options);
  if (!machine) {
    llvm::consumeError(machine.takeError());
    return false;
  }
  return (target.targetCPU == llvm::sys::getHostCPUName() || target.targetCPU == "native") && runsOnHost(**machine);
}

LogicalResult tuneKernels(ModuleOp module, const CompileOptions &options, const Progress &progress) {
  auto fail = [&](llvm::Error error) { return module.emitError(llvm::toString(std::move(error))); };
  const Tuning &tuning = options.tuning;
  std::string path = tuning.file.empty() ? defaultTuningFile() : tuning.file;
  Stopwatch watch;
  auto known = readTuningFile(path);
  if (!known)
    return fail(known.takeError());
  TargetFacts facts = describeTarget(options);
  std::string target = targetText(options, facts);
  std::vector<TunableKernel> unknown;
  unsigned found = 0;
  for (TunableKernel &kernel : findTunableKernels(module, options, facts, target)) {
    auto result = known->find(kernel.key);
    if (result != known->end() && apply(kernel.function, result->second.plans, options, facts))
      ++found;
    else
      unknown.push_back(std::move(kernel));
  }
  if (!unknown.empty() && tuning.mode == Tuning::Measure && !isForThisMachine(options)) {
    std::string missing = llvm::formatv("'{0}' has no results for {1} ({2})", path, target,
                                        found ? std::to_string(unknown.size()) + " of " +
                                                    std::to_string(unknown.size() + found) + " kernels"
                                              : "any of " + std::to_string(unknown.size()) + " kernels");
    if (!found) {
      InFlightDiagnostic error =
          module.emitError("--tune cannot measure code for another CPU than this machine's, and ") << missing;
      error.attachNote() << "--tune on such a machine, with --tuning-file=FILE, makes them; the first kernel's key is "
                         << unknown.front().key;
      return error;
    }
    module.emitWarning(missing);
    unknown.clear();
  }
  if (tuning.mode != Tuning::Measure)
    return success();

  TuningResults results;
  unsigned faster = 0, left = 0;
  for (auto [number, kernel] : llvm::enumerate(unknown)) {
    if (watch.seconds() > tuning.seconds) {
      ++left;
      continue;
    }
    Stopwatch each;
    std::string what = llvm::formatv("tune kernel {0} of {1}", number + 1, unknown.size());
    if (progress)
      progress(what, false, 0);
    FailureOr<TuningResult> result = measure(kernel.function, options, facts);
    if (failed(result))
      return failure();
    result->kernel = kernel.text;
    result->target = target;
    apply(kernel.function, result->plans, options, facts);
    faster += result->after < result->before;
    if (progress)
      progress(llvm::formatv("{0} ({1}): {2:f1} to {3:f1} us", what, kernel.text, result->before, result->after).str(),
               true, each.seconds());
    results[kernel.key] = std::move(*result);
  }
  if (!results.empty())
    if (llvm::Error error = addToTuningFile(path, results))
      return fail(std::move(error));
  if (progress && (found || !unknown.empty()))
    progress(llvm::formatv("tune: {0} kernels measured, {1} of them faster now, {2} found, {3} left for want of time; "
                           "results in '{4}'",
                           results.size(), faster, found, left, path)
                 .str(),
             true, watch.seconds());
  return success();
}

} // namespace strata
