//===- CompileOptions.h - everything a compilation may be told ------------===//
//
// One struct travels from the tools through the pipelines; libraries have no
// command line options of their own.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_PIPELINE_COMPILEOPTIONS_H
#define STRATA_PIPELINE_COMPILEOPTIONS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace strata {

enum class GpuFormat {
  Auto,    ///< Machine code if ptxas is found, else PTX.
  PTX,     ///< Text that the driver compiles when it loads the model.
  Cubin,   ///< Machine code for exactly this GPU; needs ptxas.
  Bitcode, ///< LLVM's, before code generation: for the emulator.
};

/// "auto", "ptx", "cubin", "bitcode".
llvm::StringRef nameOf(GpuFormat format);
std::optional<GpuFormat> parseGpuFormat(llvm::StringRef name);

/// What the operands of f32 matrix products and convolutions are rounded to; sums are f32's always. F16 rounds weights
/// that few rows read, and nothing else. TF32 has f32's range and 11 significant bits.
enum class Precision { F32, BF16, F16, INT8, TF32 };

/// "f32", "bf16", "f16", "int8", "tf32".
llvm::StringRef nameOf(Precision precision);
std::optional<Precision> parsePrecision(llvm::StringRef name);

/// Whether plans of kernels are chosen by measuring them (docs/running-models.md).
struct Tuning {
  enum Mode {
    Off,
    Known,  ///< Where results are there.
    Measure ///< What is not known is measured on this machine.
  } mode = Off;
  /// Of results. Empty: the user's.
  std::string file;
  /// After so long no kernel is begun any more.
  double seconds = 60;
  /// Which GPU measures; -1: the default of sessions.
  int device = -1;
};

struct CompileOptions {
  /// Prefix of the exported symbols (NAME_main, NAME_init, NAME_constants); a C
  /// identifier.
  std::string modelName = "model";
  /// 0: no vectorisation, no layout changes, no packing; 1 and above: all of it.
  /// The value is also LLVM's optimisation level.
  unsigned optLevel = 3;
  /// Whether large loops are split over the session's thread pool.
  bool threads = true;
  /// Whether convolutions may be computed by minimal filtering (Winograd's), whose results have some ten times the
  /// rounding errors of sums over the window, where that is faster.
  bool winograd = true;
  /// Whether the code measures the time of each node for sessions that ask.
  bool profile = false;
  /// Whether the module is verified behind each pass, as opt-style tools do, or, once it has no operators, behind each
  /// phase.
  bool verifyEach = false;

  Tuning tuning;

  /// Less than f32 only where someone asks for it.
  Precision precision = Precision::F32;

  /// The target, in LLVM's words. Empty: the machine that compiles.
  std::string targetTriple;
  std::string targetCPU;
  /// Comma separated, "+avx2,-fma"; added to what the CPU has.
  std::string targetFeatures;

  /// The GPU that kernels are compiled for, as its vendor spells it ("sm_80",
  /// "sm_90a", "gfx90a"). Empty: everything runs on the CPU.
  std::string gpu;
  /// What of the kernels goes into the artifact.
  GpuFormat gpuFormat = GpuFormat::Auto;
  /// Whether the compiler says on standard error what runs on the GPU, what on
  /// the host and why, and what is copied.
  bool explain = false;
};

/// "cpu", "cuda" (any NVIDIA GPU from sm_80 on), "cuda:sm_NN" or "rocm:gfxNNN"
/// into options.gpu. False: no such target.
bool parseTarget(llvm::StringRef target, CompileOptions &options);

/// What code generation knows of the target (Codegen/Target.h).
struct TargetFacts;

/// Derives the facts from triple, CPU and features (or from the host's).
TargetFacts describeTarget(const CompileOptions &options);

/// The CPU that the variable STRATA_EMULATE_CPU names, if the options ask for no target: plans are those for this CPU,
/// and code is for the machine that compiles, where it can be tested (docs/testing.md). Empty: none.
llvm::StringRef emulatedCPU(const CompileOptions &options);

/// The options with every empty target field filled in from the host.
CompileOptions resolveTarget(CompileOptions options);

} // namespace strata

#endif // STRATA_PIPELINE_COMPILEOPTIONS_H
