//===- LinalgBuilder.cpp - the vocabulary of lowerings: scalars -----------===//

#include "Conversion/LinalgBuilder.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace strata {

Type getSeamElementType(Type element) {
  MLIRContext *context = element.getContext();
  std::optional<onnx::ElementKind> kind = onnx::getElementKind(element);
  if (!kind)
    return {};
  if (*kind == onnx::ElementKind::string)
    return IntegerType::get(context, 64);
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(context, integer.getWidth() == 1 ? 1 : std::max(8u, integer.getWidth()));
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() >= 16)
    return element;
  return isa<ComplexType>(element) ? element : IntegerType::get(context, 8);
}

Type getSeamType(Type type) {
  // A handle (docs/architecture.md, "Values that are no numbers").
  if (isa<onnx::SeqType, onnx::OptionalType, onnx::MapType>(type))
    return RankedTensorType::get({}, IntegerType::get(type.getContext(), 64));
  auto tensor = dyn_cast<RankedTensorType>(type);
  Type element = tensor ? getSeamElementType(tensor.getElementType()) : Type();
  return element ? Type(RankedTensorType::get(tensor.getShape(), element)) : Type();
}

LinalgBuilder::LinalgBuilder(Location loc, OpBuilder &builder, ModuleOp module)
    : ImplicitLocOpBuilder(loc, builder), module(module) {}

std::optional<SmallVector<int64_t>> LinalgBuilder::getIntegers(Value onnxValue) {
  // The analysis follows lists that are short, as shapes are.
  if (ElementsAttr constant = getConstant(onnxValue))
    if (auto integers = strata::getIntegers(constant))
      return integers;
  const ValueAnalysis::Values &dims = analysis.get(onnxValue);
  if (!dims || !llvm::all_of(*dims, [](const Dim &dim) { return dim.isStatic(); }))
    return std::nullopt;
  return llvm::map_to_vector(*dims, [](const Dim &dim) { return dim.size; });
}

Value LinalgBuilder::onnxOperand(unsigned formal, unsigned k) {
  OperandRange group = cast<VersionedOpInterface>(source).getInputGroup(formal);
  return k < group.size() ? Value(group[k]) : Value();
}

Value LinalgBuilder::operand(unsigned formal, unsigned k) {
  Value value = onnxOperand(formal, k);
  return value ? lookup(value) : Value();
}

std::optional<OpFoldResult> LinalgBuilder::symbolSize(StringAttr symbol) {
  if (Value size = symbolSizes.lookup(symbol))
    return OpFoldResult(size);
  auto found = symbols.find(symbol);
  if (found == symbols.end())
    return std::nullopt;
  // As soon as it is there, so that one value serves everywhere.
  auto [tensor, dimension] = found->second;
  InsertionGuard guard(*this);
  setInsertionPointAfterValue(tensor);
  OpFoldResult size = madeSize(tensor, dimension);
  if (auto value = dyn_cast<Value>(size))
    symbolSizes[symbol] = value;
  return size;
}

std::optional<OpFoldResult> LinalgBuilder::knownSize(const Dim &dim) {
  if (dim.isStatic())
    return OpFoldResult(getIndexAttr(dim.size));
  return dim.symbol ? symbolSize(dim.symbol) : std::nullopt;
}

Sizes LinalgBuilder::integerElements(Value onnxValue) {
  auto type = cast<RankedTensorType>(onnxValue.getType());
  const ValueAnalysis::Values known = analysis.get(onnxValue);
  Value tensor = lookup(onnxValue);
  Sizes result;
  for (int64_t i = 0, n = type.getNumElements(); i < n; ++i) {
    if (known)
      if (std::optional<OpFoldResult> size = knownSize((*known)[i])) {
        result.push_back(*size);
        continue;
      }
    if (type.getRank() == 1) {
      result.push_back(element(tensor, i));
      continue;
    }
    Value extracted = createOrFold<arith::IndexCastOp>(getIndexType(), extractScalar(tensor));
    std::optional<int64_t> constant = getConstantIntValue(extracted);
    if (constant && ShapedType::isDynamic(*constant))
      constant.reset();
    result.push_back(constant ? OpFoldResult(getIndexAttr(*constant)) : OpFoldResult(extracted));
  }
  return result;
}

void LinalgBuilder::map(Value onnxValue, Value value) {
  mapping.map(onnxValue, value);
  sourceTypes[value] = onnxValue.getType();
}

//===----------------------------------------------------------------------===//
// Scalars and indices
//===----------------------------------------------------------------------===//

Value LinalgBuilder::index(int64_t value) { return create<arith::ConstantIndexOp>(value); }

Value LinalgBuilder::index(OpFoldResult value) { return getValueOrCreateConstantIndexOp(*this, getLoc(), value); }

