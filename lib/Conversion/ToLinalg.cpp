//===- ToLinalg.cpp - convert-onnx-to-linalg ------------------------------===//
//
// Builds each function anew: the ops are visited in order and each one's slice
// writes what it computes. There is nothing to roll back and an op that cannot
// be lowered says so itself.
//
//===----------------------------------------------------------------------===//

#include "Conversion/LinalgBuilder.h"
#include "Conversion/Passes.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "Dialect/OpBehavior.h"
#include "Dialect/OperatorSets.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace strata {
#define GEN_PASS_DEF_CONVERTONNXTOLINALGPASS
#include "Conversion/Passes.h.inc"

// A tensor under a type that claims more or less about its sizes; what it claims more is checked.
static Value castShape(LinalgBuilder &b, Value value, RankedTensorType type) {
  auto from = cast<RankedTensorType>(value.getType());
  for (int64_t i = 0; i < std::min(from.getRank(), type.getRank()); ++i)
    if (from.isDynamicDim(i) && !type.isDynamicDim(i))
      b.checkEqual(b.dim(value, i), b.getIndexAttr(type.getDimSize(i)),
                   "size of dimension " + Twine(i) + " is not the declared " + Twine(type.getDimSize(i)));
  return b.castTo(value, type);
}

// Handles must not reach a lowering that would compute with them as with numbers.
static LogicalResult checkHandles(Operation &op) {
  auto reduction = op.getAttrOfType<StringAttr>("reduction");
  bool computes = reduction && reduction.getValue() != "none";
  if (!isa<VersionedOpInterface>(op) || (getBehavior(&op).handles && !computes))
    return success();
  auto isHandle = [](Type type) {
    auto tensor = dyn_cast<TensorType>(type);
    return tensor ? isa<onnx::StringType>(tensor.getElementType()) : true;
  };
  for (TypeRange types : {TypeRange(op.getOperandTypes()), TypeRange(op.getResultTypes())})
    for (Type type : types)
      if (isHandle(type))
        return op.emitOpError("cannot be compiled: no lowering for values of type ") << onnx::getTypeString(type);
  return success();
}

/// Whether an operation computes a size, and may stand wherever its operands are there.
static bool isOfSizes(Operation *op) {
  auto isScalar = [](Type type) { return type.isIntOrIndex(); };
  return op->getNumRegions() == 0 && isPure(op) && llvm::all_of(op->getResultTypes(), isScalar) &&
         (isa<tensor::DimOp>(op) || llvm::all_of(op->getOperandTypes(), isScalar));
}

/// Checks stand right behind what they compare. A tensor that is cast to the sizes that were checked lets
/// canonicalization compute it with these sizes to begin with; if they are others, that must not run at all.
static void hoistChecks(Block &block) {
  auto checks = llvm::to_vector(block.getOps<cf::AssertOp>());
  DenseMap<Operation *, Operation *> lastBehind; // of what was moved behind one; of none: behind the block's start
  for (cf::AssertOp check : checks) {
    BackwardSliceOptions sizes;
    sizes.omitBlockArguments = true;
    sizes.filter = [&](Operation *op) { return op == check || (op->getBlock() == &block && isOfSizes(op)); };
    sizes.inclusive = true;
    SetVector<Operation *> moved; // each behind what it reads
    getBackwardSlice(check.getOperation(), &moved, sizes);
    Operation *last = nullptr; // that has to come before
    for (Operation *op : moved)
      for (Value operand : op->getOperands())
        if (Operation *def = operand.getDefiningOp(); def && def->getBlock() == &block && !moved.contains(def))
          last = !last || last->isBeforeInBlock(def) ? def : last;
    Operation *&place = lastBehind.try_emplace(last, last).first->second;
    for (Operation *op : moved) {
      // What another check needed, too, is in front already.
      if (place && (op == place || op->isBeforeInBlock(place)))
        continue;
      if (place)
        op->moveAfter(place);
      else
        op->moveBefore(&block, block.begin());
      place = op;
    }
  }
}

