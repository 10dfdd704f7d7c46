//===- MapKernels.cpp - kernels become functions of the GPU ---------------===//
#include "AttentionParts.h"
#include "Codegen/GPUPasses.h"
#include "Codegen/Passes.h"
#include "DeviceMemory.h"
#include "LoopSizes.h"
#include "ProductPlan.h"
#include "RowKernel.h"
#include "ThreadNest.h"
#include "WarpgroupContraction.h"
#include "WarpgroupLaunch.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace strata {
#define GEN_PASS_DEF_MAPKERNELS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using namespace strata;

static linalg::GenericOp mainOf(ArrayRef<linalg::GenericOp> ops) {
  for (linalg::GenericOp op : ops)
    if (op.getNumReductionLoops() > 0)
      return op;
  return ops.back();
}

/// Operations that have nothing to do with each other: fills.
static bool isIndependent(ArrayRef<linalg::GenericOp> ops) {
  return ops.size() > 1 && llvm::all_of(ops, [](linalg::GenericOp op) { return op.getNumReductionLoops() == 0; });
}

namespace {
/// How many blocks of how many threads a kernel needs.
struct Shape {
  std::optional<WarpgroupPlan> warpgroups;
  std::optional<ContractionTile> tile;
  std::optional<RowMapping> rows;
  std::optional<AttentionTile> attention;
  std::optional<WarpgroupAttention> warpgroupAttention; ///< in place of the tile's warps
  bool joinsParts = false;                              ///< of an attention
  ThreadMapping mapping;                                ///< of all others

  int64_t threads() const {
    return warpgroups           ? warpgroups->threads()
           : tile               ? tile->threads()
           : rows               ? rows->threads()
           : joinsParts         ? kJoinThreads
           : warpgroupAttention ? warpgroupAttention->threads()
           : attention          ? attention->threads()
                                : mapping.threads();
  }
};

struct MapKernelsPass : strata::impl::MapKernelsBase<MapKernelsPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    MapKernelsBase::getDependentDialects(registry);
    registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::MapVector<func::FuncOp, SmallVector<func::CallOp>> launches;
    module.walk([&](func::CallOp call) {
      if (call->hasAttr("strata.launch"))
        launches[module.lookupSymbol<func::FuncOp>(call.getCallee())].push_back(call);
    });
    if (launches.empty())
      return;
    OpBuilder top = OpBuilder::atBlockEnd(module.getBody());
    auto kernels = top.create<gpu::GPUModuleOp>(module.getLoc(), "kernels");
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), top.getUnitAttr());
    for (auto &[kernel, calls] : launches) {
      Shape shape;
      gpu::GPUFuncOp function = makeFunction(kernels, kernel, shape);
      for (func::CallOp call : calls)
        launch(call, kernel, function, shape);
      if (SymbolTable::symbolKnownUseEmpty(kernel, module))
        kernel.erase();
    }
  }

