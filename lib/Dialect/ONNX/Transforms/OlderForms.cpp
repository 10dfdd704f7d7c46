//===- OlderForms.cpp - operators as older ones compute them --------------===//
//
// For opsets that do not have an operator, or not in the form that a node has.
// The nodes are of the newest versions; their steps lead them down.
//
//===----------------------------------------------------------------------===//

#include "OlderForms.h"
#include "Dialect/ONNX/IR/ElementKinds.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "Dialect/OpBehavior.h"
#include "Dialect/VersionSteps.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace strata {
namespace {

/// Makes nodes in the place of an op.
class Forms {
public:
  Forms(Operation *op, int64_t opset, RewriterBase &rewriter) : op(op), opset(opset), b(rewriter) {}

  LogicalResult replace() {
    using Form = Value (Forms::*)();
    Form form = llvm::StringSwitch<Form>(getUnversionedName(op))
                    .Cases("ArgMax", "ArgMin", &Forms::lastIndex)
                    .Case("Bernoulli", &Forms::bernoulli)
                    .Case("BitShift", &Forms::bitShift)
                    .Case("Clip", &Forms::clip)
                    .Case("Constant", &Forms::constant)
                    .Case("ConstantOfShape", &Forms::constantOfShape)
                    .Cases("CumProd", "CumSum", &Forms::cumulative)
                    .Case("Equal", &Forms::equal)
                    .Case("Expand", &Forms::expand)
                    .Case("Gather", &Forms::gather)
                    .Case("GatherElements", &Forms::gatherElements)
                    .Cases("Max", "Min", &Forms::extremum)
                    .Case("Mod", &Forms::mod)
                    .Case("OneHot", &Forms::oneHot)
                    .Case("Range", &Forms::range)
                    .Case("Resize", &Forms::resize)
                    .Case("Shape", &Forms::shape)
                    .Case("SpaceToDepth", &Forms::spaceToDepth)
                    .Case("Trilu", &Forms::trilu)
                    .Case("Where", &Forms::choose)
                    .Default(nullptr);
    Value value = form ? (this->*form)() : Value();
    if (!value ||
        !llvm::all_of(made, [](Operation *node) { return succeeded(node->getName().verifyInvariants(node)); }))
      return failure();
    value.setType(op->getResult(0).getType());
    b.replaceOp(op, value);
    return success();
  }

private:
  //===--------------------------------------------------------------------===//
  // Nodes
  //===--------------------------------------------------------------------===//

  static Type elementOf(Value value) { return cast<TensorType>(value.getType()).getElementType(); }
  static Type anyShape(Type element) { return UnrankedTensorType::get(element); }
  int64_t integer(StringRef name, int64_t absent) const {
    auto attr = op->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : absent;
  }
  NamedAttribute named(StringRef name, int64_t value) { return b.getNamedAttr(name, b.getI64IntegerAttr(value)); }

