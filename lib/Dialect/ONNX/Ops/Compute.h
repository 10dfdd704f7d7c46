//===- Compute.h - reductions and contractions in slices --------*- C++ -*-===//
//
// linalg.generic by indexing maps, in the compute type of an element type
// (f32 for narrower floats), rounded once at the end.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_COMPUTE_H
#define STRATA_LIB_DIALECT_ONNX_OPS_COMPUTE_H

#include "Conversion/ScalarOps.h"
#include "Slice.h"

namespace strata {

/// `[0, 1, ..]` of `rank` dimensions without those in `axes`, as results of a map over `rank` dimensions.
inline AffineMap mapWithout(MLIRContext *context, int64_t rank, ArrayRef<int64_t> axes) {
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(axes, i))
      exprs.push_back(getAffineDimExpr(i, context));
  return AffineMap::get(rank, 0, exprs, context);
}

/// result[i...] = body(inputs[map(i...)]...), all loops parallel over `sizes`.
inline Value mapElements(LinalgBuilder &b, ValueRange inputs, ArrayRef<AffineMap> maps, ArrayRef<OpFoldResult> sizes,
                         Type element, ScalarFn body) {
  SmallVector<AffineMap> all(maps);
  all.push_back(b.getMultiDimIdentityMap(sizes.size()));
  SmallVector<utils::IteratorType> iterators(sizes.size(), utils::IteratorType::parallel);
  Value init = b.empty(sizes, element);
  return b
      .create<linalg::GenericOp>(init.getType(), inputs, init, all, iterators,
                                 [&](OpBuilder &nested, Location loc, ValueRange args) {
                                   ImplicitLocOpBuilder n(loc, nested);
                                   n.create<linalg::YieldOp>(body(n, args.drop_back()));
                                 })
      .getResult(0);
}

/// Reduces `axes` of the inputs (all of one shape) with `combine(elements..., accumulator)`; the axes are dropped.
inline Value reduceMany(LinalgBuilder &b, ValueRange inputs, ArrayRef<AffineMap> maps, ArrayRef<int64_t> axes,
                        Value init, ScalarFn combine) {
  int64_t rank = getRank(inputs[0]);
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  Sizes sizes;
  for (int64_t axis : axes)
    iterators[axis] = utils::IteratorType::reduction;
  for (int64_t i = 0; i < rank; ++i)
    if (iterators[i] == utils::IteratorType::parallel)
      sizes.push_back(b.dim(inputs[0], i));
  Value accumulator = b.fill(sizes, init);
  SmallVector<AffineMap> all(maps);
  all.push_back(mapWithout(b.getContext(), rank, axes));
  return b
      .create<linalg::GenericOp>(accumulator.getType(), inputs, accumulator, all, iterators,
                                 [&](OpBuilder &nested, Location loc, ValueRange args) {
                                   ImplicitLocOpBuilder n(loc, nested);
                                   n.create<linalg::YieldOp>(combine(n, args));
                                 })
      .getResult(0);
}

/// Along `axis` of the inputs, the first position (or the last) whose elements `holds` is true of; of none, the size
/// (or -1). An i32 where that is known to hold it: as many in a vector as numbers of f32.
inline Value findAlong(LinalgBuilder &b, ValueRange inputs, ArrayRef<AffineMap> maps, int64_t axis, bool last,
                       ScalarFn holds) {
  OpFoldResult size = b.dim(inputs[0], axis);
  std::optional<int64_t> known = getConstantIntValue(size);
  Type type = known && *known < std::numeric_limits<int32_t>::max() ? b.getI32Type() : b.getI64Type();
  Value none = last ? b.scalarInt(type, -1) : b.create<arith::IndexCastOp>(type, b.index(size));
  return reduceMany(b, inputs, maps, {axis}, none, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    Value position = n.create<arith::IndexCastOp>(type, n.create<linalg::IndexOp>(axis));
    position = n.create<arith::SelectOp>(holds(n, v.drop_back()), position, none);
    if (last)
      return n.create<arith::MaxSIOp>(position, v.back());
    return n.create<arith::MinSIOp>(position, v.back());
  });
}

inline Value addScalars(ImplicitLocOpBuilder &b, Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return b.create<arith::AddFOp>(x, y);
  return b.create<arith::AddIOp>(x, y);
}
inline Value mulScalars(ImplicitLocOpBuilder &b, Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return b.create<arith::MulFOp>(x, y);
  return b.create<arith::MulIOp>(x, y);
}
inline Value maximumOf(ImplicitLocOpBuilder &b, Value x, Value y, bool isUnsigned) {
  if (isa<FloatType>(x.getType()))
    return b.create<arith::MaximumFOp>(x, y);
  return isUnsigned ? b.create<arith::MaxUIOp>(x, y) : b.create<arith::MaxSIOp>(x, y).getResult();
}
inline Value minimumOf(ImplicitLocOpBuilder &b, Value x, Value y, bool isUnsigned) {
  if (isa<FloatType>(x.getType()))
    return b.create<arith::MinimumFOp>(x, y);
  return isUnsigned ? b.create<arith::MinUIOp>(x, y) : b.create<arith::MinSIOp>(x, y).getResult();
}
inline Value constantFloat(ImplicitLocOpBuilder &b, Type type, double value) {
  return b.create<arith::ConstantOp>(b.getFloatAttr(type, value));
}