Value LinalgBuilder::scalar(Type type, double value) {
  if (isa<FloatType>(type))
    return create<arith::ConstantOp>(getFloatAttr(type, value));
  return scalarInt(type, static_cast<int64_t>(value));
}

Value LinalgBuilder::scalarInt(Type type, int64_t value) {
  if (isa<FloatType>(type))
    return scalar(type, static_cast<double>(value));
  if (auto complexType = dyn_cast<ComplexType>(type)) {
    Type part = complexType.getElementType();
    auto parts = getArrayAttr({getFloatAttr(part, static_cast<double>(value)), getFloatAttr(part, 0.0)});
    return create<complex::ConstantOp>(complexType, parts);
  }
  return create<arith::ConstantOp>(getIntegerAttr(type, value));
}

Value LinalgBuilder::extractScalar(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> zeros(type.getRank(), type.getRank() ? index(int64_t(0)) : Value());
  return create<tensor::ExtractOp>(tensor, zeros);
}

Value LinalgBuilder::fromScalar(Value scalar) {
  return create<tensor::FromElementsOp>(RankedTensorType::get({}, scalar.getType()), scalar);
}

/// What the op made of the same values, if it did so before in the block: sizes that are equal are one value, as
/// broadcasts and residual additions want to know.
template <typename Op> static Value madeBefore(LinalgBuilder &b, OpFoldResult x, OpFoldResult y) {
  auto value = dyn_cast<Value>(x);
  if (!value)
    return {};
  Block *block = b.getInsertionBlock();
  Block::iterator here = b.getInsertionPoint();
  for (Operation *user : value.getUsers())
    if (isa<Op>(user) && user->getBlock() == block && user->getOperand(0) == value &&
        isEqualConstantIntOrValue(user->getOperand(1), y) && (here == block->end() || user->isBeforeInBlock(&*here)))
      return user->getResult(0);
  return {};
}

OpFoldResult LinalgBuilder::dim(Value tensor, int64_t i) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(i))
    return getIndexAttr(type.getDimSize(i));
  if (Type source = sourceTypes.lookup(tensor))
    if (std::optional<Shape> shape = getShape(source); shape && static_cast<int64_t>(shape->size()) == type.getRank())
      if (std::optional<OpFoldResult> size = knownSize((*shape)[i]))
        return *size;
  return madeSize(tensor, i);
}

OpFoldResult LinalgBuilder::madeSize(Value tensor, int64_t i) {
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
    return empty.getMixedSizes()[i];
  if (auto destination = tensor.getDefiningOp<linalg::LinalgOp>())
    if (destination.getNumDpsInits() == 1)
      return dim(destination.getDpsInits()[0], i);
  if (auto expanded = tensor.getDefiningOp<tensor::ExpandShapeOp>())
    return getMixedValues(expanded.getStaticOutputShape(), expanded.getOutputShape(), *this)[i];
  if (Value before = madeBefore<tensor::DimOp>(*this, tensor, getIndexAttr(i)))
    return before;
  return create<tensor::DimOp>(tensor, i).getResult();
}

Sizes LinalgBuilder::sizes(Value tensor) {
  Sizes result;
  for (int64_t i = 0, rank = cast<RankedTensorType>(tensor.getType()).getRank(); i < rank; ++i)
    result.push_back(dim(tensor, i));
  return result;
}

// Folds constants; otherwise the arith op on indices.
template <typename Op>
static OpFoldResult foldIndex(LinalgBuilder &b, OpFoldResult x, OpFoldResult y, int64_t (*fold)(int64_t, int64_t),
                              std::optional<int64_t> neutral = std::nullopt) {
  std::optional<int64_t> cx = getConstantIntValue(x), cy = getConstantIntValue(y);
  if (cx && cy)
    return b.getIndexAttr(fold(*cx, *cy));
  if (neutral && cy == neutral)
    return x;
  if (Value before = madeBefore<Op>(b, x, y))
    return before;
  return b.createOrFold<Op>(b.index(x), b.index(y));
}

/// Whether a size is at least so large without being compared: the larger of two, or a tensor's.
static bool isAtLeast(OpFoldResult size, int64_t least) {
  auto value = dyn_cast<Value>(size);
  if (!value)
    return false;
  if (value.getDefiningOp<tensor::DimOp>())
    return least <= 0;
  auto larger = value.getDefiningOp<arith::MaxSIOp>();
  std::optional<int64_t> bound = larger ? getConstantIntValue(larger.getRhs()) : std::nullopt;
  return bound && least <= *bound;
}

