//===- BuildModel.cpp - from a module to a model that runs ----------------===//

#include "Execution/Cache.h"
#include "Execution/Compiler.h"
#include "Execution/Specialize.h"
#include "Specializer.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FileSystem.h"
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

static std::unique_ptr<Model> started(Location location, llvm::Expected<std::unique_ptr<Model>> model) {
  if (model)
    return std::move(*model);
  emitError(location) << llvm::toString(model.takeError());
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
  return started(module.getLoc(), Model::start(std::move(*code), std::move(versionCode), session, std::move(context)));
}

/// Two processes may do so at once: a file appears complete or not at all. Nothing is ever deleted.
static LogicalResult compileInto(const std::string &library, ModuleOp module, const CompileOptions &options,
                                 const SpecializeOptions &specialize, const Progress &progress) {
  CompileRequest request;
  request.output = library;
  request.options = options;
  request.versions = specialize.sets;
  request.keepWeights = specialize.after > 0;
  return compileModule(module, request, progress);
}

std::unique_ptr<Model> buildModel(std::shared_ptr<MLIRContext> context, const ModelSource &source,
                                  const CompileOptions &options, const SessionOptions &session,
                                  const SpecializeOptions &specialize, llvm::StringRef cache,
                                  const Progress &progress) {
  std::string library;
  if (!cache.empty()) {
    FailureOr<std::string> path = cachedLibrary(*context, source, options, cache, specialize);
    if (failed(path))
      return nullptr;
    library = *path;
  }
  bool isThere = llvm::sys::fs::exists(library);
  auto load = [&] { return started(UnknownLoc::get(context.get()), Model::load(library, session)); };
  if (isThere && !specialize.after)
    return load();
  OwningOpRef<ModuleOp> module = source.load(*context);
  if (!module || (specialize.after && failed(prepareForVersions(*module, options))))
    return nullptr;
  OwningOpRef<ModuleOp> original;
  if (specialize.after && hasUnknownSizes(*module))
    original = module->clone();
  ConstantPool pool;
  std::unique_ptr<Model> model;
  if (library.empty()) {
    bool hasVersions = original || !specialize.sets.empty();
    model = compileHere(context, *module, options, session, specialize, hasVersions ? &pool : nullptr, progress);
  } else if (isThere || succeeded(compileInto(library, *module, options, specialize, progress))) {
    model = load();
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
  return buildModel(context, sourceOf(path.str()), options, session, specialize, cache, progress);
}

} // namespace strata
