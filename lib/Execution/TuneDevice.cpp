//===- TuneDevice.cpp - tiles of a GPU's kernels --------------------------===//
//
// Results are of one GPU: its name is a part of their keys. A machine without a
// GPU does not know which one the model will meet; it takes what the file has.
//
//===----------------------------------------------------------------------===//

#include "KernelTuner.h"
#include "Runtime/strata_runtime.h"

using namespace mlir;

namespace strata {

namespace {
class DeviceTuner : public KernelTuner {
public:
  explicit DeviceTuner(const CompileOptions &options) : options(options) {
    strata_gpu_facts facts;
    char error[512];
    if (strata_rt_gpu_describe(options.tuning.device, &facts, error, sizeof(error))) {
      missing = std::string(": ") + error;
      return;
    }
    std::string capability = std::to_string(facts.major) + "." + std::to_string(facts.minor);
    if (!runs(facts.major, facts.minor))
      missing = std::string(": '") + facts.name + "' has compute capability " + capability;
    else
      device = facts.name;
  }

  std::string target() const override { return options.gpu + (options.precision == Precision::TF32 ? ", tf32" : ""); }

  double workOf(func::FuncOp kernel) override {
    std::optional<TunableProduct> product = productOf(kernel);
    return product && !product->alternatives.empty() ? product->work : 0;
  }

  bool apply(func::FuncOp kernel, const TuningResult &result) override {
    std::optional<TunableProduct> product = productOf(kernel);
    if (!product || !result.tile)
      return false;
    // What the heuristic chooses anyway need not be said.
    if (!(product->choice == *result.tile))
      setTileChoice(product->reduction, *result.tile);
    return true;
  }

  std::string whyNotHere() override {
    return missing.empty() ? "" : "kernels of " + options.gpu + " here" + missing + severalDevices;
  }

  FailureOr<TuningResult> measure(func::FuncOp kernel) override;

  const TuningResult *find(const TuningResults &known, llvm::StringRef hash) override {
    if (!device.empty())
      return KernelTuner::find(known, keyOf(hash));
    const TuningResult *result = nullptr;
    for (const auto &entry : known) {
      auto [start, name] = entry.getKey().split('/');
      if (start != hash)
        continue;
      if (result) {
        severalDevices = "; there are results of several GPUs";
        return nullptr;
      }
      result = &entry.getValue();
    }
    return result;
  }
  std::string keyOf(llvm::StringRef hash) override { return (hash + "/" + device).str(); }
  /// Whoever has no GPU brings all results along.
  bool takesSome() const override { return false; }

private:
  std::optional<TunableProduct> productOf(func::FuncOp kernel) const {
    return findTunableProduct(kernel, options.gpu, options.precision == Precision::TF32);
  }

  /// Whether a GPU of this compute capability runs the code: what 'a' adds is of one alone.
  bool runs(int major, int minor) const {
    llvm::StringRef chip = options.gpu;
    int number = 0;
    if (!chip.consume_front("sm_"))
      return false;
    bool exactly = chip.consume_back("a");
    return !chip.getAsInteger(10, number) && (exactly ? 10 * major + minor == number : 10 * major + minor >= number);
  }

  const CompileOptions &options;
  std::string device; ///< its name; empty where there is none that runs the code
  std::string missing, severalDevices;
};
} // namespace

/// Goes from the heuristic's choice to its best neighbour, and on from there.
FailureOr<TuningResult> DeviceTuner::measure(func::FuncOp kernel) {
  TuningResult result;
  TunableProduct product = *productOf(kernel);
  result.tile = product.choice;
  // To compile a form takes longer than to measure it: none is taken twice.
  SmallVector<TileChoice> seen{product.choice};
  OwningOpRef<func::FuncOp> best(kernel.clone());
  for (unsigned step = 0; step < kMostTuningSteps; ++step) {
    product = *productOf(*best);
    std::vector<OwningOpRef<func::FuncOp>> others;
    SmallVector<TileChoice> choices;
    for (const TileChoice &choice : product.alternatives) {
      if (llvm::is_contained(seen, choice))
        continue;
      seen.push_back(choice);
      choices.push_back(choice);
      others.emplace_back(best->clone());
      setTileChoice(productOf(*others.back())->reduction, choice);
    }
    if (choices.empty())
      break;
    FailureOr<std::optional<size_t>> taken = goToFastest(best, std::move(others), options, result);
    if (failed(taken))
      return failure();
    if (!*taken)
      break;
    result.tile = choices[**taken];
  }
  return result;
}

std::unique_ptr<KernelTuner> makeDeviceTuner(const CompileOptions &options) {
  return std::make_unique<DeviceTuner>(options);
}

} // namespace strata
