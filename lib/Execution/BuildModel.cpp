//===- BuildModel.cpp - from a module to a model that runs ----------------===//

#include "Execution/Cache.h"
#include "Execution/Specialize.h"
#include "Specializer.h"
#include "llvm/BinaryFormat/Magic.h"
#include <chrono>

using namespace mlir;

namespace strata {

static FailureOr<std::unique_ptr<JitCode>> compileCode(ModuleOp module, const CompileOptions &options,
                                                       ConstantPool *pool, const Progress &progress) {
  auto known = [&](llvm::StringRef key) { return pool->has(key); };
  if (failed(pool ? lowerVersion(module, options, known, progress) : lowerTo(module, Phase::LLVM, options, progress)))
    return failure();
  if (progress)
    progress(nameOf(Phase::Object), false, 0);
  auto start = std::chrono::steady_clock::now();
  FailureOr<std::unique_ptr<JitCode>> code = JitCode::compile(module, options, pool);
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  if (progress)
    progress(nameOf(Phase::Object), true, time.count());
  return code;
}

static std::unique_ptr<Model> started(ModuleOp module, llvm::Expected<std::unique_ptr<Model>> model) {
  if (model)
    return std::move(*model);
  module.emitError(llvm::toString(model.takeError()));
  return nullptr;
}

/// Into this process: the model itself, then its versions, which use what it has computed.
static std::unique_ptr<Model> compileHere(std::shared_ptr<MLIRContext> context, ModuleOp module,
                                          const CompileOptions &options, const SessionOptions &session,
                                          const SpecializeOptions &specialize, ConstantPool *pool,
                                          const Progress &progress) {
  FailureOr<std::vector<VersionModule>> versions = makeVersions(module, specialize.sets, options);
  if (failed(versions))
    return nullptr;
  FailureOr<std::unique_ptr<JitCode>> code = compileCode(module, options, pool, progress);
  if (failed(code))
    return nullptr;
  std::vector<std::unique_ptr<JitCode>> versionCode;
  for (VersionModule &version : *versions) {
    auto made = compileCode(*version.module, options, pool, progressOf(progress, version.sizes));
    if (failed(made)) {
      module.emitError("there can be no version for ") << version.sizes;
      return nullptr;
    }
    versionCode.push_back(std::move(*made));
  }
  return started(module, Model::start(std::move(*code), std::move(versionCode), session, std::move(context)));
}

std::unique_ptr<Model> buildModel(std::shared_ptr<MLIRContext> context, OwningOpRef<ModuleOp> module,
                                  const CompileOptions &options, const SessionOptions &session,
                                  const SpecializeOptions &specialize, llvm::StringRef cache,
                                  const Progress &progress) {
  OwningOpRef<ModuleOp> original;
  if (specialize.after && failed(checkVersions(*module, options)))
    return nullptr;
  if (specialize.after && hasUnknownSizes(*module))
    original = module->clone();
  ConstantPool pool;
  std::unique_ptr<Model> model;
  if (!cache.empty()) {
    FailureOr<std::string> library = cachedLibrary(*module, options, cache, specialize, progress);
    if (failed(library))
      return nullptr;
    model = started(*module, Model::load(*library, session));
  } else {
    bool hasVersions = original || !specialize.sets.empty();
    model = compileHere(context, *module, options, session, specialize, hasVersions ? &pool : nullptr, progress);
  }
  if (model && original)
    model->specialize([&](ArrayRef<const strata_model_descriptor *> fixed, strata_session *session) {
      return std::make_unique<Specializer>(context, std::move(original), options, specialize, std::move(pool), fixed,
                                           session);
    });
  return model;
}

std::unique_ptr<Model> openModel(llvm::StringRef path, const CompileOptions &options, const SessionOptions &session,
                                 const SpecializeOptions &specialize, llvm::StringRef cache, const Progress &progress) {
  auto fail = [&](llvm::Error error) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
    return nullptr;
  };
  llvm::file_magic magic;
  if (!llvm::identify_magic(path, magic) && magic == llvm::file_magic::elf_shared_object) {
    if (specialize.after || !specialize.sets.empty())
      return fail(llvm::createStringError("'%s' is compiled: it has the versions that strata-compile gave it",
                                          path.str().c_str()));
    auto model = Model::load(path.str(), session);
    return model ? std::move(*model) : fail(model.takeError());
  }
  if (llvm::Error error = checkOptions(options))
    return fail(std::move(error));
  std::shared_ptr<MLIRContext> context = createContext();
  OwningOpRef<ModuleOp> module = loadModule(path, *context);
  if (!module)
    return nullptr;
  return buildModel(context, std::move(module), options, session, specialize, cache, progress);
}

} // namespace strata
