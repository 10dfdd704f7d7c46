//===- Profiling.cpp - time per node --------------------------------------===//

#include "Profiling.h"
#include "Codegen/NodeNames.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace strata {

static std::string nameOf(Operation *op) {
  std::string names = joinNodeNames(op->getLoc(), " + ");
  return names.empty() ? "(other)" : names;
}

/// Whether running the op takes time: loops, calls, copies, allocations.
static bool isWork(Operation *op) {
  return !op->hasTrait<OpTrait::IsTerminator>() && (op->getNumRegions() != 0 || !isMemoryEffectFree(op));
}

namespace {
class Inserter {
public:
  explicit Inserter(ModuleOp module)
      : module(module), builder(module.getContext()), pointer(LLVM::LLVMPointerType::get(module.getContext())) {
    auto nothing = LLVM::LLVMVoidType::get(module.getContext());
    builder.setInsertionPointToStart(module.getBody());
    begin = builder.create<LLVM::LLVMFuncOp>(module.getLoc(), "strata_rt_profile_begin",
                                             LLVM::LLVMFunctionType::get(nothing, {builder.getI64Type(), pointer}));
    end = builder.create<LLVM::LLVMFuncOp>(module.getLoc(), "strata_rt_profile_end",
                                           LLVM::LLVMFunctionType::get(nothing, {builder.getI64Type()}));
  }

  void run(Block &block) {
    std::optional<int64_t> current;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      bool isEnd = op.hasTrait<OpTrait::IsTerminator>();
      if (!isEnd && !isWork(&op))
        continue;
      std::optional<int64_t> next;
      if (!isEnd)
        next = numberOf(nameOf(&op));
      if (next == current)
        continue;
      builder.setInsertionPoint(&op);
      if (current)
        builder.create<LLVM::CallOp>(op.getLoc(), end, number(op.getLoc(), *current));
      if (next) {
        Value name = builder.create<LLVM::AddressOfOp>(op.getLoc(), strings[*next]);
        builder.create<LLVM::CallOp>(op.getLoc(), begin, ValueRange{number(op.getLoc(), *next), name});
      }
      current = next;
    }
  }

private:
  Value number(Location loc, int64_t value) {
    return builder.create<LLVM::ConstantOp>(loc, builder.getI64Type(), value);
  }

  int64_t numberOf(const std::string &name) {
    auto [it, isNew] = numbers.try_emplace(name, strings.size());
    if (isNew) {
      builder.setInsertionPointToStart(module.getBody());
      std::string bytes = name + '\0';
      auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
      strings.push_back(
          builder.create<LLVM::GlobalOp>(module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                         "strata_node_" + std::to_string(it->second), builder.getStringAttr(bytes)));
    }
    return it->second;
  }

  ModuleOp module;
  OpBuilder builder;
  Type pointer;
  LLVM::LLVMFuncOp begin, end;
  llvm::StringMap<int64_t> numbers;
  std::vector<LLVM::GlobalOp> strings;
};
} // namespace

void insertProfiling(ModuleOp module) {
  auto main = module.lookupSymbol<FunctionOpInterface>("main");
  if (!main || main.isExternal())
    return;
  Inserter inserter(module);
  for (Block &block : main.getFunctionBody())
    inserter.run(block);
}

} // namespace strata
