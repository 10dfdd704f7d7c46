//===- Tuning.cpp - plans of kernels chosen by measuring ------------------===//

#include "Tuning.h"
#include "KernelTuner.h"
#include "MeasureKernel.h"
#include "Runtime/strata.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>

using namespace mlir;

namespace strata {

namespace {
struct TunableKernel {
  func::FuncOp function;
  std::string hash;
  double work; ///< in a run of the model
};

/// How far from its start the tuning is.
class Stopwatch {
public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }

private:
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};
} // namespace

/// Of the target, the compiler and the kernel, whatever its name is.
static std::string hashOf(func::FuncOp kernel, llvm::StringRef target) {
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

/// For readers: "37x100xf32, 5x100x16xf32, 37x70xf32".
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
static std::vector<TunableKernel> findTunableKernels(ModuleOp module, KernelTuner &tuner) {
  llvm::StringMap<unsigned> calls;
  if (auto main = module.lookupSymbol<func::FuncOp>("main"))
    main.walk([&](func::CallOp call) { ++calls[call.getCallee()]; });
  std::string target = tuner.target();
  std::vector<TunableKernel> kernels;
  for (auto kernel : module.getOps<func::FuncOp>()) {
    unsigned count = kernel->hasAttr("strata.kernel") ? calls.lookup(kernel.getName()) : 0;
    if (double work = count ? tuner.workOf(kernel) * count : 0)
      kernels.push_back({kernel, hashOf(kernel, target), work});
  }
  llvm::stable_sort(kernels, [](auto &a, auto &b) { return a.work > b.work; });
  return kernels;
}

LogicalResult tuneKernels(ModuleOp module, const CompileOptions &options, const Progress &progress) {
  auto fail = [&](llvm::Error error) { return module.emitError(llvm::toString(std::move(error))); };
  const Tuning &tuning = options.tuning;
  std::string path = tuning.file.empty() ? defaultTuningFile() : tuning.file;
  Stopwatch watch;
  auto known = readTuningFile(path);
  if (!known)
    return fail(known.takeError());
  std::unique_ptr<KernelTuner> tuner = options.gpu.empty() ? makeHostTuner(options) : makeDeviceTuner(options);
  std::string target = tuner->target();
  std::vector<TunableKernel> unknown;
  unsigned found = 0;
  for (TunableKernel &kernel : findTunableKernels(module, *tuner)) {
    const TuningResult *result = tuner->find(*known, kernel.hash);
    if (result && tuner->apply(kernel.function, *result))
      ++found;
    else
      unknown.push_back(std::move(kernel));
  }
  std::string whyNot = !unknown.empty() && tuning.mode == Tuning::Measure ? tuner->whyNotHere() : "";
  if (!whyNot.empty()) {
    std::string missing = llvm::formatv("'{0}' has no results for {1} ({2})", path, target,
                                        found ? std::to_string(unknown.size()) + " of " +
                                                    std::to_string(unknown.size() + found) + " kernels"
                                              : "any of " + std::to_string(unknown.size()) + " kernels");
    if (!found || !tuner->takesSome()) {
      InFlightDiagnostic error = module.emitError("--tune cannot measure ") << whyNot << ", and " << missing;
      error.attachNote() << "--tune on such a machine, with --tuning-file=FILE, makes them; the first kernel's key is "
                         << unknown.front().hash;
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
    std::string buffers = buffersOf(kernel.function), key = tuner->keyOf(kernel.hash);
    FailureOr<TuningResult> result = tuner->measure(kernel.function);
    if (failed(result))
      return failure();
    result->kernel = buffers;
    result->target = target;
    tuner->apply(kernel.function, *result);
    faster += result->after < result->before;
    if (progress)
      progress(llvm::formatv("{0} ({1}): {2:f1} to {3:f1} us", what, buffers, result->before, result->after).str(),
               true, each.seconds());
    results[key] = std::move(*result);
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

FailureOr<std::optional<size_t>> goToFastest(OwningOpRef<func::FuncOp> &best,
                                             std::vector<OwningOpRef<func::FuncOp>> others,
                                             const CompileOptions &options, TuningResult &result) {
  constexpr double seconds = 1;
  SmallVector<func::FuncOp> forms{*best};
  for (const OwningOpRef<func::FuncOp> &other : others)
    forms.push_back(*other);
  FailureOr<Measured> measured = measureForms(forms, options, seconds);
  if (failed(measured))
    return failure();
  // The machine may have become slower from step to step: what counts are ratios.
  if (result.before == 0)
    result.before = result.after = measured->before / 1e3;
  result.after *= measured->after / measured->before;
  if (measured->fastest == 0)
    return std::optional<size_t>();
  size_t taken = measured->fastest - 1;
  best = std::move(others[taken]);
  return std::optional<size_t>(taken);
}

} // namespace strata
