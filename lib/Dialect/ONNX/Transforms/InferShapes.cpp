//===- InferShapes.cpp - onnx-infer-shapes --------------------------------===//

#include "Branches.h"
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

// Elements of containers may have any rank. One that is taken out has the shape that the model says elsewhere, or the
// rank that its users need: the run checks it.
static void useDeclaredShape(Operation &op) {
  if (!llvm::is_contained({"SequenceAt", "OptionalGetElement", "ConcatFromSequence"}, getUnversionedName(&op)))
    return;
  Value result = op.getResult(0);
  auto type = dyn_cast<UnrankedTensorType>(result.getType());
  if (!type)
    return;
  for (Operation *user : result.getUsers()) {
    if (user->getBlock() != op.getBlock()) // may not be executed
      continue;
    if (auto cast = dyn_cast<onnx::CastShapeOp>(user); cast && isa<RankedTensorType>(cast.getType()))
      return result.setType(cast.getType());
    StringRef name = isa<VersionedOpInterface>(user) ? getUnversionedName(user) : StringRef();
    auto perm = user->getAttrOfType<DenseI64ArrayAttr>("perm");
    if (name == "Gemm" || (name == "Transpose" && perm))
      return result.setType(makeTensorType(Shape(name == "Gemm" ? 2 : perm.size()), type.getElementType()));
  }
}

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
    useDeclaredShape(op);
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
        foldElements(function, values);
        // Users before what they use.
        function.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
          auto cast = dyn_cast<onnx::CastShapeOp>(op);
          if (cast && cast.getInput().getType() == cast.getType())
            cast.getOutput().replaceAllUsesWith(cast.getInput());
          if (op != function && isOpTriviallyDead(op))
            op->erase();
        });
        // Branches say more than the results of an If.
      } while (inlineDecidedBranches(function) || sinkIntoBranches(function));
      updateResults(function);
    }
  }

  // Tensors whose elements are known at compile time become constants.
  static void foldElements(func::FuncOp function, ValueAnalysis &values) {
    OpBuilder builder(function.getContext());
    SmallVector<std::pair<Value, ElementsAttr>> constants;
    function.walk([&](VersionedOpInterface op) {
      if (op->getNumResults() != 1 || !isMemoryEffectFree(op))
        return;
      auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
      if (!type || !type.hasStaticShape())
        return;
      const ValueAnalysis::Values &dims = values.getElements(op->getResult(0));
      if (!dims || static_cast<int64_t>(dims->size()) != type.getNumElements() ||
          !llvm::all_of(*dims, [](const Dim &dim) { return dim.isStatic(); }))
        return;
      auto element = dyn_cast<IntegerType>(type.getElementType());
      if (!element) {
        auto elements = llvm::map_to_vector(*dims, [&](const Dim &dim) -> Attribute {
          return builder.getFloatAttr(type.getElementType(), dim.asFloat());
        });
        constants.emplace_back(op->getResult(0), DenseElementsAttr::get(type, elements));
        return;
      }
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
