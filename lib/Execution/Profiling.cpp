//===- Profiling.cpp - time per node --------------------------------------===//

#include "Profiling.h"
#include "Codegen/NodeNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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

static constexpr llvm::StringLiteral kOperations = "strata.operations", kBytes = "strata.bytes";

static int64_t bytesOf(Type element) {
  return element.isIntOrFloat() ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8) : 8;
}

/// Not counted: casts, and what computes places.
static bool isOperation(Operation &op) {
  return isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) && !isa<CastOpInterface>(op) &&
         !op.hasTrait<OpTrait::ConstantLike>() && !op.getResult(0).getType().isIndex();
}

void noteWork(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    int64_t operations = 0, bytes = 0;
    bool known = true;
    llvm::SmallDenseSet<Value> seen;
    for (auto generic : function.getOps<linalg::GenericOp>()) {
      int64_t points = 1, results = 1;
      for (auto [size, kind] : llvm::zip(generic.getStaticLoopRanges(), generic.getIteratorTypesArray())) {
        known &= !ShapedType::isDynamic(size);
        points *= size;
        results *= kind == utils::IteratorType::parallel ? size : 1;
      }
      // Minimal filtering counts as the convolution that it computes: its sum turns transformed weights back.
      auto winograd = generic->getAttrOfType<IntegerAttr>("strata.products");
      if (winograd)
        operations += 2 * winograd.getInt() * results;
      for (Operation &op : generic.getBody()->without_terminator()) {
        if (isOperation(op) && !winograd)
          operations += points;
        else if (auto load = dyn_cast<memref::LoadOp>(op))
          bytes += points * bytesOf(load.getType());
      }
      for (Value operand : generic->getOperands()) {
        auto type = dyn_cast<MemRefType>(operand.getType());
        // What a kernel has to itself need not be in memory.
        if (!type || !isa<BlockArgument>(operand) || !seen.insert(operand).second)
          continue;
        known &= type.hasStaticShape();
        if (known)
          bytes += type.getNumElements() * bytesOf(type.getElementType());
      }
    }
    if (!known || !function->hasAttr("strata.kernel"))
      continue;
    Builder b(module.getContext());
    function->setAttr(kOperations, b.getI64IntegerAttr(operations));
    function->setAttr(kBytes, b.getI64IntegerAttr(bytes));
  }
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
    Type i64 = builder.getI64Type();
    work = builder.create<LLVM::LLVMFuncOp>(module.getLoc(), "strata_rt_profile_work",
                                            LLVM::LLVMFunctionType::get(nothing, {i64, i64, i64}));
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
      builder.setInsertionPoint(&op);
      if (next == current) {
        tellWork(op, current);
        continue;
      }
      if (current)
        builder.create<LLVM::CallOp>(op.getLoc(), end, number(op.getLoc(), *current));
      if (next) {
        Value name = builder.create<LLVM::AddressOfOp>(op.getLoc(), strings[*next]);
        builder.create<LLVM::CallOp>(op.getLoc(), begin, ValueRange{number(op.getLoc(), *next), name});
      }
      current = next;
      tellWork(op, current);
    }
  }

private:
  void tellWork(Operation &op, std::optional<int64_t> node) {
    auto call = dyn_cast<func::CallOp>(op);
    auto kernel = call ? module.lookupSymbol<func::FuncOp>(call.getCallee()) : func::FuncOp();
    if (!node || !kernel || !kernel->hasAttr(kOperations))
      return;
    auto noted = [&](StringRef name) { return number(op.getLoc(), kernel->getAttrOfType<IntegerAttr>(name).getInt()); };
    builder.create<LLVM::CallOp>(op.getLoc(), work,
                                 ValueRange{number(op.getLoc(), *node), noted(kOperations), noted(kBytes)});
  }

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
  LLVM::LLVMFuncOp begin, end, work;
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
