//===- Compiler.cpp - from ONNX to a model that runs ----------------------===//

#include "Compiler.h"
#include "Dialect/ONNX/Transforms/ConvertOpset.h"
#include "Execution/Specialize.h"
#include "Export/Export.h"
#include "Import/Import.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace strata::python {
namespace {

class CompiledModel : public Model {
public:
  explicit CompiledModel(std::unique_ptr<strata::Model> model) : model(std::move(model)) {}

  Session &session() override { return model->getSession(); }
  std::vector<ModelVersion> versions() override { return model->versions(); }
  void settle() override { model->settle(); }
  void stopSpecializing() override { model->stopSpecializing(); }

  std::vector<Tensor> run(const std::vector<Tensor> &inputs, std::string &failure) override {
    llvm::Expected<std::vector<Tensor>> outputs = model->run(inputs);
    if (outputs)
      return std::move(*outputs);
    failure = llvm::toString(outputs.takeError());
    return {};
  }

private:
  std::unique_ptr<strata::Model> model;
};

FailureOr<CompileOptions> compileOptions(const Options &options, std::string &failure) {
  CompileOptions result;
  std::optional<GpuFormat> format = parseGpuFormat(options.gpuFormat);
  if (!parseTarget(options.target, result) || !format) {
    failure = format ? "error: no such GPU: '" + options.target + "'"
                     : "error: no such form of kernels: '" + options.gpuFormat + "'";
    return mlir::failure();
  }
  std::optional<Precision> precision = parsePrecision(options.precision);
  if (!precision) {
    failure = "error: precision is 'f32', 'bf16', 'f16', 'int8' or 'tf32', not '" + options.precision + "'";
    return mlir::failure();
  }
  result.precision = *precision;
  if (options.gpuFormat != "auto")
    result.gpuFormat = *format;
  if (!options.name.empty())
    result.modelName = options.name;
  result.optLevel = options.optLevel;
  result.winograd = options.winograd;
  if (options.tune) {
    result.tuning.mode = Tuning::Measure;
    result.tuning.file = options.tuningFile;
    result.tuning.device = options.device.value_or(-1);
  }
  result.profile = options.profile;
  result.targetCPU = options.cpu;
  result.targetFeatures = options.features;
  return result;
}

FailureOr<SpecializeOptions> specializeOptions(const Options &options, std::string &failure) {
  SpecializeOptions result;
  for (const std::vector<std::string> &sizes : options.specialize) {
    llvm::Expected<ShapeSet> set = parseShapeSet(SmallVector<llvm::StringRef>(sizes.begin(), sizes.end()));
    if (!set) {
      failure = "error: specialize: " + llvm::toString(set.takeError());
      return mlir::failure();
    }
    result.sets.push_back(std::move(*set));
  }
  result.after = options.specializeAfter;
  result.limit = options.specializeLimit;
  result.memory = options.specializeMemory;
  return result;
}

/// While it lives, the context's diagnostics go to `failure`.
class Diagnostics {
public:
  Diagnostics(MLIRContext &context, std::string &failure)
      : context(context), failure(failure),
        handler(context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
          llvm::raw_string_ostream os(this->failure);
          printDiagnostic(os, diagnostic);
        })) {}
  ~Diagnostics() { context.getDiagEngine().eraseHandler(handler); }

  /// Ends what failed with these diagnostics.
  void fail(const char *otherwise) {
    failure = llvm::StringRef(failure).rtrim().str();
    if (failure.empty())
      failure = otherwise;
  }

private:
  MLIRContext &context;
  std::string &failure;
  DiagnosticEngine::HandlerID handler;
};

OwningOpRef<ModuleOp> importBytes(const char *data, size_t size, MLIRContext &context) {
  ImportOptions import;
  import.name = "<bytes>";
  return importOnnxBytes(llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(data, size), import.name), &context,
                         import);
}

/// Compiles a model in a fresh context; diagnostics go to `failure`.
std::unique_ptr<Model> compile(const Options &options, std::string &failure, const ModelSource &source) {
  std::shared_ptr<MLIRContext> context = createContext();
  // The context lives as long as the model, the text here does not.
  Diagnostics diagnostics(*context, failure);

  FailureOr<CompileOptions> compileWith = compileOptions(options, failure);
  if (failed(compileWith))
    return nullptr;
  FailureOr<SpecializeOptions> specialize = specializeOptions(options, failure);
  if (failed(specialize))
    return nullptr;
  auto model = buildModel(context, source, *compileWith, sessionOptions(options), *specialize, options.cache);
  if (model) {
    failure.clear(); // Warnings.
    return std::make_unique<CompiledModel>(std::move(model));
  }
  diagnostics.fail("error: compiling failed");
  return nullptr;
}

} // namespace

std::unique_ptr<Model> compileFile(const std::string &path, const Options &options, std::string &failure) {
  return compile(options, failure, sourceOf(path));
}

std::unique_ptr<Model> compileBytes(const char *data, size_t size, const Options &options, std::string &failure) {
  auto load = [&](MLIRContext &context) { return importBytes(data, size, context); };
  auto write = [&](MLIRContext &, llvm::raw_ostream &os) {
    os.write(data, size);
    return success();
  };
  return compile(options, failure, {load, write});
}

std::string convertBytes(const char *data, size_t size, const std::vector<std::string> &opsets, std::string &failure) {
  std::shared_ptr<MLIRContext> context = createContext();
  Diagnostics diagnostics(*context, failure);
  auto convert = [&](ModuleOp module, llvm::raw_ostream &out) -> LogicalResult {
    SmallVector<OpsetVersion> targets;
    for (const std::string &text : opsets) {
      FailureOr<OpsetVersion> target = parseOpsetVersion(text, UnknownLoc::get(context.get()));
      if (mlir::failed(target))
        return mlir::failure();
      targets.push_back(std::move(*target));
    }
    if (mlir::failed(convertOpsets(module, targets)))
      return mlir::failure();
    return exportOnnx(module, out);
  };
  std::string result;
  llvm::raw_string_ostream out(result);
  OwningOpRef<ModuleOp> module = importBytes(data, size, *context);
  if (module && mlir::succeeded(convert(*module, out))) {
    failure.clear();
    return result;
  }
  diagnostics.fail("error: converting failed");
  return {};
}

} // namespace strata::python
