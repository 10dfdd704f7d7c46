//===- Dims.cpp - dimensions, and tensor types with symbolic names --------===//

#include "Dialect/LeastDims.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace strata {

std::optional<Shape> getShape(Type type) {
  auto tensor = dyn_cast_or_null<RankedTensorType>(type);
  if (!tensor)
    return std::nullopt;
  auto names = dyn_cast_or_null<onnx::DimsAttr>(tensor.getEncoding());
  Shape shape;
  for (auto [i, size] : llvm::enumerate(tensor.getShape())) {
    if (ShapedType::isDynamic(size) && names && i < names.getNames().size())
      shape.push_back(Dim(names.getNames()[i]));
    else
      shape.push_back(Dim(size));
  }
  return shape;
}

RankedTensorType makeTensorType(ArrayRef<Dim> shape, Type element) {
  MLIRContext *context = element.getContext();
  SmallVector<int64_t> sizes;
  SmallVector<StringAttr> names;
  bool named = false;
  for (const Dim &dim : shape) {
    // A negative size is an error that the rule reports; types cannot hold it.
    sizes.push_back(dim.isStatic() && dim.size < 0 ? ShapedType::kDynamic : dim.size);
    bool useName = ShapedType::isDynamic(sizes.back()) && dim.symbol;
    names.push_back(useName ? dim.symbol : StringAttr::get(context, ""));
    named |= useName;
  }
  return RankedTensorType::get(sizes, element, named ? Attribute(onnx::DimsAttr::get(context, names)) : Attribute());
}

Type eraseShape(Type type) {
  if (auto tensor = dyn_cast<TensorType>(type))
    return UnrankedTensorType::get(tensor.getElementType());
  if (auto seq = dyn_cast<onnx::SeqType>(type))
    return onnx::SeqType::get(type.getContext(), eraseShape(seq.getElement()));
  if (auto optional = dyn_cast<onnx::OptionalType>(type))
    return onnx::OptionalType::get(type.getContext(), eraseShape(optional.getElement()));
  return type;
}

// Applies `combine` to the dimensions of two types of the same structure.
static Type combineTypes(Type a, Type b, bool unrankedWins,
                         llvm::function_ref<std::optional<Dim>(const Dim &, const Dim &)> combine) {
  if (!a || !b || a == b)
    return a ? a : b;
  // seq<none>: of a sequence that is empty so far.
  auto isEmpty = [](Type type) {
    auto seq = dyn_cast<onnx::SeqType>(type);
    return seq && isa<NoneType>(seq.getElement());
  };
  if (isEmpty(a) && isa<onnx::SeqType>(b))
    return b;
  if (isEmpty(b) && isa<onnx::SeqType>(a))
    return a;
  if (eraseShape(a) != eraseShape(b))
    return {};
  if (auto seq = dyn_cast<onnx::SeqType>(a)) {
    Type element = combineTypes(seq.getElement(), cast<onnx::SeqType>(b).getElement(), unrankedWins, combine);
    return element ? Type(onnx::SeqType::get(a.getContext(), element)) : Type();
  }
  if (auto optional = dyn_cast<onnx::OptionalType>(a)) {
    Type element = combineTypes(optional.getElement(), cast<onnx::OptionalType>(b).getElement(), unrankedWins, combine);
    return element ? Type(onnx::OptionalType::get(a.getContext(), element)) : Type();
  }
  std::optional<Shape> shapeA = getShape(a), shapeB = getShape(b);
  if (!shapeA || !shapeB) {
    if (unrankedWins)
      return shapeA ? b : a;
    return shapeA ? a : b;
  }
  Type element = cast<TensorType>(a).getElementType();
  if (shapeA->size() != shapeB->size())
    return unrankedWins ? Type(UnrankedTensorType::get(element)) : Type();
  Shape shape;
  for (auto [dimA, dimB] : llvm::zip_equal(*shapeA, *shapeB)) {
    std::optional<Dim> dim = combine(dimA, dimB);
    if (!dim)
      return {};
    shape.push_back(*dim);
  }
  return makeTensorType(shape, element);
}

Type mergeTypes(Type a, Type b) {
  return combineTypes(a, b, /*unrankedWins=*/false, [](const Dim &x, const Dim &y) -> std::optional<Dim> {
    if (x.isStatic() && y.isStatic() && x.size != y.size)
      return std::nullopt;
    if (x.isStatic() || y.isStatic())
      return x.isStatic() ? x : y;
    return x.symbol ? x : y;
  });
}

bool areOneElement(Type a, Type b) {
  return llvm::all_of(ArrayRef<Type>{a, b}, [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 1;
  });
}

Type joinTypes(Type a, Type b) {
  // A sequence is an optional that is there.
  for (auto [x, y] : {std::pair(a, b), std::pair(b, a)})
    if (auto optional = dyn_cast_or_null<onnx::OptionalType>(x); optional && isa_and_nonnull<onnx::SeqType>(y)) {
      Type element = joinTypes(optional.getElement(), y);
      return element ? Type(onnx::OptionalType::get(x.getContext(), element)) : Type();
    }
  return combineTypes(a, b, /*unrankedWins=*/true,
                      [](const Dim &x, const Dim &y) -> std::optional<Dim> { return x.sameAs(y) ? x : Dim(); });
}

Dim operator+(const Dim &a, const Dim &b) {
  int64_t sum;
  if (a.isStatic() && b.isStatic() && !llvm::AddOverflow(a.size, b.size, sum))
    return Dim(sum);
  return a.is(0) ? b : b.is(0) ? a : Dim();
}

Dim operator-(const Dim &a, const Dim &b) {
  int64_t difference;
  if (a.isStatic() && b.isStatic() && !llvm::SubOverflow(a.size, b.size, difference))
    return Dim(difference);
  return b.is(0) ? a : a.sameAs(b) ? Dim(0) : Dim();
}

Dim operator*(const Dim &a, const Dim &b) {
  int64_t product;
  if (a.isStatic() && b.isStatic() && !llvm::MulOverflow(a.size, b.size, product))
    return Dim(product);
  if (a.is(0) || b.is(0))
    return Dim(0);
  return a.is(1) ? b : b.is(1) ? a : Dim();
}

Dim floorDiv(const Dim &a, const Dim &b) {
  if (a.isStatic() && b.isStatic() && b.size != 0 && !(a.size == INT64_MIN + 1 && b.size == -1))
    return Dim(llvm::divideFloorSigned(a.size, b.size));
  return b.is(1) ? a : Dim();
}

Dim least(const Dim &dim, int64_t most) {
  if (!dim.symbol)
    return Dim();
  return Dim(StringAttr::get(dim.symbol.getContext(), "min(" + dim.symbol.getValue() + ", " + Twine(most) + ")"));
}

bool isLeastOf(const Dim &dim, const Dim &other) {
  if (!dim.symbol || !other.symbol)
    return false;
  StringRef text = dim.symbol.getValue();
  int64_t most;
  return text.consume_front("min(") && text.consume_front(other.symbol.getValue()) && text.consume_front(", ") &&
         !text.consumeInteger(10, most) && text == ")" && most > 1;
}

std::optional<Dim> broadcastDims(const Dim &a, const Dim &b) {
  if (a.is(1) || isLeastOf(a, b))
    return b;
  if (b.is(1) || a.sameAs(b) || isLeastOf(b, a))
    return a;
  if (a.isStatic() && b.isStatic())
    return std::nullopt;
  // One is unknown: a size other than 1 decides, and a run-time check sees to the rest.
  if (a.isStatic())
    return a;
  return b.isStatic() ? b : Dim();
}

} // namespace strata
