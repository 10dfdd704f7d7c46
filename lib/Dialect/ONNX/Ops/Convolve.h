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

/// The kernel of a lowering, whose sizes must be known, with a check that W has it.
inline FailureOr<SmallVector<int64_t>> requireKernel(Operation *op, LinalgBuilder &b) {
  std::optional<SmallVector<int64_t>> kernel = getKernel(op, getShape(b.onnxOperand(1).getType()));
  if (!kernel)
    return op->emitOpError("cannot be compiled: the kernel's size is not known at compile time");
  for (auto [i, size] : llvm::enumerate(*kernel))
    b.checkEqual(b.dim(b.operand(1), 2 + i), b.getIndexAttr(size), "the kernel does not have the declared size");
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

/// x (padded) [N, G*C, s...] with w [G*F, C, k...] to [N, G*F, o...] in the compute type, of the given sizes.
inline Value convolve(LinalgBuilder &b, Value x, Value w, const Windows &windows, int64_t group,
                      ArrayRef<OpFoldResult> sizes, Type element) {
  int64_t rank = windows.rank();
  Type compute = scalar::getComputeType(element);
  auto i64s = [&](ArrayRef<int64_t> values) -> Attribute {
    return DenseIntElementsAttr::get(RankedTensorType::get({rank}, b.getI64Type()), values);
  };
  SmallVector<NamedAttribute> attrs{b.getNamedAttr("strides", i64s(windows.strides)),
                                    b.getNamedAttr("dilations", i64s(windows.dilations))};
  OpFoldResult channels = b.dim(w, 1), filters = b.dim(w, 0);
  if (group == 1 && rank <= 3) {
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
  if (isConstantIntValue(channels, 1) && isConstantIntValue(filters, group) && rank == 2) {
    // One filter per channel.
    Value zero = b.fill(sizes, b.scalar(compute, 0));
    Value filter = b.squeeze(w, {1});
    return b.create<linalg::DepthwiseConv2DNchwChwOp>(zero.getType(), ValueRange{x, filter}, zero, attrs)->getResult(0);
  }
  // Loops: n, g, f, o..., c, k...
  Value grouped = splitDim(b, x, 1, group), filter = splitDim(b, w, 0, group);
  int64_t loops = 4 + 2 * rank, outer = 3 + rank;
  SmallVector<AffineExpr> ex{b.getAffineDimExpr(0), b.getAffineDimExpr(1), b.getAffineDimExpr(outer)};
  SmallVector<AffineExpr> ew{b.getAffineDimExpr(1), b.getAffineDimExpr(2), b.getAffineDimExpr(outer)};
  for (int64_t i = 0; i < rank; ++i) {
    AffineExpr k = b.getAffineDimExpr(outer + 1 + i);
    ex.push_back(b.getAffineDimExpr(3 + i) * windows.strides[i] + k * windows.dilations[i]);
    ew.push_back(k);
  }
  SmallVector<utils::IteratorType> iterators(loops, utils::IteratorType::parallel);
  std::fill(iterators.begin() + outer, iterators.end(), utils::IteratorType::reduction);
  Sizes split{sizes[0], b.getIndexAttr(group), b.dim(filter, 1)};
  llvm::append_range(split, ArrayRef(sizes).drop_front(2));
  SmallVector<int64_t> reduced = llvm::to_vector(llvm::seq<int64_t>(outer, loops));
  Value result = contract(b, grouped, filter,
                          {AffineMap::get(loops, 0, ex, b.getContext()), AffineMap::get(loops, 0, ew, b.getContext()),
                           mapWithout(b.getContext(), loops, reduced)},
                          iterators, split, element);
  return mergeDims(b, result, 1);
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