  Value make(StringRef name, int64_t version, ArrayRef<Value> inputs, Type result,
             ArrayRef<NamedAttribute> attrs = {}) {
    return made.emplace_back(createVersion(b, op->getLoc(), name, version, inputs, attrs, result))->getResult(0);
  }
  // Of the first operand's element type.
  Value same(StringRef name, int64_t version, Value x, Value y) {
    return make(name, version, {x, y}, anyShape(elementOf(x)));
  }
  Value add(Value x, Value y) { return same("Add", 14, x, y); }
  Value sub(Value x, Value y) { return same("Sub", 14, x, y); }
  Value mul(Value x, Value y) { return same("Mul", 14, x, y); }
  Value compare(StringRef name, Value x, Value y) { return make(name, 13, {x, y}, anyShape(b.getI1Type())); }
  Value less(Value x, Value y) { return compare("Less", x, y); }
  Value greater(Value x, Value y) { return compare("Greater", x, y); }
  Value logical(StringRef name, Value x, Value y) { return make(name, 7, {x, y}, anyShape(b.getI1Type())); }
  Value negate(Value x) { return make("Not", 1, {x}, anyShape(b.getI1Type())); }
  Value where(Value condition, Value x, Value y) {
    return make("Where", 16, {condition, x, y}, anyShape(elementOf(x)));
  }
  Value convert(Value x, Type element) {
    if (elementOf(x) == element)
      return x;
    return make("Cast", 28, {x}, cast<TensorType>(x.getType()).clone(element),
                named("to", onnx::getDataType(*onnx::getElementKind(element))));
  }
  Value join(ArrayRef<Value> parts, int64_t axis = 0, Type type = {}) {
    OperationState concat(op->getLoc(), "onnx.Concat_13");
    concat.addOperands(parts);
    concat.addAttribute("axis", b.getI64IntegerAttr(axis));
    concat.addTypes(type ? type : RankedTensorType::get({ShapedType::kDynamic}, elementOf(parts[0])));
    return made.emplace_back(b.create(concat))->getResult(0);
  }
  Value integers(ArrayRef<int64_t> values) { return makeIntegers(b, op->getLoc(), values); }
  Value scalar(Type element, double value) { return makeScalar(b, op->getLoc(), element, value); }
  Value reshape(Value x, ArrayRef<int64_t> shape) {
    return make("Reshape", 25, {x, integers(shape)}, anyShape(elementOf(x)));
  }
  Value initializer(ElementsAttr value) { return b.create<onnx::InitializerOp>(op->getLoc(), value); }

  static std::optional<int64_t> knownCount(Value list) {
    std::optional<Shape> shape = getShape(list.getType());
    return shape && shape->size() == 1 && (*shape)[0].isStatic() ? std::optional((*shape)[0].size) : std::nullopt;
  }
  static std::optional<SmallVector<int64_t>> staticShape(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape() ? std::optional(llvm::to_vector(type.getShape())) : std::nullopt;
  }

  //===--------------------------------------------------------------------===//
  // Operators
  //===--------------------------------------------------------------------===//

  // Constant-1 is of floats; initializers are of every type.
  Value constant() {
    ElementsAttr value = getConstant(op->getResult(0));
    return value ? initializer(value) : Value();
  }

  // Shape without start and end, and a slice of it.
  Value shape() {
    auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    if (!op->getAttr("start") && !op->getAttr("end"))
      return {};
    Value whole = make("Shape", 25, {op->getOperand(0)},
                       RankedTensorType::get({type ? type.getRank() : ShapedType::kDynamic}, b.getI64Type()));
    // Slices clamp as Shape does; start > end is empty in both.
    return make("Slice", 13,
                {whole, integers(integer("start", 0)), integers(integer("end", std::numeric_limits<int64_t>::max())),
                 integers(0)},
                op->getResult(0).getType());
  }

  // One where a uniform number is below the probability. (The function body compares the other way round.)
  Value bernoulli() {
    Value p = op->getOperand(0);
    auto result = cast<TensorType>(op->getResult(0).getType());
    if (!isa<Float16Type, Float32Type, Float64Type>(elementOf(p)))
      p = convert(p, b.getF32Type());
    Value drawn = make("RandomUniformLike", 1, {p}, p.getType(), attributesWithout(op, {"dtype"}));
    Value isOne = make("Less", 13, {drawn, p}, cast<TensorType>(p.getType()).clone(b.getI1Type()));
    return convert(isOne, result.getElementType());
  }

  // One element, repeated.
  Value constantOfShape() {
    auto given = op->getAttrOfType<ElementsAttr>("value");
    Type element = cast<TensorType>(op->getResult(0).getType()).getElementType();
    std::optional<int64_t> rank = knownCount(op->getOperand(0));
    // Types without an attribute of their elements are no older than the operator's versions that have them.
    if (!rank || (given && (!isa<DenseElementsAttr>(given) || !given.isSplat())) || !element.isIntOrFloat())
      return {};
    // Where the operator exists, Tile has one type more.
    if (opset >= 9 && !(element.isBF16() && opset >= 13))
      return {};
    Attribute value = given ? given.getSplatValue<Attribute>() : b.getZeroAttr(element);
    return repeat(value, element, *rank, op->getOperand(0));
  }