/// What the operands say of the results' types; nothing of those of regions.
SmallVector<Type> LinalgBuilder::inferAgain(Operation &op) {
  if (auto shapeCast = dyn_cast<onnx::CastShapeOp>(op))
    return {shapeCast.getInput().getType()};
  if (isa<TypeInferenceInterface>(op) && !op.getNumRegions()) {
    ShapeContext context(&op, analysis);
    if (succeeded(inferResultTypes(context)))
      return llvm::to_vector(context.getResultTypes());
  }
  return llvm::map_to_vector(op.getResultTypes(), eraseShape);
}

/// Whether anything is computed of it. What is only a result, of the model or of a branch, is not.
static bool isRead(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) { return !user->hasTrait<OpTrait::IsTerminator>(); });
}

void LinalgBuilder::keepNames(Value onnxValue, Type known) {
  Value tensor = lookup(onnxValue);
  std::optional<Shape> shape = getShape(onnxValue.getType()), proven = getShape(known);
  for (auto [i, dim] : llvm::enumerate(shape.value_or(Shape()))) {
    if (dim.isStatic() || !dim.symbol)
      continue;
    if (symbols.try_emplace(dim.symbol, tensor, i).second)
      names.push_back(dim.symbol);
    else if (!proven || proven->size() != shape->size() || !(*proven)[i].sameAs(dim))
      check(createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, index(madeSize(tensor, i)),
                                        index(*symbolSize(dim.symbol))),
            "the model calls dimension " + Twine(i) + " of a value '" + dim.symbol.getValue() +
                "', which has another size elsewhere");
  }
}

void LinalgBuilder::nameSizes(Operation &op) {
  auto isUnnamed = [](const Dim &dim) { return !dim.isStatic() && !dim.symbol; };
  auto hasUnnamed = [&](Type type) {
    std::optional<Shape> shape = getShape(type);
    return shape && llvm::any_of(*shape, isUnnamed);
  };
  if (llvm::none_of(op.getResultTypes(), hasUnnamed))
    return;
  // Operands may have got names in the meantime, which the results have, too.
  SmallVector<Type> inferred = inferAgain(op);
  for (auto [result, type] : llvm::zip_equal(op.getResults(), inferred)) {
    if (!hasUnnamed(result.getType()))
      continue;
    Shape shape = *getShape(result.getType()), named = getShape(type).value_or(shape);
    for (auto [i, dim] : llvm::enumerate(shape)) {
      if (!isUnnamed(dim))
        continue;
      if (named.size() == shape.size() && !named[i].isStatic())
        dim = named[i];
      if (isUnnamed(dim)) // no name in a model begins so
        dim = Dim(getStringAttr("\x1f" + Twine(namedSizes++)));
    }
    result.setType(makeTensorType(shape, getElementTypeOrSelf(result.getType())));
  }
}

void LinalgBuilder::keepNames(Operation &op) {
  SmallVector<Type> inferred;
  for (auto [number, result] : llvm::enumerate(op.getResults())) {
    std::optional<Shape> shape = getShape(result.getType());
    if (!shape || !isRead(result))
      continue;
    if (inferred.empty() && llvm::any_of(*shape, [&](const Dim &dim) { return symbols.count(dim.symbol); }))
      inferred = inferAgain(op);
    keepNames(result, inferred.empty() ? Type() : inferred[number]);
  }
}

