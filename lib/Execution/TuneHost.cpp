//===- TuneHost.cpp - plans of the CPU's kernels --------------------------===//

#include "KernelTuner.h"
#include "Target.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace strata {

namespace {
class HostTuner : public KernelTuner {
public:
  explicit HostTuner(const CompileOptions &options) : options(options), facts(describeTarget(options)) {}

  /// Sizes of caches are left out: a machine that compiles for another one does not know them, and they differ with the
  /// CPU.
  std::string target() const override {
    CompileOptions target = resolveTarget(options);
    return llvm::formatv("{0} {1}, vectors of {2} bits, {3} registers{4}{5}{6}{7}{8}",
                         llvm::Triple(target.targetTriple).getArchName(), target.targetCPU, facts.vectorBits,
                         facts.registers, facts.fma ? ", fma" : "", facts.byteDots ? ", byte dots" : "",
                         facts.pairDots ? ", pair dots" : "", facts.bf16Dots ? ", bf16 dots" : "",
                         options.threads ? "" : ", one thread")
        .str();
  }

  double workOf(func::FuncOp kernel) override {
    double work = 0;
    for (const TunableNest &nest : nestsOf(kernel))
      work += nest.work;
    return work;
  }

  /// False if the plans are of another number of nests.
  bool apply(func::FuncOp kernel, const TuningResult &result) override {
    SmallVector<TunableNest> nests = nestsOf(kernel);
    if (nests.size() != result.plans.size())
      return false;
    // What the model chooses anyway need not be said.
    for (auto [nest, plan] : llvm::zip(nests, result.plans))
      if (!(nest.choice == plan))
        setPlanChoice(nest.reduction, plan);
    return true;
  }

  std::string whyNotHere() override { return isForThisMachine() ? "" : "code for another CPU than this machine's"; }

  FailureOr<TuningResult> measure(func::FuncOp kernel) override;

private:
  SmallVector<TunableNest> nestsOf(func::FuncOp kernel) const {
    return findTunableNests(kernel, facts, options.threads);
  }

  /// Whether what is measured here says something about the code.
  bool isForThisMachine() const {
    CompileOptions target = resolveTarget(options);
    auto machine = createTargetMachine(options);
    if (!machine) {
      llvm::consumeError(machine.takeError());
      return false;
    }
    return (target.targetCPU == llvm::sys::getHostCPUName() || target.targetCPU == "native") && runsOnHost(**machine);
  }

  const CompileOptions &options;
  const TargetFacts facts;
};
} // namespace

/// Goes, nest by nest, from the model's choice to its best neighbour, and on from there.
FailureOr<TuningResult> HostTuner::measure(func::FuncOp kernel) {
  TuningResult result;
  unsigned count = nestsOf(kernel).size();
  OwningOpRef<func::FuncOp> best(kernel.clone());
  for (unsigned number = 0; number < count; ++number) {
    for (unsigned step = 0; step < kMostTuningSteps; ++step) {
      TunableNest nest = nestsOf(*best)[number];
      // Every form is a copy with another plan of this nest.
      std::vector<OwningOpRef<func::FuncOp>> others;
      for (const PlanChoice &choice : nest.alternatives) {
        setPlanChoice(nest.reduction, choice);
        others.emplace_back(best->clone());
      }
      setPlanChoice(nest.reduction, nest.choice);
      FailureOr<std::optional<size_t>> taken = goToFastest(best, std::move(others), options, result);
      if (failed(taken))
        return failure();
      if (!*taken)
        break;
    }
  }
  for (const TunableNest &nest : nestsOf(*best))
    result.plans.push_back(nest.choice);
  return result;
}

std::unique_ptr<KernelTuner> makeHostTuner(const CompileOptions &options) {
  return std::make_unique<HostTuner>(options);
}

} // namespace strata
