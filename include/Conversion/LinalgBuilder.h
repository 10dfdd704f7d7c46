//===- LinalgBuilder.h - the vocabulary of lowerings ------------*- C++ -*-===//
//
// What slices write linalg with: broadcasting elementwise ops, reductions,
// transposes, reshapes, slices, gathers, checks. Operands and results are at
// the seam's types (docs/architecture.md): unsigned integers are signless,
// sub-byte integers and 8-bit floats are i8.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_CONVERSION_LINALGBUILDER_H
#define STRATA_CONVERSION_LINALGBUILDER_H

#include "Dialect/ShapeContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace strata {

using Sizes = llvm::SmallVector<mlir::OpFoldResult, 6>;
using ScalarFn = llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange scalars)>;

/// The seam's type of an onnx type: signless integers, bytes for sub-byte integers and 8-bit floats, no encoding.
/// Null for types that have none (strings, sequences, optionals, maps).
mlir::Type getSeamType(mlir::Type type);
mlir::Type getSeamElementType(mlir::Type element);

/// On a linalg.generic that resamples a tensor, which it reads last: to the sizes that it has, the result is that
/// tensor.
constexpr llvm::StringLiteral kResamples = "strata.resamples";

class LinalgBuilder : public mlir::ImplicitLocOpBuilder {
public:
  LinalgBuilder(mlir::Location loc, mlir::OpBuilder &builder, mlir::ModuleOp module);

  /// The op being lowered: its onnx types tell symbolic dimensions and signedness.
  mlir::Operation *source = nullptr;
  /// Compile-time integers of the source function.
  ValueAnalysis &getAnalysis() { return analysis; }
  /// All elements of an integer operand of the source op, if known at compile time.
  std::optional<llvm::SmallVector<int64_t>> getIntegers(mlir::Value onnxValue);
  /// The lowered value of the source op's formal input `formal` (of a variadic one, its k-th); null if absent.
  mlir::Value operand(unsigned formal, unsigned k = 0);
  /// The source value itself; null if absent.
  mlir::Value onnxOperand(unsigned formal, unsigned k = 0);
  /// Elements of a source value, an integer tensor of rank 0 or 1 and static size, as indices: constants where they are
  /// known at compile time, sizes of the function's inputs where they are symbolic, else read from the lowered tensor.
  Sizes integerElements(mlir::Value onnxValue);
  /// The size that a symbolic name stands for, from an input of the function; none if no input has it.
  std::optional<mlir::OpFoldResult> symbolSize(mlir::StringAttr symbol);
  /// The size of a dimension known as `dim`; none if only the run tells.
  std::optional<mlir::OpFoldResult> knownSize(const Dim &dim);