  Value repeat(Attribute value, Type element, int64_t rank, Value shape) {
    auto type = RankedTensorType::get(SmallVector<int64_t>(rank, 1), element);
    Value one = initializer(DenseElementsAttr::get(type, value));
    return rank == 0 ? one : make("Tile", 13, {one, shape}, anyShape(element));
  }

  // The product with as many ones, which has every element's bits.
  Value expand() {
    Value x = op->getOperand(0), shape = op->getOperand(1);
    Type element = elementOf(x);
    auto integer = dyn_cast<IntegerType>(element);
    if (!integer && !isa<Float16Type, Float32Type, Float64Type>(element))
      return {};
    Type wide = integer && integer.getWidth() < 32 ? b.getIntegerType(32) : element;
    std::optional<int64_t> rank = knownCount(shape);
    if (!rank)
      return {};
    Attribute one = isa<FloatType>(wide) ? Attribute(b.getFloatAttr(wide, 1.0)) : b.getIntegerAttr(wide, 1);
    return convert(mul(convert(x, wide), repeat(one, wide, *rank, shape)), element);
  }

  // Version 28 says what amounts outside of [0, width) do, and shifts signed integers.
  Value bitShift() {
    if (opset < 11)
      return {};
    Value x = op->getOperand(0), y = op->getOperand(1);
    auto element = cast<IntegerType>(elementOf(x));
    auto bits = IntegerType::get(b.getContext(), element.getWidth(), IntegerType::Unsigned);
    bool isLeft = cast<StringAttr>(op->getAttr("direction")).getValue() == "LEFT";
    // Negative amounts become large ones.
    Value amount = convert(y, bits), zero = scalar(bits, 0);
    Value inRange = less(amount, scalar(bits, element.getWidth()));
    amount = where(inRange, amount, zero);
    auto shift = [&](Value value) {
      Value shifted =
          make("BitShift", 11, {value, amount}, anyShape(bits), op->getAttrDictionary().getNamed("direction").value());
      return where(inRange, shifted, zero);
    };
    if (element.isUnsigned() || isLeft)
      return convert(shift(convert(x, bits)), element);
    // -1 - x, which is not negative, has the other bits.
    Value minusOne = scalar(element, -1), isNegative = less(x, scalar(element, 0));
    Value shifted = convert(shift(convert(where(isNegative, sub(minusOne, x), x), bits)), element);
    return where(isNegative, sub(minusOne, shifted), shifted);
  }

  // The remainder that has the divisor's sign from the one that has the dividend's; before there was any, from the
  // quotient of integers.
  Value mod() {
    Value x = op->getOperand(0), y = op->getOperand(1);
    Type element = elementOf(x);
    bool likeC = integer("fmod", 0) != 0;
    if (isa<FloatType>(element)) {
      if (likeC || opset < 10)
        return {};
      Value rest = make("Mod", 13, {x, y}, anyShape(element), named("fmod", 1)), zero = scalar(element, 0);
      Value isZero = compare("Equal", rest, zero), isNegative = less(y, zero);
      Value otherSign = logical("Xor", less(rest, zero), isNegative);
      return where(isZero, where(isNegative, scalar(element, -0.0), zero), where(otherSign, add(rest, y), rest));
    }
    if (opset >= 10)
      return {};
    Type wide = element.getIntOrFloatBitWidth() < 32 ? b.getI32Type() : element;
    x = convert(x, wide);
    y = convert(y, wide);
    Value rest = sub(x, mul(same("Div", 14, x, y), y));
    if (!likeC && !wide.isUnsignedInteger()) {
      // A double has the sign of every integer.
      auto isNegative = [&](Value v) { return less(convert(v, b.getF64Type()), scalar(b.getF64Type(), 0)); };
      Value otherSign = logical("And", logical("Xor", isNegative(rest), isNegative(y)),
                                negate(compare("Equal", rest, scalar(wide, 0))));
      rest = add(rest, mul(convert(otherSign, wide), y));
    }
    return convert(rest, element);
  }

