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

// Exporters are careless about whether one element is a scalar, such as the condition that a Loop goes on by: the
// values of a region's results are the same.
static bool isOneElementOfRegion(onnx::CastShapeOp cast) {
  return areOneElement(cast.getInput().getType(), cast.getType()) &&
         llvm::all_of(cast->getUsers(), [](Operation *user) {
           return user->hasTrait<OpTrait::IsTerminator>() && !isa<func::FuncOp>(user->getParentOp());
         });
}

LogicalResult inferTypesInBlock(Block &block, ValueAnalysis &values) {
  for (Operation &op : block) {
    if (auto cast = dyn_cast<onnx::CastShapeOp>(op)) {
      Type merged = mergeTypes(cast.getInput().getType(), cast.getType());
      if (isOneElementOfRegion(cast))
        continue;
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

// The rank that a value has by sizes that are declared of it, or of what is computed from it element by element. A
// declaration without sizes may be a guess.
static std::optional<int64_t> getDeclaredRank(Value value, unsigned depth = 8) {
  for (Operation *user : value.getUsers()) {
    if (auto cast = dyn_cast<onnx::CastShapeOp>(user))
      if (auto type = dyn_cast<RankedTensorType>(cast.getType()); type && type.hasStaticShape())
        return type.getRank();
    // Of several operands the one of the highest rank counts.
    if (!depth || !isa<VersionedOpInterface>(user) ||
        !llvm::is_contained({"Add", "Cast", "Clip", "Div", "Identity", "Mul", "Relu", "Sigmoid", "Sub", "Tanh"},
                            getUnversionedName(user)))
      continue;
    std::optional<int64_t> rank = getDeclaredRank(user->getResult(0), depth - 1);
    if (rank && llvm::all_of(user->getOperands(), [&](Value operand) {
          auto type = dyn_cast<RankedTensorType>(operand.getType());
          return operand == value || (type && (type.getRank() < *rank || *rank == 0));
        }))
      return rank;
  }
  return std::nullopt;
}

// A Squeeze without axes removes what is 1 at run time. Of sizes that are not known hardly one is, unless the model
// declares another rank: the lowering has the run check it. True if there was one.
static bool assumeRanksOf(func::FuncOp function) {
  SmallVector<Operation *> open;
  function.walk([&](VersionedOpInterface op) {
    if (getUnversionedName(op) != "Squeeze" || !isa<UnrankedTensorType>(op->getResult(0).getType()))
      return;
    bool hasAxes = op->hasAttr("axes") || (op->getNumOperands() > 1 && !isa<NoneType>(op->getOperand(1).getType()));
    if (!hasAxes && isa<RankedTensorType>(op->getOperand(0).getType()))
      open.push_back(op);
  });
  for (Operation *op : open) {
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    Value result = op->getResult(0);
    Shape kept = *getShape(type);
    llvm::erase_if(kept, [](const Dim &dim) { return dim.is(1); });
    std::optional<int64_t> declared = getDeclaredRank(result);
    if (declared && *declared < static_cast<int64_t>(kept.size()))
      kept = Shape(*declared);
    result.setType(makeTensorType(kept, type.getElementType()));
    for (Operation *user : llvm::make_early_inc_range(result.getUsers()))
      if (auto cast = dyn_cast<onnx::CastShapeOp>(user); cast && !mergeTypes(result.getType(), cast.getType())) {
        cast.emitWarning() << "is declared as " << cast.getType() << ", but is " << result.getType()
                           << " unless a size is 1; the declaration is ignored";
        cast.getOutput().replaceAllUsesWith(result);
        cast.erase();
      }
  }
  return !open.empty();
}

namespace {
struct InferShapesPass : impl::InferShapesPassBase<InferShapesPass> {
  using InferShapesPassBase::InferShapesPassBase;

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
          if (op != function && (isOpTriviallyDead(op) || isUnusedIf(op)))
            op->erase();
        });
        // Branches say more than the results of an If.
      } while (inlineDecidedBranches(function) || sinkIntoBranches(function) ||
               (assumeRanks && (assumeRanksOf(function) || dropUnreadStarts(function))));
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
