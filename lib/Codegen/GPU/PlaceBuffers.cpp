//===- PlaceBuffers.cpp - which buffers are the GPU's ---------------------===//
//
// Buffers that may be the same memory (views, what control flow joins) form a
// class. A class that a kernel uses lies in device memory as a whole; everything
// else on the host that looks into it asks the runtime for a copy.
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"
#include "DeviceMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace strata {
#define GEN_PASS_DEF_PLACEBUFFERS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using namespace strata;

/// Elements up to which a computation on integers that control flow and sizes
/// depend on stays on the host: a launch and a copy back take longer.
static constexpr int64_t smallElements = 64;

namespace {

/// The classes of buffers of one function.
class BufferClasses {
public:
  explicit BufferClasses(func::FuncOp function) {
    function.walk([&](Operation *op) { visit(op); });
    for (Block &block : function.getBody())
      for (BlockArgument argument : block.getArguments())
        add(argument);
  }

  void add(Value value) {
    if (isa<MemRefType>(value.getType()))
      classes.insert(value.getAsOpaquePointer());
  }
  Value leader(Value value) const {
    return Value::getFromOpaquePointer(classes.getLeaderValue(value.getAsOpaquePointer()));
  }

private:
  void unite(Value a, Value b) {
    if (isa<MemRefType>(a.getType()) && isa<MemRefType>(b.getType()))
      classes.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  }
  void unite(ValueRange a, ValueRange b) {
    for (auto [x, y] : llvm::zip(a, b))
      unite(x, y);
  }

  void visit(Operation *op) {
    for (Value result : op->getResults())
      add(result);
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        add(argument);
    if (auto view = dyn_cast<ViewLikeOpInterface>(op))
      unite(view.getViewSource(), op->getResult(0));
    else if (isa<memref::CastOp, memref::ExtractStridedMetadataOp>(op))
      unite(op->getOperand(0), op->getResult(0));
    else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      unite(select.getTrueValue(), select.getResult());
      unite(select.getFalseValue(), select.getResult());
    }
    if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
      SmallVector<RegionSuccessor> successors;
      branch.getSuccessorRegions(RegionBranchPoint::parent(), successors);
      for (RegionSuccessor &successor : successors) {
        ValueRange inputs = successor.isParent() ? ValueRange(op->getResults()) : successor.getSuccessorInputs();
        unite(branch.getEntrySuccessorOperands(successor), inputs);
      }
    }
    if (auto end = dyn_cast<RegionBranchTerminatorOpInterface>(op);
        end && isa<RegionBranchOpInterface>(op->getParentOp())) {
      SmallVector<RegionSuccessor> successors;
      end.getSuccessorRegions(SmallVector<Attribute>(op->getNumOperands()), successors);
      for (RegionSuccessor &successor : successors) {
        ValueRange inputs =
            successor.isParent() ? ValueRange(op->getParentOp()->getResults()) : successor.getSuccessorInputs();
        unite(end.getSuccessorOperands(successor), inputs);
      }
    }
  }

  llvm::EquivalenceClasses<void *> classes;
};

/// Neither reads nor writes elements: only passes buffers on.
bool onlyMoves(Operation *op) {
  return isa<ViewLikeOpInterface, memref::CastOp, memref::ExtractStridedMetadataOp, memref::DimOp, arith::SelectOp,
             memref::AllocOp, memref::DeallocOp, memref::CopyOp, memref::GetGlobalOp,
             memref::ExtractAlignedPointerAsIndexOp, RegionBranchTerminatorOpInterface>(op);
}