  // Equal numbers are neither less nor greater; what is neither less than 1 nor greater than 0 is no number.
  Value equal() {
    Value x = op->getOperand(0), y = op->getOperand(1);
    Type element = elementOf(x);
    if (!isa<Float16Type, Float32Type, Float64Type>(element))
      return {};
    auto isNumber = [&](Value v) { return logical("Or", less(v, scalar(element, 1)), greater(v, scalar(element, 0))); };
    return logical("And", negate(logical("Or", less(x, y), greater(x, y))), logical("And", isNumber(x), isNumber(y)));
  }

  // Negative indices count from the end; those before the beginning name no element, as does `depth` itself.
  Value oneHot() {
    Value indices = op->getOperand(0), depth = op->getOperand(1);
    auto element = dyn_cast<IntegerType>(elementOf(indices));
    if (!element || element.isUnsigned() || cast<VersionedOpInterface>(op).getSinceVersion() != 11)
      return {};
    Value zero = scalar(element, 0), count = convert(depth, element);
    if (std::optional<Shape> shape = getShape(depth.getType()); !shape || !shape->empty())
      count = reshape(count, {1});
    Value counted = where(less(indices, zero), add(indices, count), indices);
    Value index = where(less(counted, zero), count, counted);
    index.setType(indices.getType());
    int64_t axis = integer("axis", -1);
    if (axis < -1) {
      std::optional<Shape> shape = getShape(op->getResult(0).getType());
      if (!shape)
        return {};
      axis += shape->size();
    }
    return make("OneHot", 9, {convert(index, b.getI64Type()), depth, op->getOperand(2)}, op->getResult(0).getType(),
                named("axis", axis));
  }

  // The last of equals is the first from the end.
  Value lastIndex() {
    std::optional<Shape> shape = getShape(op->getOperand(0).getType());
    if (integer("select_last_index", 0) == 0 || opset < 10 || !shape)
      return {};
    int64_t axis = integer("axis", 0), position = axis < 0 ? axis + shape->size() : axis;
    if (position < 0 || position >= static_cast<int64_t>(shape->size()) || !(*shape)[position].isStatic())
      return {};
    Value reversed = make("Slice", 13,
                          {op->getOperand(0), integers(-1), integers(std::numeric_limits<int64_t>::min()),
                           integers(position), integers(-1)},
                          op->getOperand(0).getType());
    Value index = make(getUnversionedName(op), 11, {reversed}, op->getResult(0).getType(),
                       attributesWithout(op, {"select_last_index"}));
    return sub(scalar(b.getI64Type(), (*shape)[position].size - 1), index);
  }

  // Channels before blocks: the other order, transposed.
  Value spaceToDepth() {
    auto mode = op->getAttrOfType<StringAttr>("mode");
    auto shape = staticShape(op->getOperand(0));
    int64_t block = integer("blocksize", 1);
    if (!mode || mode.getValue() != "CRD" || !shape || shape->size() != 4 || block < 1)
      return {};
    int64_t n = (*shape)[0], c = (*shape)[1], h = (*shape)[2] / block, w = (*shape)[3] / block;
    Type element = elementOf(op->getOperand(0));
    Value blocks = make("SpaceToDepth", 13, {op->getOperand(0)},
                        RankedTensorType::get({n, block * block * c, h, w}, element), attributesWithout(op, {"mode"}));
    Value apart = reshape(blocks, {n, block * block, c, h, w});
    Value swapped = make("Transpose", 25, {apart}, anyShape(element),
                         b.getNamedAttr("perm", b.getDenseI64ArrayAttr({0, 2, 1, 3, 4})));
    return reshape(swapped, {n, c * block * block, h, w});
  }

  // The mask is what a comparison with the offset says of the numbers of the diagonals.
  Value trilu() {
    std::optional<Shape> shape = getShape(op->getOperand(0).getType());
    Value offset = getFormalInput(op, 1);
    Type element = elementOf(op->getOperand(0));
    if (!shape || shape->size() < 2 || opset < 9 || !element.isIntOrFloat())
      return {};
    Dim rows = (*shape)[shape->size() - 2], columns = shape->back();
    if (!rows.isStatic() || !columns.isStatic())
      return {};
    SmallVector<int64_t> diagonals;
    for (int64_t i = 0; i < rows.size; ++i)
      for (int64_t j = 0; j < columns.size; ++j)
        diagonals.push_back(j - i);
    auto type = RankedTensorType::get({rows.size, columns.size}, b.getI64Type());
    Value diagonal = initializer(DenseIntElementsAttr::get(type, diagonals));
    if (!offset)
      offset = scalar(b.getI64Type(), 0);
    bool isUpper = integer("upper", 1) != 0;
    Value cut = isUpper ? less(diagonal, offset) : greater(diagonal, offset);
    return where(cut, scalar(element, 0), op->getOperand(0));
  }

