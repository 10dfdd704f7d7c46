//===- TuningFile.h - results of measurements, in a file --------*- C++ -*-===//
//
//   {"strata-tuning": 1, "kernels": {KEY: {"kernel": "...", "target": "...",
//    "plans": [[rows, vectors, lanesOutermost, rowBlock], ...],
//    "before_us": 12.5, "after_us": 11.0}, ...}}
//
// A key is a hash of the target, the compiler and the kernel (Tuning.cpp), for
// kernels of a GPU with its name behind; those have, in the place of plans,
// "tile": ["threads" | "warps" | "warpgroups", rows, columns, partRows,
// partColumns, depth, stages] (Codegen/TileChoice.h). The texts and times are for
// readers.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_LIB_EXECUTION_TUNINGFILE_H
#define STRATA_LIB_EXECUTION_TUNINGFILE_H

#include "Codegen/PlanChoice.h"
#include "Codegen/TileChoice.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace strata {

struct TuningResult {
  std::string kernel, target;
  std::vector<PlanChoice> plans;  ///< one for each nest that may be tuned, in order
  std::optional<TileChoice> tile; ///< of a GPU's kernel
  double before = 0, after = 0;   ///< microseconds
};

using TuningResults = llvm::StringMap<TuningResult>;

/// $XDG_CACHE_HOME/strata/tuning.json, or ~/.cache/strata/tuning.json.
std::string defaultTuningFile();

/// What the file says; nothing if there is none. An error names the file, and says what is wrong with it.
llvm::Expected<TuningResults> readTuningFile(llvm::StringRef path);

/// Adds results to those in the file, which is made if need be. Several processes may do so at once; readers see all of
/// it or nothing.
llvm::Error addToTuningFile(llvm::StringRef path, const TuningResults &results);

} // namespace strata

#endif // STRATA_LIB_EXECUTION_TUNINGFILE_H
