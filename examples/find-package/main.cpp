// operator-census FILE.mlir: counts the operators of a model by domain, name and version.
#include "Dialect/OperatorSets.h"
#include "Dialect/VersionedOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <map>

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: operator-census FILE.mlir\n";
    return 1;
  }
  mlir::DialectRegistry registry;
  strata::registerOperatorSets(registry);
  registry.insert<mlir::func::FuncDialect>();
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 1;

  std::map<std::string, int> census;
  module->walk([&](strata::VersionedOpInterface op) {
    std::string name = (op.getDomain() + "::" + op.getOperatorName()).str();
    std::string newer =
        op.getSinceVersion() == op.getNewestVersion() ? "" : ", newest is " + std::to_string(op.getNewestVersion());
    ++census[name + " since " + std::to_string(op.getSinceVersion()) + newer];
  });
  for (const auto &[name, count] : census)
    llvm::outs() << count << " " << name << "\n";
  return 0;
}