struct PlaceBuffersPass : strata::impl::PlaceBuffersBase<PlaceBuffersPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    declared.clear();
    deviceKernels.clear();
    outlineStridedCopies(module, main);
    separateConstants(main);
    BufferClasses buffers(main);
    SmallVector<func::CallOp> launches = findLaunches(module, main, buffers);
    DenseSet<Value> device;
    for (func::CallOp call : launches) {
      call->setAttr("strata.launch", UnitAttr::get(&getContext()));
      for (Value operand : call.getOperands())
        if (isa<MemRefType>(operand.getType()))
          device.insert(buffers.leader(operand));
    }
    if (launches.empty())
      return bringArguments(main, DenseMap<Value, MemRefType>());
    auto isDevice = [&](Value value) {
      return isa<MemRefType>(value.getType()) && device.contains(buffers.leader(value));
    };
    // What host operations will read by a copy of their own.
    SmallVector<Operation *> hostOps;
    collectHostOps(main.getBody(), isDevice, hostOps);
    SmallVector<Value> moved;
    main.walk([&](Operation *op) {
      for (Value result : op->getResults())
        if (isDevice(result))
          moved.push_back(result);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            if (isDevice(argument))
              moved.push_back(argument);
    });
    DenseMap<Value, MemRefType> before;
    for (Value value : moved) {
      auto type = cast<MemRefType>(value.getType());
      before[value] = type;
      value.setType(inDeviceMemory(type));
    }
    for (func::CallOp call : launches)
      callDeviceKernel(module, call);
    for (Operation *op : hostOps)
      readThroughHost(op, before);
    bringArguments(main, before);
    for (Value value : moved)
      if (auto global = value.getDefiningOp<memref::GetGlobalOp>())
        bringConstant(global);
    returnToHost(main);
    freeBuffersEarly(main);
  }

