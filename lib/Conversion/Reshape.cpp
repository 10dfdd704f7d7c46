//===- Reshape.cpp - reshapes of tensors with dynamic sizes ---------------===//
//
// A size is a product of a constant and of run-time values. Groups of source
// and target dimensions with equal products become collapse_shape and
// expand_shape, so that later phases see which dimensions stay.
//
//===----------------------------------------------------------------------===//

#include "Conversion/LinalgBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;

namespace strata {

namespace {
/// A product: the constant times the values, in the order in which they were given.
struct Factors {
  int64_t constant = 1;
  SmallVector<Value> values;

  Factors() = default;
  Factors(ArrayRef<OpFoldResult> sizes) {
    for (OpFoldResult size : sizes)
      add(size);
  }
  void add(OpFoldResult size) {
    if (std::optional<int64_t> known = getConstantIntValue(size)) {
      // Sizes whose product overflows do not occur in tensors that exist.
      constant = static_cast<int64_t>(static_cast<uint64_t>(constant) * static_cast<uint64_t>(*known));
      return;
    }
    Value value = cast<Value>(size);
    if (auto product = value.getDefiningOp<arith::MulIOp>()) {
      add(product.getLhs());
      add(product.getRhs());
      return;
    }
    values.push_back(value);
  }
  /// The values that `other` has not, or not as often.
  SmallVector<Value> without(const Factors &other) const {
    SmallVector<Value> left, theirs(other.values);
    for (Value value : values)
      if (auto *same = llvm::find(theirs, value); same != theirs.end())
        theirs.erase(same);
      else
        left.push_back(value);
    return left;
  }
  bool divides(const Factors &other) const {
    return constant != 0 && other.constant % constant == 0 && without(other).empty();
  }
  bool operator==(const Factors &other) const {
    return constant == other.constant && values.size() == other.values.size() && without(other).empty();
  }
};

struct Group {
  ReassociationIndices source, target;
};
} // namespace

bool LinalgBuilder::haveSameProduct(ArrayRef<OpFoldResult> a, ArrayRef<OpFoldResult> b) {
  return Factors(a) == Factors(b);
}

OpFoldResult LinalgBuilder::quotient(ArrayRef<OpFoldResult> numerators, ArrayRef<OpFoldResult> denominators) {
  Factors top(numerators), bottom(denominators);
  SmallVector<Value> topOnly = top.without(bottom), bottomOnly = bottom.without(top);
  if (bottom.constant != 0 && top.constant % bottom.constant == 0) {
    top.constant /= bottom.constant;
    bottom.constant = 1;
  }
  OpFoldResult result = getIndexAttr(top.constant), divisor = getIndexAttr(std::max<int64_t>(bottom.constant, 1));
  for (Value value : topOnly)
    result = mul(result, value);
  for (Value value : bottomOnly)
    divisor = mul(divisor, value);
  return floorDiv(result, bottomOnly.empty() ? divisor : maximum(divisor, getIndexAttr(1)));
}

// Splits the dimensions into the smallest groups of equal product; the last group takes what does not fit.
static SmallVector<Group> match(ArrayRef<OpFoldResult> source, ArrayRef<OpFoldResult> target) {
  SmallVector<Group> groups;
  size_t s = 0, t = 0;
  while (s < source.size() && t < target.size()) {
    Group group;
    Factors a, b;
    auto takeSource = [&] {
      group.source.push_back(s);
      a.add(source[s++]);
    };
    auto takeTarget = [&] {
      group.target.push_back(t);
      b.add(target[t++]);
    };
    takeSource();
    takeTarget();
    while (!(a == b) && (s < source.size() || t < target.size())) {
      bool moreSource = s < source.size(), moreTarget = t < target.size();
      if (moreSource && (a.divides(b) || !moreTarget))
        takeSource();
      else if (moreTarget && (b.divides(a) || !moreSource))
        takeTarget();
      else {
        takeSource();
        takeTarget();
      }
    }
    groups.push_back(group);
  }
  for (; s < source.size(); ++s)
    groups.back().source.push_back(s);
  for (; t < target.size(); ++t)
    groups.back().target.push_back(t);
  return groups;
}

// The static size of a group of dimensions, or dynamic.
static int64_t getGroupSize(ArrayRef<int64_t> shape, ArrayRef<int64_t> group) {
  int64_t product = 1;
  for (int64_t i : group) {
    if (ShapedType::isDynamic(shape[i]))
      return ShapedType::kDynamic;
    product *= shape[i];
  }
  return product;
}

Value LinalgBuilder::reshape(Value tensor, ArrayRef<OpFoldResult> sizes) {
  auto source = cast<RankedTensorType>(tensor.getType());
  Type element = source.getElementType();
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  auto target = RankedTensorType::get(shape, element);
  if (source == target && source.hasStaticShape())
    return tensor;
  if (llvm::is_contained(shape, 0) || llvm::is_contained(source.getShape(), 0))
    return empty(sizes, element);
  // One element.
  if (sizes.empty() || source.getRank() == 0) {
    SmallVector<int64_t> sourceOnes(source.getRank(), 1), targetOnes(sizes.size(), 1);
    Value one = castTo(tensor, RankedTensorType::get(sourceOnes, element));
    if (source.getRank() != 0)
      one = create<tensor::CollapseShapeOp>(RankedTensorType::get({}, element), one, ArrayRef<ReassociationIndices>{});
    if (!sizes.empty())
      one = create<tensor::ExpandShapeOp>(RankedTensorType::get(targetOnes, element), one,
                                          ArrayRef<ReassociationIndices>{});
    return castTo(one, target);
  }

  SmallVector<Group> groups = match(this->sizes(tensor), sizes);
  SmallVector<int64_t> from, to;
  SmallVector<ReassociationIndices> collapsed, expanded;
  for (const Group &group : groups) {
    from.push_back(getGroupSize(source.getShape(), group.source));
    to.push_back(getGroupSize(shape, group.target));
    // Static products differ only where another size is zero at run time, which no expand_shape says. Several dynamic
    // sizes of one group are lost when an expand_shape is folded or bufferised: both look at the types alone.
    bool differ = !ShapedType::isDynamic(from.back()) && !ShapedType::isDynamic(to.back()) && from.back() != to.back();
    bool ambiguous = llvm::count_if(group.target, [&](int64_t i) { return ShapedType::isDynamic(shape[i]); }) > 1;
    if (differ || ambiguous) {
      SmallVector<Value> elements = llvm::map_to_vector(sizes, [&](OpFoldResult size) { return index(size); });
      return create<tensor::ReshapeOp>(target, tensor, create<tensor::FromElementsOp>(elements));
    }
    collapsed.push_back(group.source);
    expanded.push_back(group.target);
  }
  Value result = tensor;
  if (collapsed.size() != static_cast<size_t>(source.getRank()))
    result = create<tensor::CollapseShapeOp>(RankedTensorType::get(from, element), result, collapsed);
  if (expanded.size() == sizes.size())
    return castTo(result, target);
  result = castTo(result, RankedTensorType::get(to, element));
  return create<tensor::ExpandShapeOp>(target, result, expanded, SmallVector<OpFoldResult>(sizes));
}

} // namespace strata
