//===- CommonFlags.h - flags that the tools share ---------------*- C++ -*-===//
#ifndef STRATA_TOOLS_COMMONFLAGS_H
#define STRATA_TOOLS_COMMONFLAGS_H

#include "Execution/Specialize.h"
#include "Pipeline/CompileOptions.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/TargetParser/Triple.h"

namespace strata {

inline llvm::cl::OptionCategory &flagCategory() {
  static llvm::cl::OptionCategory category("Strata's options");
  return category;
}

/// The LLVM libraries bring hundreds of flags, some with the names that we want.
/// Called before a tool makes its own, this takes them off the command line.
inline void removeLibraryFlags() {
  llvm::SmallVector<llvm::cl::Option *> flags;
  for (auto &entry : llvm::cl::getRegisteredOptions())
    if (entry.getKey() != "help" && entry.getKey() != "version")
      flags.push_back(entry.second);
  for (llvm::cl::Option *flag : flags)
    flag->removeArgument();
}

/// Flags that describe the code to be made.
struct CompileFlags {
  llvm::cl::opt<unsigned> level{"O", llvm::cl::Prefix, llvm::cl::desc("Optimisation level, 0 to 3"), llvm::cl::init(3),
                                llvm::cl::cat(flagCategory())};
  llvm::cl::opt<std::string> march{"march",
                                   llvm::cl::desc("Architecture (x86-64, aarch64, ...) or triple; default: "
                                                  "this machine's"),
                                   llvm::cl::cat(flagCategory())};
  llvm::cl::opt<std::string> mcpu{"mcpu", llvm::cl::desc("CPU (native, x86-64-v3, ...); default: native"),
                                  llvm::cl::cat(flagCategory())};
  llvm::cl::opt<std::string> features{"features", llvm::cl::desc("Features to add or remove: +avx2,-fma"),
                                      llvm::cl::cat(flagCategory())};
  llvm::cl::opt<std::string> name{"name", llvm::cl::desc("Prefix of the exported symbols (a C identifier)"),
                                  llvm::cl::init("model"), llvm::cl::cat(flagCategory())};
  llvm::cl::opt<std::string> target{"target", llvm::cl::value_desc("cpu|cuda[:sm_NN]|rocm:gfxNNN"),
                                    llvm::cl::desc("What kernels run on: the CPU, an NVIDIA GPU (any from sm_80 "
                                                   "on, or this one), or, only compiled, an AMD GPU"),
                                    llvm::cl::init("cpu"), llvm::cl::cat(flagCategory())};
  llvm::cl::opt<std::string> gpuFormat{"gpu-format", llvm::cl::value_desc("auto|ptx|cubin|bitcode"),
                                       llvm::cl::desc("What of the GPU's kernels the artifact holds; auto: machine "
                                                      "code if --target names a GPU and ptxas is found, else PTX"),
                                       llvm::cl::init("auto"), llvm::cl::cat(flagCategory())};
  llvm::cl::opt<bool> explain{"explain",
                              llvm::cl::desc("Say for each node whether the GPU runs it, or why the host, and list "
                                             "the copies between them"),
                              llvm::cl::cat(flagCategory())};
  llvm::cl::opt<std::string> precision{
      "precision", llvm::cl::value_desc("f32|bf16|f16|int8|tf32"),
      llvm::cl::desc("What the operands of f32 matrix products and convolutions are rounded to (f32); bf16, for those "
                     "with constant weights, also of f16, needs a CPU with avx512bf16; f16, for weights that few rows "
                     "read, vectors that load it; int8, for data of weights that are dequantized from 8 or 4 bits, "
                     "vectors that add products of bytes (VNNI); tf32 an NVIDIA GPU"),
      llvm::cl::init("f32"), llvm::cl::cat(flagCategory())};
  enum class Choice { Off, Auto };
  llvm::cl::opt<Choice> winograd{
      "winograd", llvm::cl::desc("Whether convolutions may be computed by minimal filtering"),
      llvm::cl::values(
          clEnumValN(Choice::Auto, "auto", "where it is faster; rounding errors are some ten times larger"),
          clEnumValN(Choice::Off, "off", "never")),
      llvm::cl::init(Choice::Auto), llvm::cl::cat(flagCategory())};
  llvm::cl::opt<bool> tune{
      "tune",
      llvm::cl::desc(
          "Choose the plans of products and convolutions by measuring some on this machine, or, with --target=cuda, "
          "tiles on its GPU, at most 3 seconds for each loop nest; results are kept, and not measured again. --verbose "
          "shows them"),
      llvm::cl::cat(flagCategory())};
  llvm::cl::opt<std::string> tuningFile{
      "tuning-file", llvm::cl::value_desc("FILE"),
      llvm::cl::desc("Where the results of --tune are kept (strata/tuning.json in $XDG_CACHE_HOME or ~/.cache)"),
      llvm::cl::cat(flagCategory())};
  llvm::cl::opt<double> tuningSeconds{"tuning-seconds", llvm::cl::value_desc("N"),
                                      llvm::cl::desc("After N seconds --tune begins no further kernel (60)"),
                                      llvm::cl::init(60), llvm::cl::cat(flagCategory())};
  llvm::cl::opt<bool> verifyEach{"verify-each",
                                 llvm::cl::desc("Verify the module behind each pass, also when it has no operators "
                                                "any more, to find mistakes of the compiler"),
                                 llvm::cl::cat(flagCategory())};
  llvm::cl::opt<bool> verbose{"verbose", llvm::cl::desc("Show the phases and their times"),
                              llvm::cl::cat(flagCategory())};

