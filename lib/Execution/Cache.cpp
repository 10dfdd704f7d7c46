//===- Cache.cpp - compiled models are kept in a folder -------------------===//

#include "Execution/Cache.h"
#include "Execution/Compiler.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>

using namespace mlir;

namespace strata {

namespace {
/// What is written goes into a hash. (LLVM's raw_sha1_ostream is several times slower, and weights are hundreds of MB.)
class HashStream : public llvm::raw_ostream {
public:
  ~HashStream() override { flush(); }
  std::string result() {
    flush();
    return llvm::toHex(hasher.final<16>(), /*LowerCase=*/true);
  }

private:
  void write_impl(const char *data, size_t size) override {
    hasher.update(llvm::StringRef(data, size));
    position += size;
  }
  uint64_t current_pos() const override { return position; }

  llvm::BLAKE3 hasher;
  uint64_t position = 0;
};
} // namespace

/// The file that this code is in: another build of the compiler makes other libraries.
static void hashCompiler(HashStream &hash) {
  Dl_info info;
  llvm::sys::fs::file_status status;
  if (dladdr(reinterpret_cast<void *>(&cachedLibrary), &info) && !llvm::sys::fs::status(info.dli_fname, status))
    hash << status.getSize() << ' ' << status.getLastModificationTime().time_since_epoch().count() << '\n';
}

static void hashOptions(HashStream &hash, const CompileOptions &options) {
  hash << options.modelName << ' ' << options.optLevel << options.threads << options.winograd << options.profile << ' '
       << nameOf(options.precision) << ' ' << options.targetTriple << ' ' << options.targetCPU << ' '
       << options.targetFeatures << ' ' << options.gpu << ' ' << nameOf(options.gpuFormat) << ' ' << options.tuning.mode
       << ' ' << options.tuning.file << ' ' << options.tuning.device << '\n';
}

static void hashModule(HashStream &hash, ModuleOp module) {
  // Locations too: they are the nodes' names in messages.
  OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/true).elideLargeResourceString(0).useLocalScope();
  module->print(hash, flags);
  llvm::DenseSet<DenseResourceElementsAttr> seen;
  module->walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrs())
      attribute.getValue().walk([&](DenseResourceElementsAttr weights) {
        AsmResourceBlob *blob = weights.getRawHandle().getBlob();
        if (!seen.insert(weights).second || !blob)
          return;
        hash << '\n' << weights.getRawHandle().getKey() << ' ' << blob->getData().size() << '\n';
        hash.write(blob->getData().data(), blob->getData().size());
      });
  });
}

FailureOr<std::string> cachedLibrary(ModuleOp module, const CompileOptions &options, llvm::StringRef folder,
                                     const SpecializeOptions &specialize, const Progress &progress) {
  if (std::error_code error = llvm::sys::fs::create_directories(folder)) {
    module->emitError("cannot make the folder '") << folder << "': " << error.message();
    return failure();
  }
  HashStream hash;
  hashCompiler(hash);
  hashOptions(hash, resolveTarget(options));
  for (const ShapeSet &set : specialize.sets) {
    for (const auto &[name, size] : set)
      hash << name << '=' << size << ' ';
    hash << '\n';
  }
  hashModule(hash, module);
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, options.modelName + "-" + hash.result() + ".so");
  if (llvm::sys::fs::exists(path))
    return path.str().str();
  CompileRequest request;
  request.output = path.str().str();
  request.options = options;
  request.versions = specialize.sets;
  request.keepWeights = specialize.after > 0;
  if (failed(compileModule(module, request, progress)))
    return failure();
  return request.output;
}

} // namespace strata
