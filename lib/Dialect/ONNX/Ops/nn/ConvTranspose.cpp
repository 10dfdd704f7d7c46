//===- ConvTranspose.cpp - transposed convolution -------------------------===//
//
// Lowered as a convolution: the operand is spread out with zeros between its
// elements, and the kernel is turned around.
//
//===----------------------------------------------------------------------===//

#include "../Convolve.h"
#include "Dialect/VersionSteps.h"

namespace {
struct Geometry {
  Windows windows;
  SmallVector<int64_t> outputPadding, outputShape;

  static FailureOr<Geometry> get(Operation *op, ArrayRef<int64_t> kernel) {
    FailureOr<Windows> windows = Windows::get(op, kernel);
    if (failed(windows))
      return failure();
    Geometry g{*windows, {}, {}};
    auto read = [&](StringRef name, SmallVector<int64_t> &into) -> LogicalResult {
      auto attr = op->getAttrOfType<DenseI64ArrayAttr>(name);
      if (!attr)
        return success();
      into.assign(attr.asArrayRef().begin(), attr.asArrayRef().end());
      if (into.size() != kernel.size())
        return op->emitOpError("'") << name << "' has " << into.size() << " values for " << kernel.size()
                                    << " spatial dimensions";
      for (int64_t value : into)
        if (value < 0)
          return op->emitOpError("'") << name << "' holds " << value << ", less than 0";
      return success();
    };
    if (failed(read("output_padding", g.outputPadding)) || failed(read("output_shape", g.outputShape)))
      return failure();
    if (g.outputPadding.empty())
      g.outputPadding.assign(kernel.size(), 0);
    return g;
  }

  bool isGiven() const { return !outputShape.empty(); }

  /// Size of the result and of what is cut off in front.
  std::pair<OpFoldResult, OpFoldResult> sizes(LinalgBuilder &b, OpFoldResult in, int64_t i) const {
    auto number = [&](int64_t value) -> OpFoldResult { return b.getIndexAttr(value); };
    OpFoldResult stride = number(windows.strides[i]);
    OpFoldResult full = b.add(b.mul(b.sub(in, number(1)), stride), number(outputPadding[i] + windows.extent(i)));
    if (!isGiven() && !windows.isSame())
      return {b.sub(full, number(windows.low[i] + windows.high[i])), number(windows.low[i])};
    OpFoldResult out = isGiven() ? number(outputShape[i]) : b.mul(in, stride);
    OpFoldResult total = b.maximum(b.sub(full, out), number(0)), half = b.floorDiv(total, number(2));
    return {out, windows.sameUpper ? half : b.sub(total, half)};
  }
  Dim size(const Dim &in, int64_t i) const {
    if (isGiven())
      return Dim(outputShape[i]);
    if (windows.isSame())
      return in * Dim(windows.strides[i]);
    return (in - Dim(1)) * Dim(windows.strides[i]) +
           Dim(outputPadding[i] + windows.extent(i) - windows.low[i] - windows.high[i]);
  }
};
} // namespace

static LogicalResult inferConvTranspose(ShapeContext &c) {
  if (failed(checkConvolution(c)))
    return failure();
  std::optional<Shape> x = c.shape(0), w = c.shape(1), known = x ? x : w;
  if (!known)
    return success();
  int64_t group = c.integer("group", 1);
  if (x && w) {
    const Dim &channels = (*x)[1], &read = (*w)[0];
    if (channels.isStatic() && read.isStatic() && channels.size != read.size)
      return c.emitError() << "'X' has " << channels.size << " channels, but 'W' reads " << read.size;
    if (read.isStatic() && read.size % group != 0)
      return c.emitError() << "has " << read.size << " channels, which do not divide into " << group << " groups";
  }
  std::optional<SmallVector<int64_t>> kernel = getKernel(c.getOperation(), w);
  if (kernel && failed(checkKernel(c, *kernel, known->size())))
    return failure();
  Shape result(known->size());
  if (x)
    result[0] = (*x)[0];
  if (w)
    result[1] = (*w)[1] * Dim(group);
  if (failed(checkBias(c, result[1])))
    return failure();
  if (kernel) {
    FailureOr<Geometry> geometry = Geometry::get(c.getOperation(), *kernel);
    if (failed(geometry))
      return failure();
    if (x)
      for (size_t i = 0; i < kernel->size(); ++i) {
        result[2 + i] = geometry->size((*x)[2 + i], i);
        if (result[2 + i].isStatic() && result[2 + i].size < 0)
          return c.emitError() << "its pads cut off all of dimension " << 2 + i;
      }
  }
  c.setShape(0, result);
  return success();
}

