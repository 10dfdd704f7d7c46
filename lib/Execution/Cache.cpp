//===- Cache.cpp - compiled models are kept in a folder -------------------===//

#include "Execution/Cache.h"
#include "Target.h"
#include "mlir/IR/Diagnostics.h"
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
  void *here = reinterpret_cast<void *>(&cachedLibrary);
  std::string file = dladdr(here, &info) ? info.dli_fname : "";
  // A program is called what it was started as.
  if (!llvm::sys::path::has_parent_path(file))
    file = llvm::sys::fs::getMainExecutable(file.c_str(), here);
  if (!llvm::sys::fs::status(file, status))
    hash << status.getSize() << ' ' << status.getLastModificationTime().time_since_epoch().count() << '\n';
}

static void hashOptions(HashStream &hash, const CompileOptions &options) {
  hash << options.modelName << ' ' << options.optLevel << options.threads << options.winograd << options.profile << ' '
       << nameOf(options.precision) << ' ' << options.targetTriple << ' ' << options.targetCPU << ' '
       << options.targetFeatures << ' ' << options.gpu << ' ' << nameOf(options.gpuFormat) << ' ' << options.tuning.mode
       << ' ' << options.tuning.file << ' ' << options.tuning.device << '\n';
}

FailureOr<std::string> cachedLibrary(MLIRContext &context, const ModelSource &source, const CompileOptions &options,
                                     llvm::StringRef folder, const SpecializeOptions &specialize) {
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return emitError(UnknownLoc::get(&context)) << "cannot make the folder '" << folder << "': " << error.message();
  HashStream hash;
  hashCompiler(hash);
  hashOptions(hash, resolveTarget(options));
  hash << emulatedCPU(options) << '\n';
  for (const ShapeSet &set : specialize.sets) {
    for (const auto &[name, size] : set)
      hash << name << '=' << size << ' ';
    hash << '\n';
  }
  if (failed(source.write(context, hash)))
    return failure();
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, options.modelName + "-" + hash.result() + ".so");
  return path.str().str();
}

} // namespace strata