  // The function body takes scalars.
  Value range() {
    auto isScalar = [](Value value) {
      std::optional<Shape> shape = getShape(value.getType());
      return shape && shape->empty();
    };
    if (llvm::all_of(op->getOperands(), isScalar))
      return {};
    SmallVector<Value> bounds;
    for (Value bound : op->getOperands()) {
      bounds.push_back(isScalar(bound) ? bound : reshape(bound, {}));
      bounds.back().setType(RankedTensorType::get({}, elementOf(bound)));
    }
    return make("Range", cast<VersionedOpInterface>(op).getSinceVersion(), bounds, op->getResult(0).getType(),
                attributesWithout(op));
  }

  // Slices one after the other.
  Value cumulative() {
    Value x = op->getOperand(0);
    auto axis = getIntegers(getConstant(op->getOperand(1)));
    if (std::optional<Shape> shape = getShape(x.getType()); shape && shape->size() == 1)
      axis = SmallVector<int64_t>{0};
    Type element = elementOf(x);
    if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
      x = convert(x, b.getF32Type());
    auto type = dyn_cast<RankedTensorType>(x.getType());
    constexpr int64_t longest = 256;
    if (!axis || axis->size() != 1 || !type)
      return {};
    int64_t position = axis->front() < 0 ? axis->front() + type.getRank() : axis->front();
    if (position < 0 || position >= type.getRank())
      return {};
    int64_t count = type.getDimSize(position);
    bool isExclusive = integer("exclusive", 0) != 0, isReverse = integer("reverse", 0) != 0;
    bool isProduct = getUnversionedName(op) == "CumProd";
    SmallVector<int64_t> part(type.getShape());
    part[position] = 1;
    auto partType = RankedTensorType::get(part, type.getElementType());
    if (ShapedType::isDynamic(count) || count < 1 || count > longest || (isExclusive && !partType.hasStaticShape()) ||
        !type.getElementType().isIntOrFloat())
      return {};
    SmallVector<Value> parts, sums(count);
    OperationState split(op->getLoc(), "onnx.Split_13");
    split.addOperands({x, integers(SmallVector<int64_t>(count, 1))});
    split.addAttribute("axis", b.getI64IntegerAttr(position));
    split.addTypes(SmallVector<Type>(count, partType));
    llvm::append_range(parts, made.emplace_back(b.create(split))->getResults());
    Value total;
    if (isExclusive) {
      Attribute start = isa<FloatType>(type.getElementType())
                            ? Attribute(b.getFloatAttr(type.getElementType(), isProduct ? 1.0 : 0.0))
                            : b.getIntegerAttr(type.getElementType(), isProduct ? 1 : 0);
      total = initializer(DenseElementsAttr::get(partType, start));
    }
    for (int64_t k = 0; k < count; ++k) {
      int64_t i = isReverse ? count - 1 - k : k;
      if (isExclusive)
        sums[i] = total;
      if (!isExclusive || k + 1 < count) {
        total = !total ? parts[i] : isProduct ? mul(total, parts[i]) : add(total, parts[i]);
        total.setType(partType);
      }
      if (!isExclusive)
        sums[i] = total;
    }
    return convert(join(sums, position, type), element);
  }

