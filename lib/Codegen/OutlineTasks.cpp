//===- OutlineTasks.cpp - parallel loops become tasks of the thread pool --===//
#include "Codegen/Passes.h"
#include "RowLoop.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

namespace strata {
#define GEN_PASS_DEF_OUTLINETASKS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

namespace {
struct OutlineTasksPass : strata::impl::OutlineTasksBase<OutlineTasksPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    unsigned number = 0;
    // Within tasks, what stands apart.
    for (bool apart : {false, true}) {
      SmallVector<scf::ParallelOp> loops;
      module.walk<WalkOrder::PreOrder>([&](scf::ParallelOp op) {
        bool isWithin = !apart && op->getParentOfType<scf::ParallelOp>();
        if (op->hasAttr(strata::kApart) == apart && !isWithin && op.getNumLoops() == 1 && op.getNumResults() == 0)
          loops.push_back(op);
      });
      for (scf::ParallelOp loop : loops)
        outline(module, loop, number++);
    }
  }

private:
  void outline(ModuleOp module, scf::ParallelOp loop, unsigned number) {
    MLIRContext *context = &getContext();
    Location loc = loop.getLoc();
    OpBuilder b(loop);
    auto pointer = LLVM::LLVMPointerType::get(context);
    Type i64 = b.getI64Type();
    LLVMTypeConverter converter(context);

    llvm::SetVector<Value> captured, above;
    SmallVector<Operation *> constants, views;
    auto isConstant = [](Value value) {
      Operation *maker = value.getDefiningOp();
      return maker && maker->hasTrait<OpTrait::ConstantLike>();
    };
    getUsedValuesDefinedAbove(loop.getRegion(), above);
    above.insert(loop.getStep()[0]);
    // A view of constant sizes is made in the task, of a buffer that may be visited behind it.
    for (size_t i = 0; i < above.size(); ++i) {
      Value value = above[i];
      auto view = value.getDefiningOp<memref::ReinterpretCastOp>();
      if (isConstant(value)) {
        constants.push_back(value.getDefiningOp());
      } else if (view && !view.getSource().getDefiningOp<memref::ReinterpretCastOp>() &&
                 llvm::all_of(llvm::drop_begin(view->getOperands()), isConstant)) {
        views.push_back(view);
        above.insert(view->operand_begin(), view->operand_end());
      } else {
        captured.insert(value);
      }
    }
    // Of a buffer whose type says all but its address, the address.
    auto isBare = [&](Type type) {
      auto buffer = dyn_cast<BaseMemRefType>(type);
      return buffer && LLVMTypeConverter::canConvertToBarePtr(buffer);
    };
    SmallVector<Type> fields;
    for (Value value : captured)
      fields.push_back(isBare(value.getType()) ? pointer : converter.convertType(value.getType()));
    auto structure = LLVM::LLVMStructType::getLiteral(context, fields);
    auto field = [&](OpBuilder &b, Value base, int32_t i) -> Value {
      return b.create<LLVM::GEPOp>(loc, pointer, structure, base, ArrayRef<LLVM::GEPArg>{0, i});
    };
    auto castTo = [&](OpBuilder &b, Value value, Type type) -> Value {
      if (value.getType() == type)
        return value;
      return b.create<UnrealizedConversionCastOp>(loc, type, value).getResult(0);
    };

    // The task's function.
    OpBuilder top(context);
    top.setInsertionPointToEnd(module.getBody());
    auto taskType = b.getFunctionType({i64, i64, pointer}, {});
    auto task = top.create<func::FuncOp>(loc, (strata::kTaskPrefix + Twine(number)).str(), taskType);
    task.setPrivate();
    if (loop->hasAttr(strata::kApart))
      task->setAttr("passthrough", b.getStrArrayAttr({"noinline"}));
    Block *body = task.addEntryBlock();
    top.setInsertionPointToEnd(body);
    IRMapping mapping;
    for (Operation *constant : constants)
      top.clone(*constant, mapping);
    for (auto [i, value] : llvm::enumerate(captured)) {
      Value loaded = top.create<LLVM::LoadOp>(loc, fields[i], field(top, body->getArgument(2), i));
      if (isBare(value.getType()))
        loaded = MemRefDescriptor::fromStaticShape(top, loc, converter, cast<MemRefType>(value.getType()), loaded);
      mapping.map(value, castTo(top, loaded, value.getType()));
    }
    for (Operation *view : views)
      top.clone(*view, mapping);
    auto asIndex = [&](Value value) { return top.create<arith::IndexCastOp>(loc, top.getIndexType(), value); };
    Value step = mapping.lookup(loop.getStep()[0]);
    auto each = top.create<scf::ForOp>(loc, asIndex(body->getArgument(0)), asIndex(body->getArgument(1)), step);
    top.create<func::ReturnOp>(loc);
    top.setInsertionPointToStart(each.getBody());
    mapping.map(loop.getInductionVars()[0], each.getInductionVar());
    for (Operation &op : loop.getBody()->without_terminator()) {
      Operation *copy = top.clone(op, mapping);
      // One buffer for the task, not one for each of its parts.
      if (isa<memref::AllocaOp, LLVM::AllocaOp>(copy))
        copy->moveBefore(each);
    }
    strata::hoistScratch(each, each.getBody());

    // The call. The context lies in the function's frame, not in a loop's.
    auto run = module.lookupSymbol<func::FuncOp>("strata_rt_parallel_for");
    if (!run && !loop->hasAttr(strata::kApart)) {
      OpBuilder first(module.getBodyRegion());
      run = first.create<func::FuncOp>(first.getUnknownLoc(), "strata_rt_parallel_for",
                                       b.getFunctionType({pointer, i64, i64, i64, pointer}, {}));
      run.setPrivate();
    }
    auto function = loop->getParentOfType<func::FuncOp>();
    OpBuilder entry(&function.getBody().front(), function.getBody().front().begin());
    Value one = entry.create<LLVM::ConstantOp>(loc, i64, entry.getI64IntegerAttr(1));
    Value frame = entry.create<LLVM::AllocaOp>(loc, pointer, structure, one);
    for (auto [i, value] : llvm::enumerate(captured)) {
      Value stored = castTo(b, value, converter.convertType(value.getType()));
      if (isBare(value.getType()))
        stored = MemRefDescriptor(stored).alignedPtr(b, loc);
      b.create<LLVM::StoreOp>(loc, stored, field(b, frame, i));
    }
    auto asI64 = [&](Value value) -> Value { return b.create<arith::IndexCastOp>(loc, i64, value); };
    Value from = asI64(loop.getLowerBound()[0]), to = asI64(loop.getUpperBound()[0]);
    if (loop->hasAttr(strata::kApart)) {
      b.create<func::CallOp>(loc, task, ValueRange{from, to, frame});
    } else {
      Value address = castTo(b, b.create<func::ConstantOp>(loc, taskType, task.getSymName()), pointer);
      b.create<func::CallOp>(loc, run, ValueRange{address, from, to, asI64(loop.getStep()[0]), frame});
    }
    loop.erase();
  }
};
} // namespace
