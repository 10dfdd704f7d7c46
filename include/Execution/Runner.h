//===- Runner.h - what strata-run does --------------------------*- C++ -*-===//
#ifndef STRATA_EXECUTION_RUNNER_H
#define STRATA_EXECUTION_RUNNER_H

#include "Execution/Specialize.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <vector>

namespace strata {

struct RunRequest {
  std::string model;
  std::string cache; ///< A folder that keeps what is compiled; "": none.
  /// [NAME=]FILE, [NAME=][TYPE=]random|zeros|ones|range; without a name in the
  /// order of the model's inputs. None at all: everything random.
  std::vector<std::string> inputs;
  /// [NAME=]FILE, without a name in the order of the outputs.
  std::vector<std::string> expected;
  /// A folder with input_0.pb, ... and output_0.pb, ... as ONNX's tests have.
  std::string testData;
  /// Sizes of symbolic dimensions of generated inputs; 1 for the others.
  llvm::StringMap<int64_t> dims;
  std::string output; ///< A folder, or a .npz file.
  double rtol = 1e-3, atol = 1e-7;
  int benchmark = 0; ///< Number of timed runs.
  bool quiet = false;
  /// What the machine can do, for the profile: operations and bytes per nanosecond; 0: not known.
  double peakOperations = 0, peakBytes = 0;
  CompileOptions compile;
  SessionOptions session;
  SpecializeOptions specialize;
};

/// Runs, prints, compares. The exit code: 0, or 1 after an error or mismatch.
int run(const RunRequest &request, const Progress &progress = {});

} // namespace strata

#endif // STRATA_EXECUTION_RUNNER_H
