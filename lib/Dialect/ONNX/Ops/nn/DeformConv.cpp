//===- DeformConv.cpp - DeformConv ----------------------------------------===//
//
// The elements that each filter position reads, interpolated at its offset, are
// gathered as columns; the convolution is then a product with the filters.
//
//===----------------------------------------------------------------------===//

#include "../Sampling.h"
#include "../Windows.h"

using namespace strata::sampling;

static FailureOr<SmallVector<int64_t>> getKernel(ShapeContext &c, int64_t rank) {
  SmallVector<int64_t> kernel(rank, ShapedType::kDynamic);
  if (auto shape = c.shape(1))
    for (int64_t i = 0; i < rank; ++i)
      kernel[i] = (*shape)[2 + i].size;
  if (auto attr = c.integerArray("kernel_shape")) {
    if (static_cast<int64_t>(attr->size()) != rank)
      return c.emitError() << "'kernel_shape' has " << attr->size() << " values, not " << rank;
    for (int64_t i = 0; i < rank; ++i) {
      if (!ShapedType::isDynamic(kernel[i]) && kernel[i] != (*attr)[i])
        return c.emitError() << "'kernel_shape' holds " << (*attr)[i] << ", but the filters have " << kernel[i];
      kernel[i] = (*attr)[i];
    }
  }
  return kernel;
}

static LogicalResult inferDeformConv(ShapeContext &c) {
  std::optional<Shape> x = c.shape(0), w = c.shape(1), offset = c.shape(2);
  std::optional<Shape> any = x ? x : w ? w : offset;
  if (!any)
    return success();
  int64_t rank = any->size() - 2;
  for (unsigned i = 0; i < 3; ++i)
    if (auto own = c.rank(i); own && (*own != rank + 2 || rank < 1))
      return c.emitError() << "has operands of ranks that do not agree, or less than 3";
  for (StringRef name : {"group", "offset_group"})
    if (c.integer(name, 1) < 1)
      return c.emitError() << "'" << name << "' is " << c.integer(name, 1) << ", less than 1";
  FailureOr<SmallVector<int64_t>> kernel = getKernel(c, rank);
  if (failed(kernel))
    return failure();
  Shape result{x ? (*x)[0] : Dim(), w ? (*w)[0] : Dim()};
  for (int64_t i = 0; i < rank; ++i)
    result.push_back(offset ? (*offset)[2 + i] : Dim());
  if (llvm::none_of(*kernel, ShapedType::isDynamic)) {
    FailureOr<Windows> windows = Windows::get(c.getOperation(), *kernel);
    if (failed(windows))
      return failure();
    for (int64_t i = 0; x && i < rank; ++i) {
      Dim size = windows->outSize((*x)[2 + i], i);
      if (size.isStatic() && result[2 + i].isStatic() && size.size != result[2 + i].size)
        return c.emitError() << "has offsets for " << result[2 + i].size << " positions in dimension " << 2 + i
                             << ", but there are " << size.size;
      if (!result[2 + i].isStatic() && size.isStatic())
        result[2 + i] = size;
    }
  }
  int64_t groups = c.integer("offset_group", 1), positions = groups;
  for (int64_t size : *kernel)
    positions =
        ShapedType::isDynamic(size) || ShapedType::isDynamic(positions) ? ShapedType::kDynamic : positions * size;
  std::optional<Shape> mask = c.shape(4);
  if (x && (*x)[1].isStatic() && (*x)[1].size % groups != 0)
    return c.emitError() << "has " << (*x)[1].size << " channels, which do not divide into an 'offset_group' of "
                         << groups;
  if (!ShapedType::isDynamic(positions)) {
    if (offset && (*offset)[1].isStatic() && (*offset)[1].size != positions * rank)
      return c.emitError() << "'offset' has " << (*offset)[1].size << " channels, not " << positions * rank;
    if (mask && mask->size() > 1 && (*mask)[1].isStatic() && (*mask)[1].size != positions)
      return c.emitError() << "'mask' has " << (*mask)[1].size << " channels, not " << positions;
  }
  int64_t group = c.integer("group", 1);
  if (x && w && (*x)[1].isStatic() && (*w)[1].isStatic() && (*x)[1].size != group * (*w)[1].size)
    return c.emitError() << "'X' has " << (*x)[1].size << " channels, but " << group << " groups of filters 'W' read "
                         << (*w)[1].size << " each";
  c.setShape(0, result);
  return success();
}