static FailureOr<SmallVector<Value>> lowerConvTranspose(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto conv = cast<ConvTransposeOp>(op);
  Value x = operands[0], w = operands[1], bias = b.operand(2);
  FailureOr<SmallVector<int64_t>> kernel = requireKernel(op, b);
  if (failed(kernel))
    return failure();
  FailureOr<Geometry> geometry = Geometry::get(op, *kernel);
  if (failed(geometry))
    return failure();
  const Windows &windows = geometry->windows;
  int64_t group = conv.getGroup(), rank = windows.rank();
  Type element = getElementType(conv.getY()), seam = getSeamElementType(element);
  auto number = [&](int64_t value) -> OpFoldResult { return b.getIndexAttr(value); };
  b.checkEqual(b.dim(x, 1), b.dim(w, 0), "the filters do not fit the number of channels");

  // Zeros, and x in it at every stride-th position, behind as many zeros as the kernel may reach before the first.
  OpFoldResult perGroup = b.dim(w, 1), inGroup = b.floorDiv(b.dim(w, 0), number(group));
  Sizes spread{b.dim(x, 0), b.dim(x, 1)}, at(2, number(0)), steps(2, number(1)), cut(2, number(0));
  Sizes cutSizes(spread), sizes{b.dim(x, 0), b.mul(perGroup, number(group))};
  for (int64_t i = 0; i < rank; ++i) {
    OpFoldResult in = b.dim(x, 2 + i);
    auto [out, low] = geometry->sizes(b, in, i);
    int64_t reach = windows.extent(i) - 1;
    OpFoldResult needed = b.add(out, number(reach));
    OpFoldResult filled = b.add(b.mul(b.sub(in, number(1)), number(windows.strides[i])), number(reach + 1));
    spread.push_back(b.maximum(filled, b.add(low, needed)));
    at.push_back(number(reach));
    steps.push_back(number(windows.strides[i]));
    cut.push_back(low);
    cutSizes.push_back(needed);
    sizes.push_back(out);
  }
  Value zeros = b.fill(spread, b.scalar(seam, 0));
  Value spreadX = b.create<tensor::InsertSliceOp>(x, zeros, at, b.sizes(x), steps);
  Value read = b.slice(spreadX, cut, cutSizes);

  // w [C, F, k...] as [G*F, C/G, k...] with k reversed.
  Sizes filterSizes{sizes[1], inGroup};
  for (int64_t size : *kernel)
    filterSizes.push_back(number(size));
  Value filters = b.index(perGroup), channels = b.index(inGroup);
  Value turned = b.generate(filterSizes, seam, [&](ImplicitLocOpBuilder &n, ValueRange i) -> Value {
    Value which = n.create<arith::DivUIOp>(i[0], filters), f = n.create<arith::RemUIOp>(i[0], filters);
    SmallVector<Value> from{n.create<arith::AddIOp>(n.create<arith::MulIOp>(which, channels), i[1]), f};
    for (int64_t d = 0; d < rank; ++d)
      from.push_back(n.create<arith::SubIOp>(n.create<arith::ConstantIndexOp>((*kernel)[d] - 1), i[2 + d]));
    return n.create<tensor::ExtractOp>(w, from);
  });
  Windows dense = windows;
  dense.strides.assign(rank, 1);
  Value sum = convolve(b, read, turned, dense, group, sizes, element);
  return SmallVector<Value>{addChannelBias(b, sum, bias, element)};
}

STRATA_SLICE(ConvTranspose) {
  // The text of 1 splits odd paddings the other way round; all runtimes split them as 11 says, and so do we.
  ops.add("ConvTranspose", {.inferShapes = inferConvTranspose,
                            .upgrade = keepAttributes,
                            .downgrade = downgradePlainly,
                            .lower = lowerConvTranspose});
}