  CompileOptions options() const {
    CompileOptions result;
    result.modelName = name;
    result.optLevel = level;
    result.winograd = winograd == Choice::Auto;
    if (!march.empty() && march != "native") {
      // LLVM's triples have an underscore, its CPUs and everybody else a hyphen.
      llvm::StringRef rest = march;
      bool isX86 = rest.consume_front("x86-64") && (rest.empty() || rest.front() == '-');
      llvm::Triple triple(llvm::Triple::normalize(isX86 ? "x86_64" + rest.str() : march.getValue()));
      if (triple.getOS() == llvm::Triple::UnknownOS)
        triple.setOS(llvm::Triple::Linux);
      if (triple.getEnvironment() == llvm::Triple::UnknownEnvironment)
        triple.setEnvironment(llvm::Triple::GNU);
      result.targetTriple = triple.str();
    }
    if (mcpu != "native")
      result.targetCPU = mcpu;
    result.targetFeatures = features;
    auto require = [](bool holds, const llvm::Twine &message) {
      if (holds)
        return;
      llvm::errs() << "error: " << message << "\n";
      std::exit(1);
    };
    std::optional<Precision> parsed = parsePrecision(precision);
    require(parsed.has_value(), "--precision is f32, bf16, f16, int8 or tf32, not '" + precision + "'");
    result.precision = *parsed;
    require(parseTarget(target, result),
            "--target is cpu, cuda, cuda:sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a, or rocm:gfx908, gfx90a, gfx942, "
            "gfx1030, gfx1100, not '" +
                target + "'");
    std::optional<GpuFormat> format = parseGpuFormat(gpuFormat);
    require(format.has_value(), "--gpu-format is auto, ptx, cubin or bitcode, not '" + gpuFormat + "'");
    if (gpuFormat != "auto")
      result.gpuFormat = *format;
    result.explain = explain;
    result.verifyEach = verifyEach;
    require(tune || (tuningFile.empty() && !tuningSeconds.getNumOccurrences()),
            "--tuning-file and --tuning-seconds are about --tune");
    if (tune)
      result.tuning = {Tuning::Measure, tuningFile, tuningSeconds};
    require(!llvm::StringRef(result.gpu).starts_with("gfx") || (gpuFormat != "ptx" && gpuFormat != "cubin"),
            "--gpu-format=" + gpuFormat + " is of NVIDIA's GPUs, not of " + result.gpu);
    require(!explain || !result.gpu.empty(), "--explain says what a GPU runs: it needs --target=cuda");
    return result;
  }

  /// Prints phases to a terminal, and anywhere with --verbose.
  void showPhase(llvm::StringRef phase, bool ended, double seconds) const {
    bool terminal = llvm::sys::Process::StandardErrIsDisplayed();
    llvm::raw_ostream &os = llvm::errs();
    if (!ended && terminal)
      os << "  " << phase << " ..." << (verbose ? "" : "\033[K\r");
    if (ended && verbose)
      os << (terminal ? "\r" : "") << "  " << phase << llvm::format(" %.3f s", seconds)
         << (terminal ? "\033[K\n" : "\n");
    else if (ended && terminal)
      os << "\033[K";
  }
};

inline constexpr const char *specializeHelp =
    "Add a version for these sizes of symbolic dimensions of the inputs, which runs where the inputs have them; once "
    "for each set";

/// The sets of --specialize; a mistake exits with 1.
inline std::vector<ShapeSet> parseSpecialize(const llvm::cl::list<std::string> &sets) {
  llvm::Expected<std::vector<ShapeSet>> parsed =
      parseShapeSets(llvm::SmallVector<std::string>(sets.begin(), sets.end()));
  if (parsed)
    return std::move(*parsed);
  llvm::errs() << "error: --specialize: " << llvm::toString(parsed.takeError()) << "\n";
  std::exit(1);
}

/// Parses the command line; an error suggests the nearest flag and exits with 1.
inline void parseCommandLine(int argc, char **argv, const char *overview) {
  llvm::cl::HideUnrelatedOptions(flagCategory());
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &os) { os << "Strata " STRATA_VERSION "\n"; });
  llvm::cl::ParseCommandLineOptions(argc, argv, overview);
}

} // namespace strata

#endif // STRATA_TOOLS_COMMONFLAGS_H