  // Bounds that are inputs.
  Value clip() {
    Value x = op->getOperand(0), low = getFormalInput(op, 1), high = getFormalInput(op, 2);
    if (opset < 8 || !isa<FloatType>(elementOf(x)) || cast<VersionedOpInterface>(op).getSinceVersion() < 11)
      return {};
    // Of one element, whose rank is not to count.
    auto bound = [&](Value v) {
      std::optional<Shape> shape = getShape(v.getType());
      return shape && shape->empty() ? v : reshape(v, {1});
    };
    // An absent one is the type's least or largest number, which infinities are not.
    auto element = cast<FloatType>(elementOf(x));
    double largest = APFloat::getLargest(element.getFloatSemantics()).convertToDouble();
    x = make("Max", 13, {x, low ? bound(low) : scalar(element, -largest)}, x.getType());
    return make("Min", 13, {x, high ? bound(high) : scalar(element, largest)}, x.getType());
  }

  // Integers, pair by pair.
  Value extremum() {
    Value result = op->getOperand(0);
    if (opset < 9 || !isa<IntegerType>(elementOf(result)))
      return {};
    bool isMax = getUnversionedName(op) == "Max";
    for (Value next : op->getOperands().drop_front())
      result = where(isMax ? less(result, next) : greater(result, next), next, result);
    return op->getNumOperands() > 1 ? result : make("Identity", 25, {result}, result.getType());
  }

  //===--------------------------------------------------------------------===//
  // By the numbers of elements
  //===--------------------------------------------------------------------===//

  static SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
    SmallVector<int64_t> strides(shape.size(), 1);
    for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
      strides[i] = strides[i + 1] * shape[i + 1];
    return strides;
  }
  // For each place of a tensor of the shape, the sum of its coordinates times `strides`.
  Value places(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
    SmallVector<int64_t> own = stridesOf(shape), numbers(ShapedType::getNumElements(shape), 0);
    for (auto [place, number] : llvm::enumerate(numbers))
      for (size_t d = 0; d < shape.size(); ++d)
        number += static_cast<int64_t>(place) / own[d] % shape[d] * strides[d];
    return initializer(DenseIntElementsAttr::get(RankedTensorType::get(shape, b.getI64Type()), numbers));
  }
  static constexpr int64_t kMostPlaces = 1 << 20;
  // Elements of a list, which Gather-1 takes by indices that are not negative.
  Value take(Value list, Value indices) {
    return make("Gather", 1, {list, indices}, anyShape(elementOf(list)), named("axis", 0));
  }

  // Elements of both, one behind the other, by number.
  Value choose() {
    auto shape = staticShape(op->getResult(0));
    if (opset >= 9 || !shape || ShapedType::getNumElements(*shape) > kMostPlaces)
      return {};
    int64_t count = ShapedType::getNumElements(*shape);
    Type i64 = b.getI64Type();
    auto flat = [&](Value value) {
      if (staticShape(value) != *shape)
        value = make("Expand", 13, {value, integers(*shape)}, RankedTensorType::get(*shape, elementOf(value)));
      value = reshape(value, {count});
      value.setType(RankedTensorType::get({count}, elementOf(value)));
      return value;
    };
    SmallVector<Value, 2> both{flat(op->getOperand(1)), flat(op->getOperand(2))};
    Value list = join(both);
    Value behind = mul(convert(negate(op->getOperand(0)), i64), scalar(i64, count));
    return take(list, add(places(*shape, stridesOf(*shape)), behind));
  }

  // The number of the element: of its own place but along the axis, where the index says it.
  Value gatherElements() {
    Value data = op->getOperand(0);
    auto from = staticShape(data), shape = staticShape(op->getOperand(1));
    if (opset >= 11 || !from || !shape || from->empty() || from->size() != shape->size() ||
        ShapedType::getNumElements(*shape) > kMostPlaces)
      return {};
    int64_t axis = integer("axis", 0);
    axis += axis < 0 ? from->size() : 0;
    if (axis < 0 || axis >= static_cast<int64_t>(from->size()))
      return {};
    SmallVector<int64_t> strides = stridesOf(*from);
    int64_t along = std::exchange(strides[axis], 0);
    Value index = countFromFront(op->getOperand(1), scalar(b.getI64Type(), (*from)[axis]));
    return take(reshape(data, {-1}), add(places(*shape, strides), mul(index, scalar(b.getI64Type(), along))));
  }