private:
  gpu::GPUFuncOp makeFunction(gpu::GPUModuleOp kernels, func::FuncOp kernel, Shape &shape) {
    OpBuilder b(&getContext());
    b.setInsertionPoint(kernels.getBody()->getTerminator());
    Location loc = kernel.getLoc();
    StringRef name = kernel.getName();
    name.consume_front("gpu_");
    auto function = b.create<gpu::GPUFuncOp>(loc, name, kernel.getFunctionType());
    function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
    Block *body = &function.getBody().front();
    IRMapping values;
    values.map(kernel.getArguments(), body->getArguments());
    b.setInsertionPointToEnd(body);
    SmallVector<linalg::GenericOp> ops;
    SmallVector<Operation *> buffers;
    std::optional<RowGroup> rows;
    for (Operation &op : kernel.getBody().front().without_terminator()) {
      if (auto loop = dyn_cast<scf::ForallOp>(op)) {
        std::optional<Attention> attention = matchAttention(loop);
        if (!attention)
          rows = matchRowGroup(loop);
        // What is computed for one iteration, by all blocks.
        if (attention) {
          shape.attention = chooseAttentionTile(*attention);
          values.map(loop.getInductionVar(0), b.create<arith::ConstantIndexOp>(loc, 0));
          for (Operation &inner : loop.getBody()->without_terminator())
            b.clone(inner, values);
        }
        continue;
      }
      Operation *copy = b.clone(op, values);
      if (auto generic = dyn_cast<linalg::GenericOp>(copy))
        ops.push_back(generic);
      if (isa<memref::AllocOp, memref::DeallocOp>(copy))
        buffers.push_back(copy);
    }
    b.create<gpu::ReturnOp>(loc);
    b.setInsertionPoint(body->getTerminator());
    if (rows) {
      shape.rows = chooseRowMapping(*rows);
      emitRows(b, function, *rows, *shape.rows, values);
      eraseBuffers(llvm::to_vector(function.getBody().getOps<memref::AllocOp>()));
    } else if (shape.attention) {
      emitAttention(b, function, kernel, shape);
      for (auto op : llvm::make_early_inc_range(body->getOps<linalg::GenericOp>()))
        op.erase();
      for (auto op : llvm::make_early_inc_range(body->getOps<memref::DeallocOp>()))
        op.erase();
      eraseBuffers(llvm::to_vector(body->getOps<memref::AllocOp>()));
    } else {
      emitNest(b, function, ops, shape);
      for (linalg::GenericOp op : llvm::reverse(ops))
        op.erase();
      eraseBuffers(buffers);
    }
    function->setAttr("known_block_size", b.getDenseI32ArrayAttr({static_cast<int32_t>(shape.threads()), 1, 1}));
    return function;
  }

  static void emitAttention(OpBuilder &b, gpu::GPUFuncOp function, func::FuncOp kernel, Shape &shape) {
    Attention attention = *matchAttention(function.getBody().front());
    auto half = kernel->getAttrOfType<StringAttr>(kAttentionParts);
    if (!half) {
      shape.attention->parts = 1;
      shape.warpgroupAttention = planWarpgroupAttention(b, attention, *shape.attention);
      if (shape.warpgroupAttention)
        return emitWarpgroupAttention(b, function, attention, *shape.warpgroupAttention);
      return strata::emitAttention(b, function, attention, *shape.attention);
    }
    auto between = function.getArguments().take_front(kernel.getNumArguments()).take_back(2);
    PartBuffers buffers{between[0], between[1]};
    shape.joinsParts = half.getValue() == "join";
    if (shape.joinsParts)
      emitAttentionJoin(b, function, attention, *shape.attention, buffers);
    else
      strata::emitAttention(b, function, attention, *shape.attention, &buffers);
  }

  void emitNest(OpBuilder &b, gpu::GPUFuncOp function, ArrayRef<linalg::GenericOp> ops, Shape &shape) {
    if (isIndependent(ops)) {
      // One behind the other; most threads have something to do in the largest only.
      for (linalg::GenericOp op : ops) {
        LoopNest nest = buildDeviceNest(b, op);
        emitThreads(b, function, nest, shape.mapping);
      }
      return;
    }
    LoopNest nest = buildDeviceNest(b, ops);
    auto chip = getOperation()->getAttrOfType<StringAttr>(kChip);
    bool tf32 = getOperation()->hasAttr(kTensorFloat);
    ProductPlan plan = planProduct(b, function.getLoc(), nest, chip ? chip.getValue() : "", tf32);
    shape.warpgroups = std::move(plan.warpgroups);
    shape.tile = std::move(plan.tile);
    if (shape.warpgroups) {
      emitWarpgroups(b, function, *shape.warpgroups);
      return;
    }
    if (shape.tile) {
      emitContraction(b, function, nest, *shape.tile);
    } else {
      shape.mapping = chooseMapping(nest);
      emitThreads(b, function, nest, shape.mapping);
    }
  }

  /// Buffers between the operations, of which only sizes are asked.
  template <typename Buffers> static void eraseBuffers(const Buffers &buffers) {
    for (Operation *op : llvm::reverse(buffers)) {
      if (auto alloc = dyn_cast<memref::AllocOp>(op))
        for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
          replaceSize(alloc, user);
      op->erase();
    }
  }

  static void replaceSize(memref::AllocOp alloc, Operation *user) {
    if (auto dim = dyn_cast<memref::DimOp>(user)) {
      int64_t number = *dim.getConstantIndex();
      OpBuilder b(dim);
      MemRefType type = alloc.getType();
      Value size = type.isDynamicDim(number) ? alloc.getDynamicSizes()[type.getDynamicDimIndex(number)]
                                             : b.create<arith::ConstantIndexOp>(dim.getLoc(), type.getDimSize(number));
      dim.replaceAllUsesWith(size);
    }
    for (Operation *inner : llvm::make_early_inc_range(user->getUsers()))
      if (inner->use_empty())
        inner->erase();
    user->erase();
  }

  /// What an attention's kernel is, in words.
  static std::string noteOf(const Shape &shape) {
    if (shape.joinsParts)
      return "attention, what the parts of the keys give";
    std::string note = "attention, with an online softmax";
    if (shape.warpgroupAttention)
      return note + ", by warpgroups";
    return shape.attention->parts > 1 ? note + ", keys in up to " + std::to_string(shape.attention->parts) + " parts"
                                      : note;
  }

  void launch(func::CallOp call, func::FuncOp kernel, gpu::GPUFuncOp function, const Shape &shape) {
    OpBuilder b(call);
    Location loc = call.getLoc();
    auto constant = [&](int64_t value) -> Value { return b.create<arith::ConstantIndexOp>(loc, value); };
    auto divide = [&](Value value, int64_t by) -> Value {
      return b.create<arith::CeilDivUIOp>(loc, value, constant(by));
    };
    Value one = constant(1);
    SmallVector<Value> operands(call.getOperands());
    auto start = [&](Value blocks, Value sharedBytes = Value()) {
      auto launch =
          b.create<gpu::LaunchFuncOp>(loc, function, gpu::KernelDim3{blocks, one, one},
                                      gpu::KernelDim3{constant(shape.threads()), one, one}, sharedBytes, operands);
      if (shape.attention)
        launch->setAttr(kKernelNote, b.getStringAttr(noteOf(shape)));
      if (shape.warpgroups)
        launch->setAttr(kKernelNote, b.getStringAttr("by warpgroups, in tiles of " + Twine(shape.warpgroups->rows()) +
                                                     " x " + Twine(shape.warpgroups->columns())));
      call.erase();
    };
    if (shape.warpgroups) {
      WarpgroupLaunch launch = prepareLaunch(b, loc, *shape.warpgroups, function, operands);
      llvm::append_range(operands, launch.maps);
      return start(launch.blocks, b.create<arith::ConstantIntOp>(loc, shape.warpgroups->sharedBytes(), 32));
    }
    if (shape.rows) {
      auto loop = *kernel.getOps<scf::ForallOp>().begin();
      Value rows = one;
      for (OpFoldResult end : loop.getMixedUpperBound()) {
        std::optional<int64_t> known = getConstantIntValue(end);
        // What is no constant is an argument: the loop has been cut out alone.
        Value size = known ? constant(*known) : call.getOperand(cast<BlockArgument>(cast<Value>(end)).getArgNumber());
        rows = b.create<arith::MulIOp>(loc, rows, size);
      }
      return start(divide(rows, shape.rows->rows));
    }
    if (shape.attention) {
      Attention attention = *matchAttention(*kernel.getOps<scf::ForallOp>().begin());
      if (const std::optional<WarpgroupAttention> &plan = shape.warpgroupAttention) {
        WarpgroupLaunch launch = prepareLaunch(b, loc, *plan, attention, function, operands);
        llvm::append_range(operands, launch.maps);
        return start(launch.blocks, b.create<arith::ConstantIntOp>(loc, plan->sharedBytes(), 32));
      }
      auto sizeOf = [&](ArrayRef<int> loops) { return loopSizes(b, loc, attention.scores, loops, call); };
      Value rows = sizeOf(attention.rows), others = sizeOf(attention.batch);
      if (shape.joinsParts)
        return start(b.create<arith::MulIOp>(loc, rows, others));
      Value blocks = b.createOrFold<arith::MulIOp>(
          loc, b.createOrFold<arith::CeilDivUIOp>(loc, rows, constant(shape.attention->rows)), others);
      if (shape.attention->parts > 1)
        blocks = b.create<arith::MulIOp>(loc, blocks,
                                         divideKeys(b, loc, *shape.attention, blocks, sizeOf(attention.key)).count);
      return start(blocks);
    }
    auto ops = llvm::to_vector(kernel.getOps<linalg::GenericOp>());
    if (isIndependent(ops)) {
      Value most;
      for (linalg::GenericOp op : ops) {
        Value points = one;
        for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
          points = b.create<arith::MulIOp>(loc, points, loopSize(b, loc, op, loop, call));
        most = most ? b.create<arith::MaxUIOp>(loc, most, points).getResult() : points;
      }
      return start(divide(most, shape.mapping.points));
    }
    linalg::GenericOp main = mainOf(ops);
    // The parallel loops by what they walk, as ContractionLoops has them.
    Value rows = one, columns = one, others = one;
    for (auto [i, iterator] : llvm::enumerate(main.getIteratorTypesArray())) {
      if (iterator != utils::IteratorType::parallel)
        continue;
      auto walks = [&, loop = i](unsigned input) {
        return main.getMatchingIndexingMap(main.getDpsInputOperand(input)).isFunctionOfDim(loop);
      };
      bool inLeft = shape.tile && walks(0), inRight = shape.tile && walks(1);
      Value &product = inLeft == inRight ? others : inLeft ? rows : columns;
      product = b.create<arith::MulIOp>(loc, product, loopSize(b, loc, main, i, call));
    }
    if (!shape.tile)
      return start(divide(others, shape.mapping.points));
    Value blocks = b.create<arith::MulIOp>(loc, divide(rows, shape.tile->rows), divide(columns, shape.tile->columns));
    blocks = b.create<arith::MulIOp>(loc, blocks, others);
    int64_t dynamicBytes = shape.tile->dynamicBytes();
    start(blocks, dynamicBytes ? b.create<arith::ConstantIntOp>(loc, dynamicBytes, 32).getResult() : Value());
  }
};
} // namespace