/// A constant of one dimension, of at least one number.
template <typename T> Value table(LinalgBuilder &b, ArrayRef<T> values, Type type) {
  SmallVector<T> some(values);
  if (some.empty())
    some.push_back(0);
  return b.constant(
      DenseElementsAttr::get(RankedTensorType::get({static_cast<int64_t>(some.size())}, type), ArrayRef<T>(some)));
}

inline Value integerTable(LinalgBuilder &b, ArrayRef<int64_t> values) {
  return table<int64_t>(b, values, b.getI64Type());
}

inline Value floatTable(LinalgBuilder &b, ArrayRef<double> values, Type type) {
  if (type.isF64())
    return table<double>(b, values, type);
  return table<float>(b, llvm::to_vector_of<float>(values), type);
}

/// A tensor of the compute type of `onnxElement`, as elements of that type.
inline Value roundTo(LinalgBuilder &b, Value tensor, Type onnxElement) {
  Type seam = getSeamElementType(onnxElement);
  if (getElementType(tensor) == seam)
    return tensor;
  return b.elementwise(tensor, seam,
                       [&](ImplicitLocOpBuilder &n, ValueRange x) { return scalar::encode(n, x[0], onnxElement); });
}

/// A tensor of elements `onnxElement`, as values of its compute type.
inline Value widen(LinalgBuilder &b, Value tensor, Type onnxElement) {
  Type compute = scalar::getComputeType(onnxElement);
  if (getElementType(tensor) == compute)
    return tensor;
  return b.elementwise(tensor, compute,
                       [&](ImplicitLocOpBuilder &n, ValueRange x) { return scalar::decode(n, x[0], onnxElement); });
}

/// The number of elements in `axes` of `tensor` as a floating-point scalar.
inline Value countAs(LinalgBuilder &b, Value tensor, ArrayRef<int64_t> axes, Type type) {
  OpFoldResult count = b.getIndexAttr(1);
  for (int64_t axis : axes)
    count = b.mul(count, b.dim(tensor, axis));
  if (std::optional<int64_t> known = getConstantIntValue(count))
    return constantFloat(b, type, static_cast<double>(*known));
  return b.create<arith::SIToFPOp>(type, b.create<arith::IndexCastOp>(b.getI64Type(), b.index(count)));
}

/// The onnx element types of a product: of one type, or of integers that are extended to that of their sums.
struct ProductTypes {
  Type left, right, sum;

  ProductTypes(Type all) : left(all), right(all), sum(all) {}
  ProductTypes(Type left, Type right, Type sum) : left(left), right(right), sum(sum) {}
  bool areOne() const { return left == sum && right == sum; }
};

/// result[out] += lhs[l] * rhs[r] in the compute type of the sums, from zero. The maps are over the loops that
/// `iterators` describe; the parallel ones have `sizes` in the order of the result.
inline Value contract(LinalgBuilder &b, Value lhs, Value rhs, ArrayRef<AffineMap> maps,
                      ArrayRef<utils::IteratorType> iterators, ArrayRef<OpFoldResult> sizes,
                      const ProductTypes &types) {
  Type compute = scalar::getComputeType(types.sum);
  Value accumulator = b.fill(sizes, b.scalar(compute, 0));
  return b
      .create<linalg::GenericOp>(accumulator.getType(), ValueRange{lhs, rhs}, accumulator, maps, iterators,
                                 [&](OpBuilder &nested, Location loc, ValueRange args) {
                                   ImplicitLocOpBuilder n(loc, nested);
                                   auto toCompute = [&](Value v, Type type) -> Value {
                                     if (v.getType() == compute)
                                       return v;
                                     return type == types.sum ? scalar::decode(n, v, type)
                                                              : scalar::convert(n, v, type, types.sum);
                                   };
                                   Value left = toCompute(args[0], types.left), right = toCompute(args[1], types.right);
                                   Value product = mulScalars(n, left, right);
                                   n.create<linalg::YieldOp>(addScalars(n, args[2], product));
                                 })
      .getResult(0);
}

/// Dimension `at` as `outer` times what is left.
inline Value splitDim(LinalgBuilder &b, Value tensor, int64_t at, int64_t outer) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> shape;
  Sizes sizes;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    int64_t first = shape.size();
    if (i != at) {
      shape.push_back(type.getDimSize(i));
      sizes.push_back(b.dim(tensor, i));
      groups.push_back({first});
      continue;
    }
    OpFoldResult inner = b.floorDiv(b.dim(tensor, i), b.getIndexAttr(outer));
    shape.append({outer, getConstantIntValue(inner).value_or(ShapedType::kDynamic)});
    sizes.append({b.getIndexAttr(outer), inner});
    groups.push_back({first, first + 1});
  }
  return b.create<tensor::ExpandShapeOp>(RankedTensorType::get(shape, type.getElementType()), tensor, groups, sizes);
}

/// Dimensions `at` and `at + 1` as one.
inline Value mergeDims(LinalgBuilder &b, Value tensor, int64_t at) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < getRank(tensor); ++i) {
    if (i == at + 1)
      groups.back().push_back(i);
    else
      groups.push_back({i});
  }
  return b.create<tensor::CollapseShapeOp>(tensor, groups);
}

} // namespace strata

#endif // STRATA_LIB_DIALECT_ONNX_OPS_COMPUTE_H