OpFoldResult LinalgBuilder::add(OpFoldResult a, OpFoldResult b) {
  if (getConstantIntValue(a) && !getConstantIntValue(b))
    std::swap(a, b);
  // x + 2 + (-3) is x - 1, however it was added up.
  auto value = dyn_cast<Value>(a);
  if (auto before = value ? value.getDefiningOp<arith::AddIOp>() : nullptr)
    if (std::optional<int64_t> first = getConstantIntValue(before.getRhs()), second = getConstantIntValue(b);
        first && second)
      if (int64_t sum; !llvm::AddOverflow(*first, *second, sum))
        return add(before.getLhs(), getIndexAttr(sum));
  return foldIndex<arith::AddIOp>(*this, a, b, [](int64_t x, int64_t y) { return x + y; }, 0);
}
OpFoldResult LinalgBuilder::sub(OpFoldResult a, OpFoldResult b) {
  if (std::optional<int64_t> constant = getConstantIntValue(b); constant && *constant != INT64_MIN)
    return add(a, getIndexAttr(-*constant));
  return foldIndex<arith::SubIOp>(*this, a, b, [](int64_t x, int64_t y) { return x - y; });
}
OpFoldResult LinalgBuilder::mul(OpFoldResult a, OpFoldResult b) {
  if (isConstantIntValue(a, 1))
    return b;
  return foldIndex<arith::MulIOp>(*this, a, b, [](int64_t x, int64_t y) { return x * y; }, 1);
}
OpFoldResult LinalgBuilder::floorDiv(OpFoldResult a, OpFoldResult b) {
  return foldIndex<arith::FloorDivSIOp>(
      *this, a, b, [](int64_t x, int64_t y) { return llvm::divideFloorSigned(x, y); }, 1);
}
OpFoldResult LinalgBuilder::ceilDiv(OpFoldResult a, OpFoldResult b) {
  return foldIndex<arith::CeilDivSIOp>(
      *this, a, b, [](int64_t x, int64_t y) { return llvm::divideCeilSigned(x, y); }, 1);
}
OpFoldResult LinalgBuilder::maximum(OpFoldResult a, OpFoldResult b) {
  if (std::optional<int64_t> least = getConstantIntValue(b); least && isAtLeast(a, *least))
    return a;
  return foldIndex<arith::MaxSIOp>(*this, a, b, [](int64_t x, int64_t y) { return std::max(x, y); });
}
OpFoldResult LinalgBuilder::minimum(OpFoldResult a, OpFoldResult b) {
  return foldIndex<arith::MinSIOp>(*this, a, b, [](int64_t x, int64_t y) { return std::min(x, y); });
}

OpFoldResult LinalgBuilder::product(ArrayRef<OpFoldResult> values) {
  OpFoldResult result = getIndexAttr(1);
  for (OpFoldResult value : values)
    result = mul(result, value);
  return result;
}

Value LinalgBuilder::compare(arith::CmpIPredicate predicate, OpFoldResult a, OpFoldResult b) {
  return createOrFold<arith::CmpIOp>(predicate, index(a), index(b));
}

OpFoldResult LinalgBuilder::select(Value condition, OpFoldResult a, OpFoldResult b) {
  if (std::optional<int64_t> known = getConstantIntValue(condition))
    return *known ? a : b;
  if (isEqualConstantIntOrValue(a, b))
    return a;
  return createOrFold<arith::SelectOp>(condition, index(a), index(b));
}

OpFoldResult LinalgBuilder::element(Value tensor, int64_t i) {
  Value extracted = createOrFold<tensor::ExtractOp>(tensor, ValueRange{index(i)});
  // As an attribute, -2^63 would be no number but an unknown one.
  if (std::optional<int64_t> constant = getConstantIntValue(extracted); constant && !ShapedType::isDynamic(*constant))
    return getIndexAttr(*constant);
  return createOrFold<arith::IndexCastOp>(getIndexType(), extracted);
}

Value LinalgBuilder::shapeTensor(ArrayRef<OpFoldResult> values) {
  SmallVector<int64_t> constants;
  for (OpFoldResult value : values)
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      constants.push_back(*constant);
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, getI64Type());
  if (constants.size() == values.size())
    return create<arith::ConstantOp>(DenseIntElementsAttr::get(type, constants));
  SmallVector<Value> elements;
  for (OpFoldResult value : values)
    elements.push_back(createOrFold<arith::IndexCastOp>(getI64Type(), index(value)));
  return create<tensor::FromElementsOp>(type, elements);
}

void LinalgBuilder::check(Value condition, const Twine &message) {
  if (!isConstantIntValue(condition, 1) && !isConstantIntValue(condition, -1))
    create<cf::AssertOp>(condition, getStringAttr(message));
}

void LinalgBuilder::checkEqual(OpFoldResult a, OpFoldResult b, const Twine &message) {
  if (!isEqualConstantIntOrValue(a, b))
    check(createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, index(a), index(b)), message);
}

} // namespace strata
