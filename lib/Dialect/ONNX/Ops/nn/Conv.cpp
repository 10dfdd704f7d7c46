//===- Conv.cpp - convolution ---------------------------------------------===//

#include "../Windows.h"

using utils::IteratorType;

// The kernel's spatial sizes: the weight's where known, else the attribute's.
static std::optional<SmallVector<int64_t>> getKernel(Operation *op, std::optional<Shape> weight) {
  auto attr = op->getAttrOfType<DenseI64ArrayAttr>("kernel_shape");
  if (attr)
    return SmallVector<int64_t>(attr.asArrayRef());
  if (!weight || weight->size() < 2)
    return std::nullopt;
  SmallVector<int64_t> kernel;
  for (const Dim &dim : ArrayRef(*weight).drop_front(2)) {
    if (!dim.isStatic())
      return std::nullopt;
    kernel.push_back(dim.size);
  }
  return kernel;
}

static LogicalResult inferConv(ShapeContext &c) {
  std::optional<Shape> x = c.shape(0), w = c.shape(1);
  if (x && x->size() < 3)
    return c.emitError() << "'X' has rank " << x->size() << "; a batch, channels and at least one spatial dimension are needed";
  if (x && w && x->size() != w->size())
    return c.emitError() << "'X' has rank " << x->size() << " and 'W' has rank " << w->size();
  int64_t group = c.integer("group", 1);
  if (group < 1)
    return c.emitError() << "'group' is " << group << ", less than 1";
  if (w) {
    const Dim &filters = (*w)[0], &channels = (*w)[1];
    if (filters.isStatic() && filters.size % group != 0)
      return c.emitError() << "has " << filters.size << " filters, which do not divide into " << group << " groups";
    if (x && channels.isStatic() && (*x)[1].isStatic() && (*x)[1].size != channels.size * group)
      return c.emitError() << "'X' has " << (*x)[1].size << " channels, but " << group << " groups of filters read "
                           << channels.size << " each";
    if (auto bias = c.shape(2)) {
      if (bias->size() != 1)
        return c.emitError() << "'B' has rank " << bias->size() << ", not 1";
      if ((*bias)[0].isStatic() && filters.isStatic() && (*bias)[0].size != filters.size)
        return c.emitError() << "'B' has " << (*bias)[0].size << " elements for " << filters.size << " filters";
    }
  }
  std::optional<SmallVector<int64_t>> kernel = getKernel(c.getOperation(), w);
  std::optional<Shape> known = x ? x : w;
  if (kernel && known && kernel->size() != known->size() - 2)
    return c.emitError() << "'kernel_shape' has " << kernel->size() << " values for " << known->size() - 2
                         << " spatial dimensions";
  if (kernel && w)
    for (auto [size, dim] : llvm::zip_equal(*kernel, ArrayRef(*w).drop_front(2)))
      if (dim.isStatic() && dim.size != size)
        return c.emitError() << "'kernel_shape' says " << size << " where 'W' has size " << dim.size;
  if (!known)
    return success();
  Shape result(known->size());
  if (x)
    result[0] = (*x)[0];
  if (w)
    result[1] = (*w)[0];
  if (kernel) {
    FailureOr<Windows> windows = Windows::get(c.getOperation(), *kernel);
    if (failed(windows))
      return failure();
    if (x)
      for (int64_t i = 0; i < windows->rank(); ++i) {
        result[2 + i] = windows->outSize((*x)[2 + i], i);
        if ((*x)[2 + i].isStatic() && result[2 + i].is(0) && !(*x)[2 + i].is(0))
          return c.emitError() << "the kernel covers " << windows->extent(i) << " positions of dimension " << 2 + i
                               << ", which has only "
                               << (*x)[2 + i].size + windows->low[i] + windows->high[i] << " with its padding";
      }
  }
  c.setShape(0, result);
  return success();
}

// The sum over channels and the kernel, without bias, in the compute type.
static Value convolve(LinalgBuilder &b, Value x, Value w, const Windows &windows, int64_t group,
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
  SmallVector<IteratorType> iterators(loops, IteratorType::parallel);
  std::fill(iterators.begin() + outer, iterators.end(), IteratorType::reduction);
  Sizes split{sizes[0], b.getIndexAttr(group), b.dim(filter, 1)};
  llvm::append_range(split, ArrayRef(sizes).drop_front(2));
  SmallVector<int64_t> reduced = llvm::to_vector(llvm::seq<int64_t>(outer, loops));
  Value result = contract(b, grouped, filter,
                          {AffineMap::get(loops, 0, ex, b.getContext()), AffineMap::get(loops, 0, ew, b.getContext()),
                           mapWithout(b.getContext(), loops, reduced)},
                          iterators, split, element);
  return mergeDims(b, result, 1);
}

static FailureOr<SmallVector<Value>> lowerConv(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto conv = cast<ConvOp>(op);
  Value x = operands[0], w = operands[1], bias = operands.size() > 2 ? operands[2] : Value();
  std::optional<SmallVector<int64_t>> kernel = getKernel(op, getShape(conv.getW().getType()));
  if (!kernel)
    return op->emitOpError("cannot be compiled: the kernel's size is not known at compile time");
  FailureOr<Windows> windows = Windows::get(op, *kernel);
  if (failed(windows))
    return failure();
  int64_t group = conv.getGroup(), rank = windows->rank();
  Type element = getOnnxElement(conv.getY());
  for (int64_t i = 0; i < rank; ++i)
    b.checkEqual(b.dim(w, 2 + i), b.getIndexAttr((*kernel)[i]), "the kernel does not have the declared size");
  b.checkEqual(b.dim(x, 1), b.mul(b.dim(w, 1), b.getIndexAttr(group)), "the filters do not fit the number of channels");

  Sizes sizes{b.dim(x, 0), b.dim(w, 0)}, low(2, b.getIndexAttr(0)), high(2, b.getIndexAttr(0));
  for (int64_t i = 0; i < rank; ++i) {
    OpFoldResult in = b.dim(x, 2 + i), out = windows->outSize(b, in, i);
    auto [before, after] = windows->padding(b, in, out, i);
    sizes.push_back(out);
    low.push_back(before);
    high.push_back(after);
  }
  Value padded = b.pad(x, low, high, b.scalar(getSeamElementType(element), 0));
  Value sum = convolve(b, padded, w, *windows, group, sizes, element);
  if (!bias)
    return SmallVector<Value>{roundTo(b, sum, element)};
  b.checkEqual(b.dim(bias, 0), b.dim(w, 0), "the bias does not fit the number of filters");
  AffineMap channel = AffineMap::get(2 + rank, 0, b.getAffineDimExpr(1), b.getContext());
  Value result = mapElements(b, {sum, bias}, {b.getMultiDimIdentityMap(2 + rank), channel}, sizes,
                             getSeamElementType(element), [&](ImplicitLocOpBuilder &n, ValueRange v) {
                               Value biased = addScalars(n, v[0], scalar::decode(n, v[1], element));
                               return scalar::encode(n, biased, element);
                             });
  return SmallVector<Value>{result};
}

STRATA_SLICE(Conv) { ops.add("Conv", {.inferShapes = inferConv, .lower = lowerConv}); }
