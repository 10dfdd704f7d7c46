//===- Glue.h - a model's description as data -------------------*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_GLUE_H
#define STRATA_LIB_EXECUTION_GLUE_H

#include "Constants.h"
#include "Execution/Interface.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace strata {

/// The model's own code, or that of a version.
struct GlueUnit {
  std::string symbol; ///< the prefix of its functions and its table
  ModelInterface interface;
  std::vector<size_t> slots; ///< its table: which of the constants
  bool computes = false;     ///< It has an init function that has something to do.
};

struct GlueRequest {
  std::string modelName;
  std::string metadata;
  llvm::ArrayRef<GlueUnit> units; ///< the model itself, then its versions
  llvm::ArrayRef<Constant> constants;
  /// Computed constants are zero in the file and filled when it is loaded.
  bool initAtLoad = false;
  /// Export strata_model_entry, by which strata_model_load finds the model.
  bool exportEntry = false;
};

/// A module that defines NAME_model (strata_model_descriptor), with those of the versions, and the tables of constants,
/// with references to the functions and to the weights.
std::unique_ptr<llvm::Module> makeGlue(const GlueRequest &request, llvm::LLVMContext &context,
                                       llvm::TargetMachine &machine);

/// The C header for it.
std::string makeHeader(const GlueRequest &request);

} // namespace strata

#endif // STRATA_LIB_EXECUTION_GLUE_H
