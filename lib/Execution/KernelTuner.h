//===- KernelTuner.h - what may be chosen of a kind of kernels --*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_KERNELTUNER_H
#define STRATA_LIB_EXECUTION_KERNELTUNER_H

#include "Pipeline/CompileOptions.h"
#include "TuningFile.h"
#include <memory>

namespace strata {

/// The kernels of one target: those of the CPU, or of a GPU. What they have in common is in Tuning.cpp.
class KernelTuner {
public:
  virtual ~KernelTuner() = default;

  /// What the choice of a plan depends on besides the kernel.
  virtual std::string target() const = 0;
  /// What one call of the kernel computes; 0 where nothing may be chosen of it.
  virtual double workOf(mlir::func::FuncOp kernel) = 0;
  /// False if the result is of another kernel.
  virtual bool apply(mlir::func::FuncOp kernel, const TuningResult &result) = 0;
  /// Why nothing can be measured here, as the end of a sentence that begins with "--tune cannot measure"; empty if it
  /// can.
  virtual std::string whyNotHere() = 0;
  /// Measures; the kernel stays as it is. Failures are diagnostics.
  virtual mlir::FailureOr<TuningResult> measure(mlir::func::FuncOp kernel) = 0;

  /// The result for a kernel, by the hash of what `target` says and of its text; null if there is none.
  virtual const TuningResult *find(const TuningResults &known, llvm::StringRef hash) {
    auto found = known.find(hash);
    return found == known.end() ? nullptr : &found->getValue();
  }
  /// Where a new result is kept.
  virtual std::string keyOf(llvm::StringRef hash) { return hash.str(); }
  /// Whether one result of the model's kernels is better than none where nothing can be measured.
  virtual bool takesSome() const { return true; }
};

/// So often a tuner goes on from the fastest of several forms to its neighbours.
inline constexpr unsigned kMostTuningSteps = 3;

/// Measures a kernel and other forms of it; `best` becomes the fastest one, and the result's times go on by what that
/// gains. Which form it was, or none if nothing is faster by more than the noise. Failures are diagnostics.
mlir::FailureOr<std::optional<size_t>> goToFastest(mlir::OwningOpRef<mlir::func::FuncOp> &best,
                                                   std::vector<mlir::OwningOpRef<mlir::func::FuncOp>> others,
                                                   const CompileOptions &options, TuningResult &result);

std::unique_ptr<KernelTuner> makeHostTuner(const CompileOptions &options);
std::unique_ptr<KernelTuner> makeDeviceTuner(const CompileOptions &options);

} // namespace strata

#endif // STRATA_LIB_EXECUTION_KERNELTUNER_H