LogicalResult LinalgBuilder::lowerOp(Operation &op) {
  setLoc(op.getLoc());
  nameSizes(op);
  if (auto custom = dyn_cast<onnx::CustomOp>(op))
    return op.emitError("operator '") << custom.getOpType() << "' of the domain '" << custom.getDomain()
                                      << "' cannot be compiled: the operator is not known; "
                                      << describeForeign(custom.getDomain());
  for (Value result : op.getResults())
    if (!getSeamType(result.getType())) {
      if (isa<UnrankedTensorType>(result.getType()))
        return op.emitOpError("cannot be compiled: the rank of its result is not known at compile time");
      return op.emitOpError("cannot be compiled: no lowering for values of type ")
             << onnx::getTypeString(result.getType());
    }
  if (auto initializer = dyn_cast<onnx::InitializerOp>(op)) {
    map(initializer.getOutput(), constant(initializer.getValue()));
    return success();
  }
  if (auto require = dyn_cast<onnx::RequireOp>(op)) {
    Value value = extractScalar(lookup(require.getCondition()));
    check(compare(arith::CmpIPredicate::eq, value, scalarInt(getI1Type(), require.getValue())), require.getMessage());
    return success();
  }
  if (auto shapeCast = dyn_cast<onnx::CastShapeOp>(op)) {
    auto type = cast<RankedTensorType>(getSeamType(shapeCast.getType()));
    // What elements of containers are is checked where they are taken out.
    Value input = lookup(shapeCast.getInput());
    map(shapeCast.getOutput(), isa<TensorType>(shapeCast.getType()) ? castShape(*this, input, type) : input);
    keepNames(op);
    return success();
  }
  if (failed(checkHandles(op)))
    return failure();
  auto lower = getBehavior(&op).lower;
  if (auto versioned = dyn_cast<VersionedOpInterface>(op); versioned && versioned.getNextVersion() != 0)
    return op.emitOpError("is not the newest version; run onnx-upgrade-opset first");
  if (!lower)
    return op.emitOpError("cannot be compiled: the operator has no lowering");

  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(mapping.lookup(operand));
  source = &op;
  FailureOr<SmallVector<Value>> results = lower(&op, operands, *this);
  if (failed(results))
    return failure();
  assert(results->size() == op.getNumResults() && "one value per result");
  for (auto [result, value] : llvm::zip_equal(op.getResults(), *results)) {
    auto type = cast<RankedTensorType>(getSeamType(result.getType()));
    if (!tensor::CastOp::areCastCompatible(value.getType(), type))
      return op.emitOpError("was lowered to ") << value.getType() << ", but its type is " << type;
    map(result, castShape(*this, value, type));
  }
  keepNames(op);
  return success();
}

FailureOr<SmallVector<Value>> LinalgBuilder::lowerBlock(Block &block, ValueRange arguments) {
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
    map(argument, value);
  size_t outer = names.size();
  bool isFunction = isa<func::FuncOp>(block.getParentOp()); // whose caller sees to its arguments
  for (Value argument : block.getArguments())
    if (isFunction || isRead(argument))
      keepNames(argument, isFunction ? argument.getType() : Type());
  Operation *saved = source;
  Location savedLoc = getLoc();
  for (Operation &op : block.without_terminator())
    if (failed(lowerOp(op)))
      return failure();
  source = saved;
  setLoc(savedLoc);
  // What is inside of a branch or a loop is not there outside of it.
  for (; names.size() > outer; names.pop_back()) {
    symbols.erase(names.back());
    symbolSizes.erase(names.back());
  }
  return llvm::map_to_vector(block.getTerminator()->getOperands(), [&](Value v) { return mapping.lookup(v); });
}

namespace {
struct ConvertONNXToLinalgPass : impl::ConvertONNXToLinalgPassBase<ConvertONNXToLinalgPass> {
  void runOnOperation() override {
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (!function.isExternal() && failed(convert(function)))
        return signalPassFailure();
    for (NamedAttribute attr : llvm::to_vector(getOperation()->getAttrs()))
      if (attr.getName().getValue().starts_with("onnx."))
        getOperation()->removeAttr(attr.getName());
  }

  // What the caller of the compiled function sees of a value: its name, symbolic dimensions and ONNX element type.
  static DictionaryAttr describe(DictionaryAttr old, Type type) {
    Builder b(type.getContext());
    NamedAttrList attrs;
    if (auto name = old ? old.getAs<StringAttr>("onnx.name") : StringAttr())
      attrs.append("strata.name", name);
    describeType(attrs, "strata.", type);
    return attrs.getDictionary(type.getContext());
  }

