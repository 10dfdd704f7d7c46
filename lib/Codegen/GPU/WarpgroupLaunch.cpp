//===- WarpgroupLaunch.cpp - tensor maps and blocks at a launch -----------===//
//
// What the kernel computes of its operands' sizes, the host computes again.
//
//===----------------------------------------------------------------------===//
#include "WarpgroupLaunch.h"
#include "DeviceMemory.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace strata;

/// As CUDA numbers them.
enum { kBytes = 0, kHalf = 6, kBFloat = 9, kTensorFloat = 11, kSwizzle64 = 2, kSwizzle128 = 3 };

static int64_t cudaType(NVVM::WGMMATypes type) {
  switch (type) {
  case NVVM::WGMMATypes::f16:
    return kHalf;
  case NVVM::WGMMATypes::bf16:
    return kBFloat;
  case NVVM::WGMMATypes::tf32:
    return kTensorFloat; // copies round f32
  default:
    return kBytes;
  }
}

namespace {
class LaunchEmitter {
public:
  LaunchEmitter(OpBuilder &b, Location loc, const LoopNest &nest, gpu::GPUFuncOp function, ValueRange operands)
      : b(b), loc(loc), nest(nest), module(function->getParentOfType<ModuleOp>()) {
    outside.map(function.getArguments().take_front(operands.size()), operands);
  }

  Value mapOf(const BulkOperand &operand, const Access &access, NVVM::WGMMATypes type) {
    SmallVector<Value> arguments{
        onHost(access.base),          access.offset ? onHost(access.offset) : number(0),
        number(cudaType(type)),       number(operand.lineBytes == kLongestLine ? kSwizzle128 : kSwizzle64),
        number(operand.elementBytes), number(operand.dimensions.size())};
    for (const MapDimension &dimension : operand.dimensions)
      arguments.append(
          {onHost(dimension.size), onHost(dimension.stride), number(dimension.box), number(dimension.step)});
    return call("tensor_map", arguments, LLVM::LLVMPointerType::get(b.getContext()));
  }

  Value tiles(std::initializer_list<const BulkOperand *> operands, ArrayRef<int> batch) {
    Value tiles = number(1);
    for (const BulkOperand *operand : operands)
      for (auto [loop, box] : llvm::zip(operand->loops, operand->boxes))
        tiles = b.create<arith::MulIOp>(loc, tiles, b.create<arith::CeilDivUIOp>(loc, sizeOf(loop), number(box)));
    for (int loop : batch)
      tiles = b.create<arith::MulIOp>(loc, tiles, sizeOf(loop));
    return tiles;
  }

  /// That run at the same time.
  Value mostBlocks(int64_t together) {
    return b.create<arith::MulIOp>(loc, call("multiprocessors", {}, b.getIndexType()), number(together));
  }

private:
  OpBuilder &b;
  Location loc;
  const LoopNest &nest;
  ModuleOp module;
  IRMapping outside;

  Value number(int64_t value) { return b.create<arith::ConstantIndexOp>(loc, value); }
  Value sizeOf(int loop) { return onHost(nest.loops[loop].size); }

  Value onHost(const Extent &extent) { return extent.isKnown() ? number(extent.known) : onHost(extent.value); }
  Value onHost(Value value) {
    if (Value known = outside.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      onHost(operand);
    b.clone(*op, outside);
    return outside.lookup(value);
  }

  /// A function of the runtime.
  Value call(StringRef role, ValueRange arguments, Type result) {
    OpBuilder top(module.getBodyRegion());
    std::string name;
    for (int i = 0; name.empty() || module.lookupSymbol(name); ++i)
      name = ("strata_gpu_" + role + "_" + Twine(i)).str();
    auto function =
        top.create<func::FuncOp>(top.getUnknownLoc(), name, b.getFunctionType(arguments.getTypes(), result));
    function.setPrivate();
    function->setAttr(kDeviceCall, b.getStringAttr(role));
    return b.create<func::CallOp>(loc, function, arguments).getResult(0);
  }
};
} // namespace

WarpgroupLaunch strata::prepareLaunch(OpBuilder &b, Location loc, const WarpgroupPlan &plan, gpu::GPUFuncOp function,
                                      ValueRange operands) {
  LaunchEmitter emitter(b, loc, plan.nest, function, operands);
  const Stage &reduce = *plan.nest.reduce;
  WarpgroupLaunch launch;
  launch.maps = {emitter.mapOf(plan.left, reduce.inputs[0], plan.instruction.left),
                 emitter.mapOf(plan.right, reduce.inputs[1], plan.instruction.right)};
  // One for each tile, as long as they run at the same time.
  Value tiles = emitter.tiles({&plan.left, &plan.right}, plan.batch);
  launch.blocks = b.create<arith::MinUIOp>(loc, tiles, emitter.mostBlocks(plan.together));
  return launch;
}

WarpgroupLaunch strata::prepareLaunch(OpBuilder &b, Location loc, const WarpgroupAttention &plan, const Attention &a,
                                      gpu::GPUFuncOp function, ValueRange operands) {
  LaunchEmitter emitter(b, loc, plan.all.nest, function, operands);
  WarpgroupLaunch launch;
  launch.maps = {emitter.mapOf(plan.queries, plan.all.queriesOf(a), plan.instruction.left),
                 emitter.mapOf(plan.keys, plan.all.keysOf(a), plan.instruction.right),
                 emitter.mapOf(plan.values, plan.all.valuesOf(a), plan.instruction.right)};
  launch.blocks = emitter.tiles({&plan.queries}, plan.batch);
  return launch;
}
