//===- strata-compile.cpp - compiles a model to a file --------------------===//

#include "../CommonFlags.h"
#include "Execution/Compiler.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using strata::EmitKind;
using strata::flagCategory;

namespace {
struct Kind {
  EmitKind kind;
  const char *name, *extension, *description;
};
} // namespace

static constexpr Kind kinds[] = {
    {EmitKind::SharedLibrary, "lib", ".so", "a shared library"},
    {EmitKind::StaticLibrary, "staticlib", ".a", "a static library"},
    {EmitKind::Object, "obj", ".o", "one object file"},
    {EmitKind::LLVM, "llvm", ".ll", "optimised LLVM IR"},
    {EmitKind::Assembly, "asm", ".s", "assembly"},
    {EmitKind::Kernels, "kernels", ".kernels", "the GPU's kernels alone, in the form of --gpu-format"},
    {EmitKind::MLIR, "mlir", ".mlir", "MLIR at the phase of --compile-to"},
};

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  strata::removeLibraryFlags();
  strata::CompileFlags flags;
  auto category = cl::cat(flagCategory());
  cl::opt<std::string> model(cl::Positional, cl::Required, category, cl::desc("<model: .onnx or .mlir>"));
  cl::opt<std::string> output("o", category, cl::value_desc("FILE"),
                              cl::desc("The output (the model's name with the extension of its kind); "
                                       "- is standard output"));
  cl::opt<EmitKind> emit("emit", category,
                         cl::desc("What to write (what the output's extension "
                                  "says, or a shared library):"));
  for (const Kind &kind : kinds)
    emit.getParser().addLiteralOption(kind.name, kind.kind, kind.description);
  cl::opt<strata::Phase> phase("compile-to", category, cl::desc("Stop after this phase and write MLIR:"));
  for (int i = 0; i < static_cast<int>(strata::Phase::Object); ++i) {
    auto value = static_cast<strata::Phase>(i);
    phase.getParser().addLiteralOption(strata::nameOf(value), value, "");
  }
  cl::opt<bool> weights("print-weights", category,
                        cl::desc("Print weights into MLIR text (a .mlirbc file "
                                 "always has them)"));
  cl::opt<int> threads("threads", category, cl::init(0),
                       cl::desc("1: make sequential code (otherwise the session says how many "
                                "threads run it)"));
  cl::opt<bool> profile("profile", category,
                        cl::desc("Make code that strata-run --profile can "
                                 "measure node by node"));
  cl::list<std::string> specialize("specialize", category, cl::value_desc("DIM=SIZE,..."),
                                   cl::desc(strata::specializeHelp));
  strata::parseCommandLine(argc, argv, "Compiles a model to native code\n");

  strata::CompileRequest request;
  request.model = model;
  request.output = output;
  request.options = flags.options();
  request.options.threads = threads != 1;
  request.options.profile = profile;
  request.printWeights = weights;
  request.versions = strata::parseSpecialize(specialize);
  if (emit.getNumOccurrences()) {
    request.emit = emit;
  } else if (phase.getNumOccurrences()) {
    request.emit = EmitKind::MLIR;
  } else {
    for (const Kind &kind : kinds)
      if (sys::path::extension(output) == kind.extension)
        request.emit = kind.kind;
    if (sys::path::extension(output) == ".mlirbc")
      request.emit = EmitKind::MLIR;
  }
  if (phase.getNumOccurrences()) {
    if (request.emit != EmitKind::MLIR) {
      errs() << "error: --compile-to writes MLIR, which --emit contradicts\n";
      return 1;
    }
    request.phase = phase;
  }
  bool text = request.emit == EmitKind::MLIR || request.emit == EmitKind::LLVM || request.emit == EmitKind::Assembly ||
              request.emit == EmitKind::Kernels;
  if (output.empty() && !text) {
    SmallString<128> path(sys::path::filename(model));
    for (const Kind &kind : kinds)
      if (kind.kind == request.emit)
        sys::path::replace_extension(path, kind.extension);
    request.output = path.str();
  }
  if (request.output == "-" && !text) {
    errs() << "error: object files and libraries do not go to standard "
              "output\n";
    return 1;
  }
  return strata::compile(request, [&](StringRef name, bool ended, double time) { flags.showPhase(name, ended, time); });
}