  // ---- Scalars and indices ----
  mlir::Value index(int64_t value);
  mlir::Value index(mlir::OpFoldResult value);
  /// A scalar constant of any integer, index or floating-point type.
  mlir::Value scalar(mlir::Type type, double value);
  mlir::Value scalarInt(mlir::Type type, int64_t value);
  /// The element of a tensor with one element (rank 0 or all sizes 1).
  mlir::Value extractScalar(mlir::Value tensor);
  /// A rank-0 tensor.
  mlir::Value fromScalar(mlir::Value scalar);
  mlir::OpFoldResult dim(mlir::Value tensor, int64_t i);
  Sizes sizes(mlir::Value tensor);
  mlir::OpFoldResult add(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult sub(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult mul(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult floorDiv(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult ceilDiv(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult product(llvm::ArrayRef<mlir::OpFoldResult> values);
  /// product(numerators) / product(denominators), rounded down, after cancelling what is in both. At run time a zero
  /// denominator counts as one.
  mlir::OpFoldResult quotient(llvm::ArrayRef<mlir::OpFoldResult> numerators,
                              llvm::ArrayRef<mlir::OpFoldResult> denominators);
  /// True if the products are equal in every run, as far as the compiler can tell.
  static bool haveSameProduct(llvm::ArrayRef<mlir::OpFoldResult> a, llvm::ArrayRef<mlir::OpFoldResult> b);
  /// condition ? a : b.
  mlir::OpFoldResult select(mlir::Value condition, mlir::OpFoldResult a, mlir::OpFoldResult b);
  /// A comparison of indices.
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult maximum(mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult minimum(mlir::OpFoldResult a, mlir::OpFoldResult b);
  /// Element `i` of a 1-D integer tensor as an index.
  mlir::OpFoldResult element(mlir::Value tensor, int64_t i);
  /// A 1-D i64 tensor of the values.
  mlir::Value shapeTensor(llvm::ArrayRef<mlir::OpFoldResult> values);
  /// Ends the run with `message` unless `condition` (an i1) holds.
  void check(mlir::Value condition, const llvm::Twine &message);
  /// check(a == b), nothing if both are known to be equal.
  void checkEqual(mlir::OpFoldResult a, mlir::OpFoldResult b, const llvm::Twine &message);

  // ---- Tensors ----
  mlir::Value empty(llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type element);
  mlir::Value fill(llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Value scalar);
  /// A constant tensor; large ones become globals.
  mlir::Value constant(mlir::ElementsAttr value);
  mlir::Value castTo(mlir::Value tensor, mlir::Type type);
  /// Elementwise over operands broadcast as NumPy does. `element` is the result's element type at the seam.
  /// `onnxOperands`: the source values of the operands, where there are such; their types tell which dynamic dimensions
  /// are equal (default: none).
  mlir::Value elementwise(mlir::ValueRange operands, mlir::Type element, ScalarFn body,
                          mlir::ValueRange onnxOperands = {});
  /// Broadcasts to `sizes` (trailing dimensions aligned).
  mlir::Value broadcast(mlir::Value tensor, llvm::ArrayRef<mlir::OpFoldResult> sizes);
  /// Reduces `axes`; the accumulator has the type of `init`; `combine(element, accumulator)`. With keepDims the axes
  /// stay with size 1.
  mlir::Value reduce(mlir::Value tensor, llvm::ArrayRef<int64_t> axes, bool keepDims, mlir::Value init,
                     ScalarFn combine);
  mlir::Value transpose(mlir::Value tensor, llvm::ArrayRef<int64_t> permutation);
  /// Same elements in row-major order under other sizes (their product must agree).
  mlir::Value reshape(mlir::Value tensor, llvm::ArrayRef<mlir::OpFoldResult> sizes);
  /// Inserts size-1 dimensions at the (result) axes / removes size-1 dimensions.
  mlir::Value unsqueeze(mlir::Value tensor, llvm::ArrayRef<int64_t> axes);
  mlir::Value squeeze(mlir::Value tensor, llvm::ArrayRef<int64_t> axes);
  mlir::Value slice(mlir::Value tensor, llvm::ArrayRef<mlir::OpFoldResult> offsets,
                    llvm::ArrayRef<mlir::OpFoldResult> sizes, llvm::ArrayRef<mlir::OpFoldResult> strides = {});
  mlir::Value concat(mlir::ValueRange tensors, int64_t axis);
  /// Pads with `value`; non-negative amounts.
  mlir::Value pad(mlir::Value tensor, llvm::ArrayRef<mlir::OpFoldResult> low, llvm::ArrayRef<mlir::OpFoldResult> high,
                  mlir::Value value);
  /// result[i...] = body(i..., input[i...]...), for whatever is an arbitrary function of the indices (tensor.extract
  /// inside). An input has the result's sizes, but for those that are 1: it is broadcast there.
  mlir::Value generate(llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type element, ScalarFn body,
                       mlir::ValueRange inputs = {});

  // ---- Regions (control flow) ----
  /// Lowers the ops of a source block at the insertion point with its arguments mapped to `arguments`; returns the
  /// values that it yields.
  llvm::FailureOr<llvm::SmallVector<mlir::Value>> lowerBlock(mlir::Block &block, mlir::ValueRange arguments);
  /// The lowered value of a source value.
  mlir::Value lookup(mlir::Value onnxValue) { return mapping.lookupOrNull(onnxValue); }

  /// Loops over all index tuples below `sizes` in row-major order with loop-carried values; `body` gets the indices and
  /// the carried values and returns the next ones.
  llvm::SmallVector<mlir::Value>
  loopNest(llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::ValueRange carried,
           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange indices, mlir::ValueRange carried)> body);

  /// Declares (once) an external runtime function on the seam's types.
  mlir::Operation *declareRuntimeFunction(llvm::StringRef name, mlir::FunctionType type);

private:
  llvm::LogicalResult lowerOp(mlir::Operation &op);
  /// What the operands say of the types of the op's results; nothing of the shapes of those of regions.
  llvm::SmallVector<mlir::Type> inferAgain(mlir::Operation &op);
  /// Gives sizes of the op's results that only the run tells a name of their own.
  void nameSizes(mlir::Operation &op);
  /// The value is where the sizes are read that its type has names for, if it is the first of them; otherwise the run
  /// checks that they are the same, unless the type `known` says so: what follows relies on it.
  void keepNames(mlir::Value onnxValue, mlir::Type known);
  /// Those of the op's results. (What nothing is computed of may be called anything.)
  void keepNames(mlir::Operation &op);
  /// Records what the source value's type tells about the lowered value.
  void map(mlir::Value onnxValue, mlir::Value value);
  /// A dimension's size as what made the tensor knows it.
  mlir::OpFoldResult madeSize(mlir::Value tensor, int64_t i);

  mlir::ModuleOp module;
  ValueAnalysis analysis;
  /// Source types of lowered values: their symbolic dimensions.
  llvm::DenseMap<mlir::Value, mlir::Type> sourceTypes;
  /// The first tensor and dimension of each symbolic size, and the size once it was asked for; the names in the order
  /// in which they came, those of the innermost block last.
  llvm::DenseMap<mlir::StringAttr, std::pair<mlir::Value, int64_t>> symbols;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> symbolSizes;
  llvm::SmallVector<mlir::StringAttr> names;
  int64_t namedSizes = 0; ///< by nameSizes
  mlir::IRMapping mapping;
  /// The global of each large constant: one for all that reads its bytes, which are given back after the last reader.
  llvm::DenseMap<mlir::Attribute, mlir::FlatSymbolRefAttr> globals;
};

} // namespace strata

#endif // STRATA_CONVERSION_LINALGBUILDER_H