  // dtype and dims of a tensor; of a container what its elements are too.
  static void describeType(NamedAttrList &attrs, StringRef prefix, Type type) {
    Builder b(type.getContext());
    auto add = [&](StringRef name, Attribute value) { attrs.append((prefix + name).str(), value); };
    auto describeElement = [&](Type element) -> Attribute {
      NamedAttrList inner;
      describeType(inner, "", element);
      return inner.getDictionary(type.getContext());
    };
    if (auto seq = dyn_cast<onnx::SeqType>(type)) {
      add("dtype", b.getStringAttr("sequence"));
      add("element", b.getArrayAttr(describeElement(seq.getElement())));
    } else if (auto optional = dyn_cast<onnx::OptionalType>(type)) {
      add("dtype", b.getStringAttr("optional"));
      add("element", b.getArrayAttr(describeElement(optional.getElement())));
    } else if (auto map = dyn_cast<onnx::MapType>(type)) {
      auto list = [&](Type element) {
        return Type(RankedTensorType::get(ShapedType::kDynamic, getElementTypeOrSelf(element)));
      };
      add("dtype", b.getStringAttr("map"));
      add("element", b.getArrayAttr({describeElement(list(map.getKey())), describeElement(list(map.getValue()))}));
    } else {
      SmallVector<Attribute> dims;
      SmallVector<int64_t> sizes;
      std::optional<Shape> shape = getShape(type);
      for (const Dim &dim : shape ? *shape : Shape()) {
        dims.push_back(dim.symbol && !dim.isStatic() ? dim.symbol : b.getStringAttr(""));
        sizes.push_back(dim.isStatic() ? dim.size : -1);
      }
      if (shape)
        add("dims", b.getArrayAttr(dims));
      if (shape && prefix.empty())
        add("shape", b.getDenseI64ArrayAttr(sizes));
      add("dtype",
          b.getStringAttr(onnx::getElementName(*onnx::getElementKind(cast<TensorType>(type).getElementType()))));
    }
  }

  LogicalResult convert(func::FuncOp function) {
    SmallVector<Type> inputs, outputs;
    SmallVector<DictionaryAttr> inputAttrs, outputAttrs;
    auto convertTypes = [&](TypeRange types, auto getOld, StringRef what, SmallVectorImpl<Type> &out,
                            SmallVectorImpl<DictionaryAttr> &attrs) -> LogicalResult {
      for (auto [i, type] : llvm::enumerate(types)) {
        Type seam = getSeamType(type);
        if (!seam) {
          InFlightDiagnostic error = function.emitError() << "graph " << what << " " << i;
          if (auto name = getOld(i) ? getOld(i).template getAs<StringAttr>("onnx.name") : StringAttr())
            error << " '" << name.getValue() << "'";
          return isa<UnrankedTensorType>(type)
                     ? error << " cannot be compiled: its rank is not known"
                     : error << " cannot be compiled: no lowering for values of type " << onnx::getTypeString(type);
        }
        out.push_back(seam);
        attrs.push_back(describe(getOld(i), type));
      }
      return success();
    };
    if (failed(convertTypes(
            function.getArgumentTypes(), [&](unsigned i) { return function.getArgAttrDict(i); }, "input", inputs,
            inputAttrs)) ||
        failed(convertTypes(
            function.getResultTypes(), [&](unsigned i) { return function.getResultAttrDict(i); }, "output", outputs,
            outputAttrs)))
      return failure();

    OpBuilder builder(function);
    auto lowered =
        builder.create<func::FuncOp>(function.getLoc(), function.getName(), builder.getFunctionType(inputs, outputs));
    lowered.setAllArgAttrs(inputAttrs);
    lowered.setAllResultAttrs(outputAttrs);
    Block *entry = lowered.addEntryBlock();
    builder.setInsertionPointToStart(entry);
    LinalgBuilder linalg(function.getLoc(), builder, getOperation());
    FailureOr<SmallVector<Value>> results = linalg.lowerBlock(function.getBody().front(), entry->getArguments());
    if (failed(results)) {
      lowered.erase();
      return failure();
    }
    linalg.create<func::ReturnOp>(*results);
    lowered.walk([](Block *block) { hoistChecks(*block); });
    StringAttr name = function.getNameAttr();
    function.erase();
    lowered.setName(name);
    return success();
  }
};
} // namespace
} // namespace strata
