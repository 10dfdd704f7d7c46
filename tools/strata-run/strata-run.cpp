//===- strata-run.cpp - runs a model --------------------------------------===//

#include "../CommonFlags.h"
#include "Execution/Runner.h"
#include "llvm/Support/InitLLVM.h"

using namespace llvm;
using strata::flagCategory;

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  strata::removeLibraryFlags();
  strata::CompileFlags compile;
  auto category = cl::cat(flagCategory());
  cl::opt<std::string> model(cl::Positional, cl::Required, category, cl::desc("<model: .onnx, .mlir or compiled .so>"));
  cl::list<std::string> inputs("input", category, cl::value_desc("[NAME=]FILE|[NAME=][TYPE=]HOW"),
                               cl::desc("An input: a .npy, .npz or .pb file, or random, zeros, ones or "
                                        "range (of a type such as 1x3x224x224xf32)"));
  cl::list<std::string> dims("random-dims", category, cl::CommaSeparated, cl::value_desc("DIM=SIZE"),
                             cl::desc("Sizes of symbolic dimensions of generated inputs (1)"));
  cl::list<std::string> expected("expect", category, cl::value_desc("[NAME=]FILE"),
                                 cl::desc("What an output must be equal to"));
  cl::opt<std::string> testData("test-data", category, cl::value_desc("FOLDER"),
                                cl::desc("A folder with input_N.pb and output_N.pb"));
  cl::opt<double> rtol("rtol", category, cl::init(1e-3), cl::desc("Relative tolerance of --expect (1e-3)"));
  cl::opt<double> atol("atol", category, cl::init(1e-7), cl::desc("Absolute tolerance of --expect (1e-7)"));
  cl::opt<std::string> output("output", category, cl::value_desc("FOLDER|FILE"),
                              cl::desc("Write the outputs as .npy files or "
                                       "into one .npz file"));
  cl::opt<std::string> benchmark("benchmark", category, cl::ValueOptional, cl::value_desc("N"),
                                 cl::desc("Time N runs (20) after three unmeasured ones"));
  cl::opt<bool> profile("profile", category, cl::desc("Show the time that each node takes, and what it does in it"));
  cl::opt<std::string> peak("peak", category, cl::value_desc("GFLOPS,GBS"),
                            cl::desc("What the machine can do, for --profile: operations and bytes"));
  cl::opt<std::string> cache("cache", category, cl::value_desc("FOLDER"),
                             cl::desc("Keep what is compiled in this folder, and take it from there the next time"));
  cl::list<std::string> specialize("specialize", category, cl::value_desc("DIM=SIZE,..."),
                                   cl::desc(strata::specializeHelp));
  cl::opt<uint64_t> specializeAfter("specialize-after", category, cl::init(0), cl::value_desc("N"),
                                    cl::desc("After N runs with inputs of the same shapes, compile a version for "
                                             "these in the background (0: never)"));
  cl::opt<unsigned> specializeLimit("specialize-limit", category, cl::init(8), cl::value_desc("N"),
                                    cl::desc("How many versions from the background there may be; the one that was "
                                             "not run for longest goes (8)"));
  cl::opt<uint64_t> specializeMemory("specialize-memory", category, cl::init(0), cl::value_desc("BYTES"),
                                     cl::desc("What they may take together: code, and constants that the model "
                                              "itself has not (0: no bound)"));
  cl::opt<int> threads("threads", category, cl::init(0), cl::desc("Threads to use (all cores)"));
  cl::opt<int> device("device", category, cl::value_desc("N"),
                      cl::desc("Which GPU, of models that are compiled for one (STRATA_CUDA_DEVICE, or the first)"));
  cl::opt<uint64_t> seed("seed", category, cl::desc("Seed of random inputs and operators"));
  cl::opt<bool> advanceSeeds("advance-seeds", category,
                             cl::desc("Random operators with a seed of their own give new values in "
                                      "every run"));
  cl::opt<bool> quiet("quiet", category, cl::desc("Do not print the outputs"));
  strata::parseCommandLine(argc, argv, "Runs a model and shows its outputs\n");

  strata::RunRequest request;
  request.model = model;
  request.inputs.assign(inputs.begin(), inputs.end());
  request.expected.assign(expected.begin(), expected.end());
  request.testData = testData;
  for (StringRef dim : dims) {
    auto [name, size] = dim.split('=');
    int64_t value;
    if (size.getAsInteger(10, value) || value < 0) {
      errs() << "error: --random-dims takes NAME=SIZE, not '" << dim << "'\n";
      return 1;
    }
    request.dims[name] = value;
  }
  request.specialize.sets = strata::parseSpecialize(specialize);
  request.specialize.after = specializeAfter;
  request.specialize.limit = specializeLimit;
  request.specialize.memory = specializeMemory;
  if (specializeLimit == 0) {
    errs() << "error: --specialize-limit is at least 1; without --specialize-after there are no such versions\n";
    return 1;
  }
  if (!specializeAfter && (specializeLimit.getNumOccurrences() || specializeMemory.getNumOccurrences())) {
    errs() << "error: --specialize-limit and --specialize-memory bound what --specialize-after makes\n";
    return 1;
  }
  request.cache = cache;
  request.output = output;
  request.rtol = rtol;
  request.atol = atol;
  if (benchmark.getNumOccurrences() || profile) {
    request.benchmark = 20;
    if (!benchmark.empty() && (StringRef(benchmark).getAsInteger(10, request.benchmark) || request.benchmark <= 0)) {
      errs() << "error: --benchmark takes a number of runs, not '" << benchmark << "'\n";
      return 1;
    }
  }
  if (!peak.empty()) {
    auto [operations, bytes] = StringRef(peak).split(',');
    if (operations.getAsDouble(request.peakOperations) || bytes.getAsDouble(request.peakBytes) ||
        request.peakOperations <= 0 || request.peakBytes <= 0) {
      errs() << "error: --peak takes 1e9 operations and 1e9 bytes per second, such as 240,12, not '" << peak << "'\n";
      return 1;
    }
  }
  request.quiet = quiet;
  request.compile = compile.options();
  request.session.threads = threads;
  if (device.getNumOccurrences())
    request.session.device = request.compile.tuning.device = device;
  if (seed.getNumOccurrences())
    request.session.seed = seed;
  request.session.advanceSeeds = advanceSeeds;
  request.session.profile = request.compile.profile = profile;
  return strata::run(request,
                     [&](StringRef phase, bool ended, double seconds) { compile.showPhase(phase, ended, seconds); });
}