private:
  /// Copies that the driver has no function for are kernels.
  static void outlineStridedCopies(ModuleOp module, func::FuncOp main) {
    SmallVector<memref::CopyOp> copies;
    main.walk([&](memref::CopyOp op) {
      auto contiguous = [](Value buffer) { return cast<MemRefType>(buffer.getType()).getLayout().isIdentity(); };
      if (!contiguous(op.getSource()) || !contiguous(op.getTarget()))
        copies.push_back(op);
    });
    for (auto [number, op] : llvm::enumerate(copies)) {
      Location loc = op.getLoc();
      OpBuilder top = OpBuilder::atBlockEnd(module.getBody());
      auto kernel = top.create<func::FuncOp>(loc, "copy_" + std::to_string(number),
                                             top.getFunctionType(op->getOperandTypes(), {}));
      kernel.setPrivate();
      kernel->setAttr("strata.kernel", top.getUnitAttr());
      Block *body = kernel.addEntryBlock();
      top.setInsertionPointToEnd(body);
      int64_t rank = cast<MemRefType>(op.getTarget().getType()).getRank();
      AffineMap identity = top.getMultiDimIdentityMap(rank);
      top.create<linalg::GenericOp>(
          loc, body->getArgument(0), body->getArgument(1), ArrayRef<AffineMap>{identity, identity},
          SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
          [](OpBuilder &b, Location loc, ValueRange values) { b.create<linalg::YieldOp>(loc, values.front()); });
      top.create<func::ReturnOp>(loc);
      OpBuilder(op).create<func::CallOp>(loc, kernel, op->getOperands());
      op.erase();
    }
  }

  /// Every user of a constant by its own op, so that uses on host and device
  /// are different classes.
  static void separateConstants(func::FuncOp main) {
    SmallVector<memref::GetGlobalOp> globals;
    main.walk([&](memref::GetGlobalOp op) { globals.push_back(op); });
    for (memref::GetGlobalOp op : globals)
      for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
        if (op->hasOneUse())
          break;
        OpBuilder b(use.getOwner());
        use.set(b.clone(*op)->getResult(0));
      }
  }

  /// The calls of kernels that the GPU shall run.
  SmallVector<func::CallOp> findLaunches(ModuleOp module, func::FuncOp main, const BufferClasses &buffers) {
    llvm::StringMap<std::optional<std::string>> reasons;
    SmallVector<func::CallOp> launches;
    DenseSet<Value> readByHost;
    auto keep = [](func::CallOp call, StringRef reason) {
      call->setAttr(kOnHost, StringAttr::get(call.getContext(), reason));
    };
    main.walk([&](Operation *op) {
      if (isa<memref::LoadOp, memref::StoreOp>(op))
        for (Value operand : op->getOperands())
          if (isa<MemRefType>(operand.getType()))
            readByHost.insert(buffers.leader(operand));
    });
    main.walk([&](func::CallOp call) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      if (!callee || !callee->hasAttr("strata.kernel"))
        return;
      auto [entry, isNew] = reasons.try_emplace(call.getCallee());
      if (isNew)
        entry->second = whyNotOnDevice(callee);
      if (entry->second)
        keep(call, *entry->second);
      else
        launches.push_back(call);
    });
    // Computations of sizes and conditions stay where they are asked for.
    auto isSmall = [](func::CallOp call) {
      return llvm::all_of(call.getOperandTypes(), [](Type type) {
        auto buffer = dyn_cast<MemRefType>(type);
        return !buffer || (buffer.hasStaticShape() && buffer.getElementType().isIntOrIndex() &&
                           buffer.getNumElements() <= smallElements);
      });
    };
    for (bool changed = true; changed;) {
      changed = false;
      llvm::erase_if(launches, [&](func::CallOp call) {
        auto asked = [&](Value operand) {
          return isa<MemRefType>(operand.getType()) && readByHost.contains(buffers.leader(operand));
        };
        if (!isSmall(call) || !llvm::any_of(call.getOperands(), asked))
          return false;
        for (Value operand : call.getOperands())
          if (isa<MemRefType>(operand.getType()))
            readByHost.insert(buffers.leader(operand));
        keep(call, "few integers, which sizes or conditions depend on");
        return changed = true;
      });
    }
    return launches;
  }

  /// The outermost operations of the host that look into device buffers.
  static void collectHostOps(Region &region, llvm::function_ref<bool(Value)> isDevice,
                             SmallVector<Operation *> &result) {
    auto launches = [](Operation *op) {
      return op
          ->walk([](Operation *inner) {
            return inner->hasAttr("strata.launch") || isa<memref::DeallocOp, memref::AllocOp, memref::CopyOp>(inner)
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted();
    };
    for (Block &block : region)
      for (Operation &op : block) {
        if (op.hasAttr("strata.launch") || isa<func::ReturnOp>(op))
          continue;
        if (op.getNumRegions()) {
          bool joins = llvm::any_of(op.getResults(), isDevice);
          for (Region &inner : op.getRegions())
            joins |= llvm::any_of(inner.getArguments(), isDevice);
          if (joins || launches(&op)) {
            for (Region &inner : op.getRegions())
              collectHostOps(inner, isDevice, result);
            continue;
          }
          bool looks = false;
          op.walk(
              [&](Operation *inner) { looks |= !onlyMoves(inner) && llvm::any_of(inner->getOperands(), isDevice); });
          if (looks)
            result.push_back(&op);
        } else if (!onlyMoves(&op) && llvm::any_of(op.getOperands(), isDevice)) {
          result.push_back(&op);
        }
      }
  }

  func::FuncOp declare(StringRef role, TypeRange inputs, TypeRange results) {
    ModuleOp module = getOperation();
    func::FuncOp &function = declared[{role, FunctionType::get(&getContext(), inputs, results)}];
    if (!function) {
      OpBuilder top(module.getBodyRegion());
      function =
          top.create<func::FuncOp>(top.getUnknownLoc(), ("strata_gpu_" + role + "_" + Twine(declared.size() - 1)).str(),
                                   FunctionType::get(&getContext(), inputs, results));
      function.setPrivate();
      function->setAttr(kDeviceCall, top.getStringAttr(role));
    }
    return function;
  }

  static bool mayWrite(Operation *op) {
    return op
        ->walk([](Operation *inner) {
          if (isa<memref::LoadOp>(inner) || isMemoryEffectFree(inner) || inner->getNumRegions())
            return WalkResult::advance();
          return WalkResult::interrupt();
        })
        .wasInterrupted();
  }

  /// Buffers of the device that `op` looks into from outside become the host's
  /// copies of them.
  void readThroughHost(Operation *op, const DenseMap<Value, MemRefType> &before) {
    llvm::MapVector<Value, Value> copies;
    OpBuilder b(op);
    bool writes = mayWrite(op);
    op->walk([&](Operation *inner) {
      for (OpOperand &use : inner->getOpOperands()) {
        auto type = before.find(use.get());
        if (type == before.end() || op->isProperAncestor(use.get().getParentBlock()->getParentOp()) ||
            use.get().getParentBlock()->getParentOp() == op)
          continue;
        Value &copy = copies[use.get()];
        if (!copy) {
          func::FuncOp function = declare("to_host", use.get().getType(), type->second);
          copy = b.create<func::CallOp>(op->getLoc(), function, use.get()).getResult(0);
        }
        use.set(copy);
      }
      // What is derived inside is derived of the copy.
      if (inner != op || op->getNumRegions())
        for (Value result : inner->getResults())
          if (auto type = before.find(result); type != before.end())
            result.setType(type->second);
    });
    if (!writes)
      return;
    b.setInsertionPointAfter(op);
    for (auto [value, copy] : copies)
      b.create<func::CallOp>(op->getLoc(), declare("host_wrote", value.getType(), {}), value);
  }

  /// The kernel with buffers in device memory; the other one stays if the host
  /// calls it.
  void callDeviceKernel(ModuleOp module, func::CallOp call) {
    auto kernel = module.lookupSymbol<func::FuncOp>(call.getCallee());
    func::FuncOp &clone = deviceKernels[call.getCalleeAttr().getAttr()];
    if (!clone) {
      OpBuilder b(kernel);
      clone = cast<func::FuncOp>(b.clone(*kernel));
      clone.setName(("gpu_" + kernel.getName()).str());
      clone.setType(b.getFunctionType(call.getOperandTypes(), {}));
      for (auto [argument, type] : llvm::zip(clone.getArguments(), call.getOperandTypes()))
        argument.setType(type);
      clone.walk([](Operation *op) {
        for (Value result : op->getResults())
          if (auto type = dyn_cast<MemRefType>(result.getType()))
            result.setType(inDeviceMemory(type));
      });
    }
    call.setCallee(clone.getName());
    if (SymbolTable::symbolKnownUseEmpty(kernel, module))
      kernel.erase();
  }

  /// Inputs are brought to the side that uses them when the run starts; the
  /// caller may have them on either.
  void bringArguments(func::FuncOp main, const DenseMap<Value, MemRefType> &before) {
    Block &entry = main.getBody().front();
    OpBuilder b(&entry, entry.begin());
    for (BlockArgument argument : main.getArguments()) {
      // Sizes are asked of the argument itself.
      auto looksInside = [](OpOperand &use) { return !isa<memref::DimOp>(use.getOwner()); };
      if (!isa<MemRefType>(argument.getType()) || llvm::none_of(argument.getUses(), looksInside))
        continue;
      auto type = before.find(argument);
      bool onDevice = type != before.end();
      Type wanted = argument.getType();
      if (onDevice)
        argument.setType(type->second);
      // Messages of the copy name it.
      auto name = main.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "strata.name");
      Location loc = name ? NameLoc::get(b.getStringAttr("input '" + name.getValue() + "'")) : argument.getLoc();
      auto call =
          b.create<func::CallOp>(loc, declare(onDevice ? "input" : "host_input", argument.getType(), wanted), argument);
      Value brought = call.getResult(0);
      argument.replaceUsesWithIf(brought, [&](OpOperand &use) { return looksInside(use) && use.getOwner() != call; });
      if (onDevice)
        OpBuilder(entry.getTerminator()).create<memref::DeallocOp>(argument.getLoc(), brought);
    }
  }

  void bringConstant(memref::GetGlobalOp global) {
    auto deviceType = cast<MemRefType>(global.getType());
    global.getResult().setType(inHostMemory(deviceType));
    OpBuilder b(global->getBlock(), std::next(global->getIterator()));
    auto call =
        b.create<func::CallOp>(global.getLoc(), declare("constant", global.getType(), deviceType), global.getResult());
    global.getResult().replaceAllUsesExcept(call.getResult(0), call);
  }

  /// Results are copied to the host before the run ends, or are the caller's.
  void returnToHost(func::FuncOp main) {
    Operation *end = main.getBody().front().getTerminator();
    OpBuilder b(end);
    SmallVector<Value> freed;
    for (OpOperand &operand : end->getOpOperands()) {
      Value value = operand.get();
      if (!isDeviceMemory(value.getType()))
        continue;
      auto type = inHostMemory(cast<MemRefType>(value.getType()));
      operand.set(b.create<func::CallOp>(value.getLoc(), declare("result", value.getType(), type), value).getResult(0));
      bool freedElsewhere =
          llvm::any_of(value.getUsers(), [](Operation *user) { return isa<memref::DeallocOp>(user); });
      if (value.getDefiningOp<memref::AllocOp>() && !freedElsewhere && !llvm::is_contained(freed, value))
        freed.push_back(value);
    }
    for (Value value : freed)
      b.create<memref::DeallocOp>(value.getLoc(), value);
  }

  DenseMap<std::pair<StringRef, FunctionType>, func::FuncOp> declared;
  DenseMap<StringAttr, func::FuncOp> deviceKernels;
};
} // namespace
