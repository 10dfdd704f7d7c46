//===- FreeEarly.cpp - give memory back right behind its last use ---------===//
#include "Codegen/Passes.h"
#include "GPU/DeviceMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace strata {
#define GEN_PASS_DEF_FREEEARLY
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using namespace strata;

/// The last op of `block` that uses `buffer` or a view of it, `except` aside.
static Operation *lastUse(Value buffer, Block *block, BufferViewFlowAnalysis &views, Operation *except = nullptr) {
  Operation *last = buffer.getDefiningOp();
  for (Value alias : views.resolve(buffer)) {
    // A view that other code may have made of something else still names this buffer: every use of it counts.
    if (Operation *maker = alias.getDefiningOp())
      if (Operation *inBlock = block->findAncestorOpInBlock(*maker); inBlock && last->isBeforeInBlock(inBlock))
        last = inBlock;
    for (Operation *user : alias.getUsers()) {
      Operation *inBlock = block->findAncestorOpInBlock(*user);
      if (inBlock && inBlock != except && last->isBeforeInBlock(inBlock))
        last = inBlock;
    }
  }
  return last;
}

void strata::freeBuffersEarly(func::FuncOp function) {
  SmallVector<memref::DeallocOp> deallocs;
  function.walk([&](memref::DeallocOp op) { deallocs.push_back(op); });
  BufferViewFlowAnalysis views(function);
  for (memref::DeallocOp op : deallocs) {
    Operation *definition = op.getMemref().getDefiningOp();
    Block *block = op->getBlock();
    if (!definition || definition->getBlock() != block)
      continue;
    if (Operation *last = lastUse(op.getMemref(), block, views, op); last->isBeforeInBlock(op))
      op->moveAfter(last);
  }
}

namespace {
/// Bytes of a constant that are read together, and where for the last time.
struct Reading {
  int64_t slot, begin, end;
  Operation *last;
};
} // namespace

/// The bytes of `view`, if it is a contiguous run of what `load` loads.
static std::optional<std::pair<int64_t, int64_t>> bytesOf(memref::SubViewOp view, memref::GetGlobalOp load,
                                                          int64_t bytes) {
  ArrayRef<int64_t> shape = load.getType().getShape(), sizes = view.getStaticSizes();
  ArrayRef<int64_t> offsets = view.getStaticOffsets(), strides = view.getStaticStrides();
  if (shape.empty() || view.getSource() != load.getResult() || sizes.drop_front() != shape.drop_front() ||
      ShapedType::isDynamic(offsets[0]) || ShapedType::isDynamic(sizes[0]) || shape[0] == 0 ||
      !llvm::all_of(strides, [](int64_t stride) { return stride == 1; }))
    return std::nullopt;
  int64_t row = bytes / shape[0];
  return std::pair(offsets[0] * row, (offsets[0] + sizes[0]) * row);
}

/// What `init` reads of the constants that only it reads: runs of a constant where all its uses are such, and no byte
/// is in two different ones; else the whole constant.
static SmallVector<Reading> readingsOf(func::FuncOp init, ArrayAttr constants) {
  BufferViewFlowAnalysis views(init);
  Block *block = &init.getBody().front();
  SymbolTable symbols(init->getParentOfType<ModuleOp>());
  llvm::MapVector<int64_t, SmallVector<Reading>> slots;
  auto lastUseOf = [&](Value buffer) {
    Operation *definition = buffer.getDefiningOp();
    return definition->getBlock() == block ? lastUse(buffer, block, views) : block->findAncestorOpInBlock(*definition);
  };
  init.walk([&](memref::GetGlobalOp load) {
    auto global = symbols.lookup<memref::GlobalOp>(load.getName());
    auto slot = global ? global->getAttrOfType<IntegerAttr>("strata.slot") : nullptr;
    if (!slot)
      return;
    auto entry = cast<DictionaryAttr>(constants[slot.getInt()]);
    if (entry.getAs<BoolAttr>("computed").getValue() || entry.getAs<BoolAttr>("needed_at_run_time").getValue())
      return;
    int64_t bytes = entry.getAs<IntegerAttr>("bytes").getInt();
    SmallVector<Reading> &readings = slots[slot.getInt()];
    SmallVector<Reading> runs;
    for (Operation *user : load->getUsers()) {
      auto view = dyn_cast<memref::SubViewOp>(user);
      auto run = view ? bytesOf(view, load, bytes) : std::nullopt;
      if (!run) {
        readings.push_back({slot.getInt(), 0, bytes, lastUseOf(load)});
        return;
      }
      runs.push_back({slot.getInt(), run->first, run->second, lastUseOf(view)});
    }
    llvm::append_range(readings, runs);
  });
  SmallVector<Reading> result;
  for (auto &[slot, readings] : slots) {
    llvm::sort(readings, [](const Reading &a, const Reading &b) { return a.begin < b.begin; });
    SmallVector<Reading> merged;
    for (const Reading &reading : readings) {
      if (merged.empty() || reading.begin >= merged.back().end) {
        merged.push_back(reading);
        continue;
      }
      Reading &before = merged.back();
      before.end = std::max(before.end, reading.end);
      if (before.last->isBeforeInBlock(reading.last))
        before.last = reading.last;
    }
    llvm::append_range(result, merged);
  }
  return result;
}

/// In the init function, says of each constant that only it reads when it has been read.
static void endConstants(func::FuncOp init, ArrayAttr constants) {
  SmallVector<Reading> readings = readingsOf(init, constants);
  if (readings.empty())
    return;
  OpBuilder b(init->getParentOfType<ModuleOp>().getBodyRegion());
  Location loc = init.getLoc();
  auto function = b.create<func::FuncOp>(loc, "strata_rt_constant_done",
                                         b.getFunctionType(SmallVector<Type>(3, b.getI64Type()), {}));
  function.setPrivate();
  for (const Reading &reading : readings) {
    b.setInsertionPointAfter(reading.last);
    SmallVector<Value> arguments;
    for (int64_t number : {reading.slot, reading.begin, reading.end})
      arguments.push_back(b.create<arith::ConstantIntOp>(loc, number, 64));
    b.create<func::CallOp>(loc, function, arguments);
  }
}

namespace {
struct FreeEarlyPass : strata::impl::FreeEarlyBase<FreeEarlyPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal())
        freeBuffersEarly(function);
    auto init = module.lookupSymbol<func::FuncOp>("init");
    auto constants = module->getAttrOfType<ArrayAttr>("strata.constants");
    if (init && constants && !init.isExternal())
      endConstants(init, constants);
  }
};
} // namespace