static FailureOr<SmallVector<Value>> lowerDeformConv(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto conv = cast<DeformConvOp>(op);
  Value x = operands[0], w = operands[1], offset = operands[2], bias = b.operand(3), mask = b.operand(4);
  Type onnx = getElementType(op->getOperand(0)), compute = scalar::getComputeType(onnx);
  int64_t rank = getRank(x) - 2, group = conv.getGroup(), offsetGroup = conv.getOffsetGroup();
  ArrayRef<int64_t> kernel = cast<RankedTensorType>(w.getType()).getShape().drop_front(2);
  if (llvm::any_of(kernel, ShapedType::isDynamic))
    return op->emitOpError("cannot be compiled: the filters' sizes are not known at compile time");
  FailureOr<Windows> windows = Windows::get(op, kernel);
  if (failed(windows))
    return failure();
  int64_t positions = 1;
  for (int64_t size : kernel)
    positions *= size;
  Sizes sizes = b.sizes(x);
  OpFoldResult channels = sizes[1], filters = b.dim(w, 0);
  OpFoldResult inGroup = b.floorDiv(channels, b.getIndexAttr(group));
  OpFoldResult inOffsetGroup = b.floorDiv(channels, b.getIndexAttr(offsetGroup));
  b.checkEqual(b.mul(inGroup, b.getIndexAttr(group)), channels, "'group' does not divide the number of channels");
  b.checkEqual(inGroup, b.dim(w, 1), "the filters do not have the channels of a group");
  OpFoldResult filtersInGroup = b.floorDiv(filters, b.getIndexAttr(group));
  b.checkEqual(b.mul(filtersInGroup, b.getIndexAttr(group)), filters, "'group' does not divide the number of filters");
  b.checkEqual(b.mul(inOffsetGroup, b.getIndexAttr(offsetGroup)), channels,
               "'offset_group' does not divide the number of channels");
  b.check(b.compare(arith::CmpIPredicate::sge, channels, b.getIndexAttr(1)), "there are no channels");
  b.checkEqual(b.dim(offset, 0), sizes[0], "there are not as many offsets as inputs");
  b.checkEqual(b.dim(offset, 1), b.getIndexAttr(offsetGroup * positions * rank), "the offsets do not fit the filters");
  if (mask) {
    b.checkEqual(b.dim(mask, 0), sizes[0], "there are not as many masks as inputs");
    b.checkEqual(b.dim(mask, 1), b.getIndexAttr(offsetGroup * positions), "the masks do not fit the filters");
  }
  SmallVector<Value> lengths;
  Sizes out;
  for (int64_t i = 0; i < rank; ++i) {
    b.check(b.compare(arith::CmpIPredicate::sgt, sizes[2 + i], b.getIndexAttr(0)), "a spatial dimension is empty");
    lengths.push_back(b.index(sizes[2 + i]));
    out.push_back(b.dim(offset, 2 + i));
    b.checkEqual(windows->outSize(b, sizes[2 + i], i), out[i], "there is not an offset for each position");
    if (mask)
      b.checkEqual(b.dim(mask, 2 + i), out[i], "there is not a mask for each position");
  }

  // columns[n, channel, filter position, o...]; or, where the channels of one offset fill a vector, they lie side by
  // side and share the places: columns[n, o..., filter position, offset group, channel].
  constexpr int64_t fewChannels = 8;
  bool last = getConstantIntValue(inOffsetGroup).value_or(0) >= fewChannels;
  OpFoldResult groups = b.getIndexAttr(group), offsetGroups = b.getIndexAttr(offsetGroup);
  Sizes columnSizes{sizes[0]};
  if (last) {
    SmallVector<int64_t> order{0};
    Sizes split{sizes[0]};
    for (int64_t i = 0; i < rank; ++i) {
      order.push_back(2 + i);
      split.push_back(sizes[2 + i]);
    }
    order.push_back(1);
    split.append({offsetGroups, inOffsetGroup});
    x = b.reshape(b.transpose(x, order), split);
    columnSizes.append(out);
    columnSizes.append({b.getIndexAttr(positions), offsetGroups, inOffsetGroup});
  } else {
    columnSizes.append({channels, b.getIndexAttr(positions)});
    columnSizes.append(out);
  }
  Value perOffset = b.index(inOffsetGroup);
  Value columns = b.generate(columnSizes, compute, [&](ImplicitLocOpBuilder &n, ValueRange at) -> Value {
    auto number = [&](int64_t value) -> Value { return n.create<arith::ConstantIndexOp>(value); };
    ValueRange outAt = last ? at.slice(1, rank) : at.drop_front(3);
    Value inFilter = last ? at[1 + rank] : at[2];
    Value which = last ? at[2 + rank] : n.create<arith::DivUIOp>(at[1], perOffset).getResult();
    which = n.create<arith::AddIOp>(n.create<arith::MulIOp>(which, number(positions)), inFilter);
    auto read = [&](Value from, Value channel) {
      SmallVector<Value> position{at[0], channel};
      position.append(outAt.begin(), outAt.end());
      return scalar::decode(n, n.create<tensor::ExtractOp>(from, position), onnx);
    };
    struct Tap {
      Value index, inside, weight;
    };
    SmallVector<std::array<Tap, 2>> taps(rank);
    Value rest = inFilter;
    for (int64_t i = rank; i-- > 0;) {
      Value k = n.create<arith::RemUIOp>(rest, number(kernel[i]));
      rest = n.create<arith::DivUIOp>(rest, number(kernel[i]));
      Value regular = n.create<arith::AddIOp>(n.create<arith::MulIOp>(outAt[i], number(windows->strides[i])),
                                              n.create<arith::MulIOp>(k, number(windows->dilations[i])));
      regular = n.create<arith::SubIOp>(regular, number(windows->low[i]));
      Value moved = read(offset, n.create<arith::AddIOp>(n.create<arith::MulIOp>(which, number(rank)), number(i)));
      Value place = bounded(n, n.create<arith::AddFOp>(fromIndex(n, compute, regular), moved));
      Value floor = n.create<math::FloorOp>(place), t = n.create<arith::SubFOp>(place, floor);
      Value index = toIndex(n, floor), next = n.create<arith::AddIOp>(index, number(1));
      taps[i] = {Tap{clampIndex(n, index, lengths[i]), isInside(n, index, lengths[i]),
                     n.create<arith::SubFOp>(constantFloat(n, compute, 1), t)},
                 Tap{clampIndex(n, next, lengths[i]), isInside(n, next, lengths[i]), t}};
    }
    Value sum, zero = constantFloat(n, compute, 0);
    for (int64_t corner = 0; corner < int64_t(1) << rank; ++corner) {
      SmallVector<Value> position{at[0]};
      if (!last)
        position.push_back(at[1]);
      Value inside, weight;
      for (int64_t i = 0; i < rank; ++i) {
        const Tap &tap = taps[i][corner >> i & 1];
        position.push_back(tap.index);
        inside = inside ? n.create<arith::AndIOp>(inside, tap.inside).getResult() : tap.inside;
        weight = weight ? n.create<arith::MulFOp>(weight, tap.weight).getResult() : tap.weight;
      }
      if (last)
        position.append({at[2 + rank], at[3 + rank]});
      Value element = scalar::decode(n, n.create<tensor::ExtractOp>(x, position), onnx);
      Value term = n.create<arith::SelectOp>(inside, n.create<arith::MulFOp>(element, weight), zero);
      sum = sum ? n.create<arith::AddFOp>(sum, term).getResult() : term;
    }
    return mask ? n.create<arith::MulFOp>(sum, read(mask, which)).getResult() : sum;
  });

  // Per input and group: filters [f, c * k] times columns [c * k, o]; or columns [o, k, c] times filters [k, c, f].
  OpFoldResult points = b.product(out);
  auto multiply = [&](Value left, Value right, ArrayRef<ArrayRef<unsigned>> dims, ArrayRef<OpFoldResult> sizes,
                      unsigned loops) {
    SmallVector<utils::IteratorType> iterators(4, utils::IteratorType::parallel);
    iterators.resize(loops, utils::IteratorType::reduction);
    auto maps = llvm::map_to_vector(dims, [&](ArrayRef<unsigned> operand) {
      return AffineMap::getMultiDimMapWithTargets(loops, operand, b.getContext());
    });
    return contract(b, left, right, maps, iterators, sizes, onnx);
  };
  Value sum;
  if (last) {
    Value right = b.transpose(b.reshape(w, {groups, filtersInGroup, inGroup, b.getIndexAttr(positions)}), {0, 3, 2, 1});
    Value left = b.reshape(columns, {sizes[0], points, b.getIndexAttr(positions), groups, inGroup});
    sum = multiply(left, right, {{0, 1, 4, 2, 5}, {2, 4, 5, 3}, {0, 1, 2, 3}},
                   {sizes[0], points, groups, filtersInGroup}, 6);
    sum = b.transpose(b.reshape(sum, {sizes[0], points, filters}), {0, 2, 1});
  } else {
    OpFoldResult depth = b.mul(inGroup, b.getIndexAttr(positions));
    Value right = b.reshape(columns, {sizes[0], groups, depth, points});
    sum = multiply(b.reshape(w, {groups, filtersInGroup, depth}), right, {{1, 2, 4}, {0, 1, 4, 3}, {0, 1, 2, 3}},
                   {sizes[0], groups, filtersInGroup, points}, 5);
  }
  Sizes result{sizes[0], filters};
  result.append(out.begin(), out.end());
  sum = b.reshape(sum, result);
  if (!bias)
    return SmallVector<Value>{roundTo(b, sum, onnx)};
  b.checkEqual(b.dim(bias, 0), filters, "the bias does not fit the number of filters");
  AffineMap channel = AffineMap::get(rank + 2, 0, b.getAffineDimExpr(1), b.getContext());
  return SmallVector<Value>{mapElements(b, {sum, bias}, {b.getMultiDimIdentityMap(rank + 2), channel}, result,
                                        getElementType(x), [&](ImplicitLocOpBuilder &n, ValueRange v) {
                                          return scalar::encode(n, addScalars(n, v[0], scalar::decode(n, v[1], onnx)),
                                                                onnx);
                                        })};
}

STRATA_SLICE(DeformConv) { ops.add("DeformConv", {.inferShapes = inferDeformConv, .lower = lowerDeformConv}); }
