//===- InferShapes.cpp - onnx-infer-shapes --------------------------------===//

#include "Dialect/ONNX/IR/ONNXBase.h"
#include "Dialect/ONNX/Transforms/Passes.h"
#include "Dialect/OpBehavior.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace strata {
#define GEN_PASS_DEF_INFERSHAPESPASS
#include "Dialect/ONNX/Transforms/Passes.h.inc"

LogicalResult inferTypesInBlock(Block &block, ValueAnalysis &values) {
  for (Operation &op : block) {
    if (auto cast = dyn_cast<onnx::CastShapeOp>(op)) {
      Type merged = mergeTypes(cast.getInput().getType(), cast.getType());
      if (!merged)
        return op.emitOpError("says that the value is ")
               << cast.getType() << ", but it is " << cast.getInput().getType();
      cast.getOutput().setType(merged);
      continue;
    }
    if (!isa<TypeInferenceInterface>(op))
      continue;
    ShapeContext context(&op, values);
    if (failed(inferResultTypes(context)))
      return failure();
    for (auto [result, type] : llvm::zip_equal(op.getResults(), context.getResultTypes())) {
      Type merged = mergeTypes(type, result.getType());
      if (!merged)
        return op.emitOpError("has the result type ") << result.getType() << ", but its operands make it " << type;
      result.setType(merged);
    }
  }
  return success();
}

namespace {
struct InferShapesPass : impl::InferShapesPassBase<InferShapesPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      do {
        ValueAnalysis values;
        if (failed(inferTypesInBlock(function.getBody().front(), values)))
          return signalPassFailure();
        foldIntegers(function, values);
        // Users before what they use.
        function.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
          if (op != function && isOpTriviallyDead(op))
            op->erase();
        });
        // What a branch yields says more than the If's results did.
      } while (simplify(function));
      updateResults(function);
    }
  }

  // Removes casts to what their operands are, and puts the branch that is taken in the place of an If whose condition
  // is known. True if there was such an If.
  static bool simplify(func::FuncOp function) {
    SmallVector<Operation *> decided;
    function.walk([&](Operation *op) {
      if (auto cast = dyn_cast<onnx::CastShapeOp>(op); cast && cast.getInput().getType() == cast.getType()) {
        cast.getOutput().replaceAllUsesWith(cast.getInput());
        cast->erase();
      } else if (isa<VersionedOpInterface>(op) && getUnversionedName(op) == "If" && getCondition(op)) {
        decided.push_back(op);
      }
    });
    // Inner ones come first, and stay valid when the outer one's block moves; those in branches not taken go with them.
    llvm::DenseSet<Operation *> gone;
    for (Operation *op : llvm::reverse(decided)) {
      if (gone.contains(op))
        continue;
      Region &taken = op->getRegion(*getCondition(op) ? 1 : 0);
      for (Region &region : op->getRegions())
        if (&region != &taken)
          region.walk([&](Operation *inner) { gone.insert(inner); });
      Operation *terminator = taken.front().getTerminator();
      OpBuilder builder(op);
      for (auto [result, value] : llvm::zip_equal(op->getResults(), terminator->getOperands())) {
        if (value.getType() != result.getType()) {
          builder.setInsertionPoint(terminator);
          value = builder.create<onnx::CastShapeOp>(op->getLoc(), result.getType(), value);
        }
        result.replaceAllUsesWith(value);
      }
      terminator->erase();
      op->getBlock()->getOperations().splice(op->getIterator(), taken.front().getOperations());
      op->erase();
    }
    return !decided.empty();
  }

  // Of an If whose condition is a constant: alphabetically, the first region is the else branch.
  static std::optional<bool> getCondition(Operation *op) {
    auto known = getIntegers(getConstant(op->getOperand(0)));
    if (known && known->size() == 1)
      return known->front() != 0;
    return std::nullopt;
  }

  // Integer tensors that are known at compile time become constants.
  static void foldIntegers(func::FuncOp function, ValueAnalysis &values) {
    OpBuilder builder(function.getContext());
    SmallVector<std::pair<Value, ElementsAttr>> constants;
    function.walk([&](VersionedOpInterface op) {
      if (op->getNumResults() != 1 || !isMemoryEffectFree(op))
        return;
      auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
      auto element = type && type.hasStaticShape() ? dyn_cast<IntegerType>(type.getElementType()) : IntegerType();
      if (!element)
        return;
      const ValueAnalysis::Values &dims = values.get(op->getResult(0));
      if (!dims || static_cast<int64_t>(dims->size()) != type.getNumElements() ||
          !llvm::all_of(*dims, [](const Dim &dim) { return dim.isStatic(); }))
        return;
      SmallVector<APInt> elements;
      for (const Dim &dim : *dims)
        elements.push_back(APInt(element.getWidth(), dim.size, !element.isUnsigned()));
      constants.emplace_back(op->getResult(0), DenseIntElementsAttr::get(type, elements));
    });
    for (auto [value, attr] : constants) {
      Operation *op = value.getDefiningOp();
      builder.setInsertionPoint(op);
      value.replaceAllUsesWith(builder.create<onnx::InitializerOp>(op->getLoc(), attr));
      op->erase();
    }
  }

  // The function's results are what its body yields; a declared type that says more stays, checked at run time.
  static void updateResults(func::FuncOp function) {
    Operation *terminator = function.getBody().front().getTerminator();
    SmallVector<Type> types;
    for (auto [operand, declared] : llvm::zip_equal(terminator->getOpOperands(), function.getResultTypes())) {
      Type type = operand.get().getType();
      // A declared rank that nothing contradicts: lowerings check it where the run tells.
      if (isa<UnrankedTensorType>(type) && operand.get().getDefiningOp<VersionedOpInterface>())
        if (Type merged = mergeTypes(declared, type)) {
          operand.get().setType(merged);
          type = merged;
        }
      if (Type merged = mergeTypes(declared, type); merged && merged != type) {
        OpBuilder builder(terminator);
        operand.set(builder.create<onnx::CastShapeOp>(terminator->getLoc(), merged, operand.get()));
        type = merged;
      }
      types.push_back(type);
    }
    function.setType(FunctionType::get(function.getContext(), function.getArgumentTypes(), types));
  }
};
} // namespace
} // namespace strata
