//===- strata-opt.cpp - runs passes on MLIR files -------------------------===//
#include "../common/Registration.h"
#include "Dialect/OperatorSets.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"

static llvm::cl::opt<bool> listOps("list-ops", llvm::cl::desc("Print the versioned ops and exit"));

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  strata::registerAllDialects(registry);
  strata::registerAllPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, "Runs passes on MLIR files\n", registry);
  if (listOps) {
    strata::printVersionedOps(llvm::outs());
    return 0;
  }
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
}
