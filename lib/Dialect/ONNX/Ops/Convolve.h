//===- Convolve.h - what convolutions share ---------------------*- C++ -*-===//
//
// Conv and ConvTranspose: the rules of their operands, and the sum.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_CONVOLVE_H
#define STRATA_LIB_DIALECT_ONNX_OPS_CONVOLVE_H

#include "Windows.h"

namespace strata {

/// The kernel's spatial sizes: the attribute's, else those of the weight, if they are known.
inline std::optional<SmallVector<int64_t>> getKernel(Operation *op, std::optional<Shape> weight) {
  if (auto attr = op->getAttrOfType<DenseI64ArrayAttr>("kernel_shape"))
    return SmallVector<int64_t>(attr.asArrayRef());
  if (!weight || weight->size() < 3)
    return std::nullopt;
  SmallVector<int64_t> kernel;
  for (const Dim &dim : ArrayRef(*weight).drop_front(2)) {
    if (!dim.isStatic())
      return std::nullopt;
    kernel.push_back(dim.size);
  }
  return kernel;
}

/// The kernel of a lowering, whose sizes must be known, with a check that W, the formal input `weights`, has it.
inline FailureOr<SmallVector<int64_t>> requireKernel(Operation *op, LinalgBuilder &b, unsigned weights = 1) {
  std::optional<SmallVector<int64_t>> kernel = getKernel(op, getShape(b.onnxOperand(weights).getType()));
  if (!kernel)
    return op->emitOpError("cannot be compiled: the kernel's size is not known at compile time");
  for (auto [i, size] : llvm::enumerate(*kernel))
    b.checkEqual(b.dim(b.operand(weights), 2 + i), b.getIndexAttr(size), "the kernel does not have the declared size");
  return *kernel;
}

/// X and W have batches or filters, channels and the same spatial dimensions; there is a group.
inline LogicalResult checkConvolution(ShapeContext &c) {
  std::optional<Shape> x = c.shape(0), w = c.shape(1);
  if (x && x->size() < 3)
    return c.emitError() << "'X' has rank " << x->size()
                         << "; a batch, channels and at least one spatial dimension are needed";
  if (!x && w && w->size() < 3)
    return c.emitError() << "'W' has rank " << w->size()
                         << "; filters, channels and at least one spatial dimension are needed";
  if (x && w && x->size() != w->size())
    return c.emitError() << "'X' has rank " << x->size() << " and 'W' has rank " << w->size();
  if (int64_t group = c.integer("group", 1); group < 1)
    return c.emitError() << "'group' is " << group << ", less than 1";
  return success();
}

/// The kernel's sizes fit the rank of the operands, and W.
inline LogicalResult checkKernel(ShapeContext &c, ArrayRef<int64_t> kernel, size_t rank) {
  if (kernel.size() != rank - 2)
    return c.emitError() << "'kernel_shape' has " << kernel.size() << " values for " << rank - 2
                         << " spatial dimensions";
  if (std::optional<Shape> w = c.shape(1))
    for (auto [size, dim] : llvm::zip_equal(kernel, ArrayRef(*w).drop_front(2)))
      if (dim.isStatic() && dim.size != size)
        return c.emitError() << "'kernel_shape' says " << size << " where 'W' has size " << dim.size;
  return success();
}

/// B has one element per filter.
inline LogicalResult checkBias(ShapeContext &c, const Dim &filters) {
  std::optional<Shape> bias = c.shape(2);
  if (!bias)
    return success();
  if (bias->size() != 1)
    return c.emitError() << "'B' has rank " << bias->size() << ", not 1";
  if ((*bias)[0].isStatic() && filters.isStatic() && (*bias)[0].size != filters.size)
    return c.emitError() << "'B' has " << (*bias)[0].size << " elements for " << filters.size << " filters";
  return success();
}

/// x [N, G*C, s...] with `padding` around it, such that exactly the windows fit in, and the sizes [N, G*F, o...] of its
/// convolution with w [G*F, C, k...].
inline std::pair<Value, Sizes> padWindows(LinalgBuilder &b, Value x, Value w, const Windows &windows, Value padding) {
  Sizes sizes{b.dim(x, 0), b.dim(w, 0)}, low(2, b.getIndexAttr(0)), high(2, b.getIndexAttr(0));
  for (int64_t i = 0; i < windows.rank(); ++i) {
    OpFoldResult in = b.dim(x, 2 + i), out = windows.outSize(b, in, i);
    auto [before, after] = windows.padding(b, in, out, i);
    sizes.push_back(out);
    low.push_back(before);
    high.push_back(after);
  }
  return {b.pad(x, low, high, padding), sizes};
}

/// x (padded) [N, G*C, s...] with w [G*F, C, k...] to [N, G*F, o...] in the compute type, of the given sizes.
inline Value convolve(LinalgBuilder &b, Value x, Value w, const Windows &windows, int64_t group,
                      ArrayRef<OpFoldResult> sizes, const ProductTypes &types) {
  int64_t rank = windows.rank();
  Type compute = scalar::getComputeType(types.sum);
  auto i64s = [&](ArrayRef<int64_t> values) -> Attribute {
    return DenseIntElementsAttr::get(RankedTensorType::get({rank}, b.getI64Type()), values);
  };
  SmallVector<NamedAttribute> attrs{b.getNamedAttr("strides", i64s(windows.strides)),
                                    b.getNamedAttr("dilations", i64s(windows.dilations))};
  OpFoldResult channels = b.dim(w, 1), filters = b.dim(w, 0);
  if (types.areOne() && group == 1 && rank <= 3) {
    Value zero = b.fill(sizes, b.scalar(compute, 0));
    Operation *op;
    Type type = zero.getType();
    if (rank == 1)
      op = b.create<linalg::Conv1DNcwFcwOp>(type, ValueRange{x, w}, zero, attrs);
    else if (rank == 2)
      op = b.create<linalg::Conv2DNchwFchwOp>(type, ValueRange{x, w}, zero, attrs);
    else
      op = b.create<linalg::Conv3DNcdhwFcdhwOp>(type, ValueRange{x, w}, zero, attrs);
    return op->getResult(0);
  }
  bool depthwise = isConstantIntValue(channels, 1) && isConstantIntValue(filters, group);
  if (types.areOne() && depthwise && rank == 2) {
    // One filter per channel.
    Value zero = b.fill(sizes, b.scalar(compute, 0));
    Value filter = b.squeeze(w, {1});
    return b.create<linalg::DepthwiseConv2DNchwChwOp>(zero.getType(), ValueRange{x, filter}, zero, attrs)->getResult(0);
  }
  // Loops: n, g, f, o..., c, k..., without those that have one iteration.
  bool hasGroups = group > 1, hasFilters = !hasGroups || !depthwise;
  int64_t outer = 1 + hasGroups + hasFilters + rank, loops = outer + hasFilters + rank;
  AffineExpr g = b.getAffineDimExpr(1), f = b.getAffineDimExpr(1 + hasGroups), c = b.getAffineDimExpr(outer);
  SmallVector<AffineExpr> ex{b.getAffineDimExpr(0)}, ew;
  if (hasGroups) {
    ex.push_back(g);
    ew.push_back(g);
  }
  if (hasFilters) {
    ex.push_back(c);
    ew.append({f, c});
  }
  for (int64_t i = 0; i < rank; ++i) {
    AffineExpr o = b.getAffineDimExpr(outer - rank + i), k = b.getAffineDimExpr(outer + hasFilters + i);
    ex.push_back(o * windows.strides[i] + k * windows.dilations[i]);
    ew.push_back(k);
  }
  SmallVector<utils::IteratorType> iterators(loops, utils::IteratorType::parallel);
  std::fill(iterators.begin() + outer, iterators.end(), utils::IteratorType::reduction);
  Value data = x, filter = w;
  Sizes split{sizes[0]};
  if (!hasFilters) {
    filter = b.squeeze(w, {1});
    split.push_back(filters);
  } else if (hasGroups) {
    data = splitDim(b, x, 1, group);
    filter = splitDim(b, w, 0, group);
    split.append({b.getIndexAttr(group), b.dim(filter, 1)});
  } else {
    split.push_back(filters);
  }
  llvm::append_range(split, ArrayRef(sizes).drop_front(2));
  SmallVector<int64_t> reduced = llvm::to_vector(llvm::seq<int64_t>(outer, loops));
  Value result = contract(b, data, filter,
                          {AffineMap::get(loops, 0, ex, b.getContext()), AffineMap::get(loops, 0, ew, b.getContext()),
                           mapWithout(b.getContext(), loops, reduced)},
                          iterators, split, types);
  return hasGroups && hasFilters ? mergeDims(b, result, 1) : result;
}

/// `sum` in the compute type [N, F, o...] plus `bias` [F], if there is one, rounded to `element`.
inline Value addChannelBias(LinalgBuilder &b, Value sum, Value bias, Type element) {
  if (!bias)
    return roundTo(b, sum, element);
  int64_t rank = getRank(sum);
  b.checkEqual(b.dim(bias, 0), b.dim(sum, 1), "the bias does not fit the number of filters");
  AffineMap channel = AffineMap::get(rank, 0, b.getAffineDimExpr(1), b.getContext());
  return mapElements(b, {sum, bias}, {b.getMultiDimIdentityMap(rank), channel}, b.sizes(sum),
                     getSeamElementType(element), [&](ImplicitLocOpBuilder &n, ValueRange v) {
                       return scalar::encode(n, addScalars(n, v[0], scalar::decode(n, v[1], element)), element);
                     });
}

} // namespace strata

#endif // STRATA_LIB_DIALECT_ONNX_OPS_CONVOLVE_H
