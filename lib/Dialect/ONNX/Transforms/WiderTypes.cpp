//===- WiderTypes.cpp - element types that came later ---------------------===//
//
// An older version that lacks an element type may have one that holds all its
// values: the op computes in that one, between casts.
//
//===----------------------------------------------------------------------===//

#include "Dialect/ONNX/IR/ElementKinds.h"
#include "Dialect/OpBehavior.h"
#include "Dialect/VersionSteps.h"
#include "OlderForms.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace strata {

// What only moves elements, or compares them: right in every type that holds the values.
static bool keepsElements(StringRef name) {
  static const llvm::StringSet<> names = {"ArgMax",
                                          "ArgMin",
                                          "CenterCropPad",
                                          "Clip",
                                          "Compress",
                                          "Concat",
                                          "DepthToSpace",
                                          "Equal",
                                          "Expand",
                                          "Flatten",
                                          "Gather",
                                          "GatherND",
                                          "GatherElements",
                                          "Greater",
                                          "Identity",
                                          "Less",
                                          "LessOrEqual",
                                          "GreaterOrEqual",
                                          "Max",
                                          "MaxPool",
                                          "Min",
                                          "NonZero",
                                          "OneHot",
                                          "Pad",
                                          "ReduceMax",
                                          "ReduceMin",
                                          "Relu",
                                          "Reshape",
                                          "Scatter",
                                          "ScatterND",
                                          "Shape",
                                          "Sign",
                                          "Size",
                                          "ScatterElements",
                                          "Slice",
                                          "Split",
                                          "SpaceToDepth",
                                          "Squeeze",
                                          "Tile",
                                          "TopK",
                                          "ReverseSequence",
                                          "Transpose",
                                          "Trilu",
                                          "Unique",
                                          "Unsqueeze",
                                          "Where"};
  return names.contains(name);
}

// What gives in a larger integer, cast back, the same modulo the range of the smaller one.
static bool isModular(StringRef name) {
  static const llvm::StringSet<> names = {"Abs",    "Add", "CumProd", "CumSum",    "Div",
                                          "MatMul", "Mul", "Neg",     "ReduceSum", "Sub"};
  return names.contains(name);
}

// Operators that are about types, or draw random numbers.
static bool isAboutTypes(StringRef name) {
  static const llvm::StringSet<> names = {"Bernoulli", "Cast",    "CastLike",     "Constant",    "ConstantOfShape",
                                          "Dropout",   "EyeLike", "ImageDecoder", "Multinomial", "Range"};
  return names.contains(name) || name.starts_with("Bit") || name.starts_with("Optional") ||
         name.starts_with("Random") || name.contains("Linear") ||
         (name.contains("Sequence") && name != "ReverseSequence");
}

static SmallVector<Type> widerTypes(StringRef name, Type element) {
  MLIRContext *context = element.getContext();
  Type f32 = Float32Type::get(context), f64 = Float64Type::get(context);
  if (isa<FloatType>(element))
    return element.getIntOrFloatBitWidth() == 16 ? SmallVector<Type>{f32} : SmallVector<Type>{};
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || integer.getWidth() > 32 || (integer.getWidth() < 8 && integer.getWidth() != 1))
    return {};
  unsigned width = integer.getWidth();
  SmallVector<Type> types;
  bool moves = keepsElements(name);
  if (!moves && (!isModular(name) || width == 1))
    return types;
  if (width < 32)
    types.push_back(IntegerType::get(context, 32));
  types.push_back(IntegerType::get(context, 64));
  if (moves && width < 24)
    types.push_back(f32);
  if (moves)
    types.push_back(f64);
  return types;
}

namespace {
// The op in another element type; values of all others as they are.
struct Widening {
  Operation *op;
  Type narrow, wide;
  RewriterBase &rewriter;
  SmallVector<Operation *> inputs, casts;
  Operation *computed = nullptr;

  Widening(Operation *op, Type narrow, Type wide, RewriterBase &rewriter)
      : op(op), narrow(narrow), wide(wide), rewriter(rewriter) {}

  static Type elementOf(Value value) {
    auto tensor = dyn_cast<TensorType>(value.getType());
    return tensor ? tensor.getElementType() : Type();
  }

  Value cast(Value value, Type element) {
    auto to =
        rewriter.getNamedAttr("to", rewriter.getI64IntegerAttr(onnx::getDataType(*onnx::getElementKind(element))));
    Type type = mlir::cast<TensorType>(value.getType()).clone(element);
    return createVersion(rewriter, op->getLoc(), "Cast", 28, value, to, type)->getResult(0);
  }

  void make() {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (elementOf(operand) == narrow && !mapping.contains(operand))
        mapping.map(operand, inputs.emplace_back(cast(operand, wide).getDefiningOp())->getResult(0));
    computed = rewriter.clone(*op, mapping);
    for (OpResult result : computed->getResults())
      if (elementOf(result) == narrow)
        result.setType(mlir::cast<TensorType>(result.getType()).clone(wide));
    // Casts of the results, so that they are found when `computed` has been replaced.
    for (auto [mine, theirs] : llvm::zip_equal(op->getResults(), computed->getResults())) {
      auto type = dyn_cast<TensorType>(mine.getType());
      if (!type || type.getElementType() != narrow) {
        OperationState identity(op->getLoc(), "builtin.unrealized_conversion_cast");
        identity.addOperands(theirs);
        identity.addTypes(theirs.getType());
        casts.push_back(rewriter.create(identity));
      } else {
        casts.push_back(cast(theirs, narrow).getDefiningOp());
      }
    }
  }

  void finish() {
    for (auto [result, cast] : llvm::zip_equal(op->getResults(), casts)) {
      bool isMarker = isa<UnrealizedConversionCastOp>(cast);
      rewriter.replaceAllUsesWith(result, isMarker ? cast->getOperand(0) : cast->getResult(0));
      if (isMarker)
        rewriter.eraseOp(cast);
    }
    rewriter.eraseOp(op);
  }

  void undo() {
    for (Operation *cast : casts)
      rewriter.eraseOp(cast);
    rewriter.eraseOp(computed);
    for (Operation *cast : inputs)
      rewriter.eraseOp(cast);
  }
};
} // namespace

LogicalResult computeWider(Operation *op, int64_t opset, llvm::function_ref<LogicalResult(Operation *)> downgrade,
                           RewriterBase &rewriter) {
  StringRef name = getUnversionedName(op);
  if (op->getNumRegions() || op->getNumResults() == 0 || isAboutTypes(name))
    return failure();
  if (op->getNumOperands() == 0)
    return failure();
  llvm::SmallSetVector<Type, 4> elements;
  for (Value value : op->getOperands())
    if (Type element = Widening::elementOf(value))
      elements.insert(element);
  // The extreme of no integer at all is the type's own.
  auto reduced = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  bool mayBeEmpty = (name == "ReduceMax" || name == "ReduceMin") &&
                    (!reduced || !reduced.hasStaticShape() || reduced.getNumElements() == 0);
  for (Type narrow : elements) {
    if (mayBeEmpty && isa<IntegerType>(narrow))
      continue;
    // Casts of bfloat16 came with opset 13.
    if (narrow.isBF16() && opset < 13)
      continue;
    for (Type wide : widerTypes(name, narrow)) {
      rewriter.setInsertionPoint(op);
      Widening widening(op, narrow, wide, rewriter);
      widening.make();
      if (succeeded(downgrade(widening.computed))) {
        widening.finish();
        return success();
      }
      widening.undo();
    }
  }
  return failure();
}

} // namespace strata
