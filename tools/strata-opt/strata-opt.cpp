//===- strata-opt.cpp - runs passes on MLIR files -------------------------===//
#include "../common/Registration.h"
#include "Dialect/OperatorSets.h"
#include "Dialect/SupportTable.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"

enum class List { None, Plain, Markdown };
static llvm::cl::opt<List> listOps("list-ops", llvm::cl::desc("Print the versioned ops and exit:"), llvm::cl::ValueOptional,
                                   llvm::cl::init(List::None),
                                   llvm::cl::values(clEnumValN(List::Plain, "", ""),
                                                    clEnumValN(List::Plain, "plain", "one line each"),
                                                    clEnumValN(List::Markdown, "markdown", "as docs/operators.md")));

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  strata::registerAllDialects(registry);
  strata::registerAllPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, "Runs passes on MLIR files\n", registry);
  if (listOps != List::None) {
    (listOps == List::Plain ? strata::printVersionedOps : strata::printSupportTable)(llvm::outs());
    return 0;
  }
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
}