  // Indices of which negative ones count from `size`. A double has the sign of every integer.
  Value countFromFront(Value indices, Value size) {
    Type i64 = b.getI64Type(), f64 = b.getF64Type();
    Value isNegative = less(convert(indices, f64), scalar(f64, 0));
    return add(convert(indices, i64), mul(convert(isNegative, i64), size));
  }

  Value gather() {
    std::optional<Shape> shape = getShape(op->getOperand(0).getType());
    if (!shape || shape->empty() || cast<VersionedOpInterface>(op).getSinceVersion() != 11)
      return {};
    int64_t axis = integer("axis", 0), rank = shape->size();
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank)
      return {};
    Value size;
    if ((*shape)[axis].isStatic())
      size = scalar(b.getI64Type(), (*shape)[axis].size);
    else
      size = take(make("Shape", 25, {op->getOperand(0)}, RankedTensorType::get({rank}, b.getI64Type())),
                  makeIntegers(b, op->getLoc(), axis, /*scalar=*/true));
    return make("Gather", 1, {op->getOperand(0), countFromFront(op->getOperand(1), size)}, op->getResult(0).getType(),
                named("axis", axis));
  }

  // Without `axes`: sizes of the input, and scales of one, for the others.
  Value resize() {
    auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes");
    auto policy = op->getAttrOfType<StringAttr>("keep_aspect_ratio_policy");
    Value x = op->getOperand(0), roi = getFormalInput(op, 1), scales = getFormalInput(op, 2),
          sizes = getFormalInput(op, 3);
    std::optional<Shape> shape = getShape(x.getType());
    if (!axes || !shape || (policy && policy.getValue() != "stretch"))
      return {};
    int64_t rank = shape->size(), count = axes.size();
    // Of each dimension, its number in `axes`.
    SmallVector<std::optional<int64_t>> given(rank);
    for (auto [i, axis] : llvm::enumerate(axes.asArrayRef())) {
      if (axis < -rank || axis >= rank)
        return {};
      given[axis < 0 ? axis + rank : axis] = i;
    }
    auto numbers = [&](llvm::function_ref<int64_t(int64_t, std::optional<int64_t>)> number) {
      SmallVector<int64_t> result;
      for (int64_t d = 0; d < rank; ++d)
        result.push_back(number(d, given[d]));
      return result;
    };
    auto constants = [&](Type element, ArrayRef<double> values) {
      SmallVector<Attribute> attrs;
      for (double value : values)
        attrs.push_back(b.getFloatAttr(element, value));
      return initializer(
          DenseElementsAttr::get(RankedTensorType::get({static_cast<int64_t>(values.size())}, element), attrs));
    };
    if (scales)
      scales = take(join({constants(elementOf(scales), {1.0}), scales}),
                    integers(numbers([](int64_t, std::optional<int64_t> i) { return i ? *i + 1 : 0; })));
    if (sizes) {
      Value own = make("Shape", 25, {x}, RankedTensorType::get({rank}, b.getI64Type()));
      sizes = take(join({own, sizes}),
                   integers(numbers([&](int64_t d, std::optional<int64_t> i) { return i ? *i + rank : d; })));
    }
    if (roi) {
      SmallVector<int64_t> starts = numbers([](int64_t, std::optional<int64_t> i) { return i ? *i + 2 : 0; });
      llvm::append_range(starts, numbers([&](int64_t, std::optional<int64_t> i) { return i ? *i + 2 + count : 1; }));
      roi = take(join({constants(elementOf(roi), {0.0, 1.0}), roi}), integers(starts));
    }
    return make("Resize", cast<VersionedOpInterface>(op).getSinceVersion(), {x, roi, scales, sizes},
                op->getResult(0).getType(), attributesWithout(op, {"axes"}));
  }

  Operation *op;
  int64_t opset;
  RewriterBase &b;
  SmallVector<Operation *> made;
};
} // namespace

LogicalResult replaceByOlderForm(Operation *op, int64_t opset, RewriterBase &rewriter) {
  if (cast<VersionedOpInterface>(op).getDomain() != "ai.onnx")
    return failure();
  return Forms(op, opset, rewriter).replace();
}

} // namespace strata
