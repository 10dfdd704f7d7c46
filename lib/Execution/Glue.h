//===- Glue.h - a model's description as data -------------------*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_GLUE_H
#define STRATA_LIB_EXECUTION_GLUE_H

#include "Constants.h"
#include "Execution/Interface.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace strata {

struct GlueRequest {
  std::string modelName;
  std::string metadata;
  const ModelInterface *interface = nullptr;
  llvm::ArrayRef<Constant> constants;
  /// Computed constants are zero in the file and filled when it is loaded.
  bool initAtLoad = false;
  /// Export strata_model_entry, by which strata_model_load finds the model.
  bool exportEntry = false;
};

/// A module that defines NAME_model (strata_model_descriptor) and
/// NAME_constants, with references to NAME_main and to the weights.
std::unique_ptr<llvm::Module> makeGlue(const GlueRequest &request, llvm::LLVMContext &context,
                                       llvm::TargetMachine &machine);

/// The C header for it.
std::string makeHeader(const GlueRequest &request);

} // namespace strata

#endif // STRATA_LIB_EXECUTION_GLUE_H
